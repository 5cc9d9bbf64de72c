// How string, vector, vector<bool> and optional of this standard library lie in memory. Nothing else in sinew knows.
//
// They are read and written as these images, never through the classes: the walk has no static type, and a message is checked before it is an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sinew/msg/type.hpp"

#if !defined(__GLIBCXX__) || !_GLIBCXX_USE_CXX11_ABI
#error \
    "sinew reads messages in place only with libstdc++ and its C++11 strings: build with g++, or with clang++ -stdlib=libstdc++, and _GLIBCXX_USE_CXX11_ABI=1"
#endif
#if defined(_GLIBCXX_DEBUG)
#error "sinew does not read the checked containers of _GLIBCXX_DEBUG: build without it (_GLIBCXX_ASSERTIONS is fine)"
#endif

namespace sinew::msg {

/// Up to 15 characters lie in `own`, and then `data` points there; more lie elsewhere and `capacity` is in the same place.
struct [[gnu::may_alias]] StringImage {
  char* data;
  std::size_t size;
  union {
    char own[16];
    std::size_t capacity;
  };
};
static_assert(sizeof(StringImage) == sizeof(std::string) && alignof(StringImage) == alignof(std::string));

struct [[gnu::may_alias]] VectorImage {
  std::byte* begin;
  std::byte* end;
  std::byte* limit;  // of the capacity
};
static_assert(sizeof(VectorImage) == sizeof(std::vector<int>) && alignof(VectorImage) == alignof(std::vector<int>));

/// Bits in words; an end is a word and a bit in it.
struct [[gnu::may_alias]] BitVectorImage {
  using Word = unsigned long;
  static constexpr unsigned word_bits = 8 * sizeof(Word);
  Word* begin;
  unsigned begin_bit;
  Word* end;
  unsigned end_bit;
  Word* limit;
};
static_assert(sizeof(BitVectorImage) == sizeof(std::vector<bool>) && alignof(BitVectorImage) == alignof(std::vector<bool>));

/// An optional is its value and behind it one byte, 1 when there is a value.
static_assert(sizeof(std::optional<std::uint64_t>) == 16 && sizeof(std::optional<std::array<char, 3>>) == 4);
inline bool is_engaged(const Type& optional, const void* at) {
  return static_cast<const unsigned char*>(at)[optional.element->size] != 0;
}

template <class Image>
const Image& image_at(const void* at) {
  return *static_cast<const Image*>(at);
}
template <class Image>
Image& image_at(void* at) {
  return *static_cast<Image*>(at);
}

inline const void* offset_by(const void* at, std::size_t bytes) {
  return static_cast<const std::byte*>(at) + bytes;
}
inline void* offset_by(void* at, std::size_t bytes) {
  return static_cast<std::byte*>(at) + bytes;
}

/// A container's block of storage; no address when it has none.
struct Block {
  const void* address = nullptr;
  std::size_t size = 0;  // capacity in bytes
};

/// The storage that the container at `at` has itself, without that of its elements. Nothing for what is not a container.
inline Block block_of(const Type& type, const void* at) {
  switch (type.kind) {
    case Kind::string: {
      const auto& string = image_at<StringImage>(at);
      if (string.data == string.own) return {};
      return {string.data, string.capacity + 1};
    }
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      return {vector.begin, static_cast<std::size_t>(vector.limit - vector.begin)};
    }
    case Kind::bit_vector: {
      const auto& bits = image_at<BitVectorImage>(at);
      return {bits.begin, static_cast<std::size_t>(bits.limit - bits.begin) * sizeof(BitVectorImage::Word)};
    }
    default:
      return {};
  }
}

/// Bytes of a container's storage that its value needs: what a copy with trimmed capacity takes.
inline std::size_t used_bytes(const Type& type, const void* at) {
  switch (type.kind) {
    case Kind::string: {
      const auto& string = image_at<StringImage>(at);
      return string.size < sizeof string.own ? 0 : string.size + 1;
    }
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      return static_cast<std::size_t>(vector.end - vector.begin);
    }
    case Kind::bit_vector: {
      const auto& bits = image_at<BitVectorImage>(at);
      return (static_cast<std::size_t>(bits.end - bits.begin) + (bits.end_bit != 0 ? 1 : 0)) * sizeof(BitVectorImage::Word);
    }
    default:
      return 0;
  }
}

}  // namespace sinew::msg
