// How string, vector, vector<bool>, optional, variant, string_view and span of this standard library lie in memory. Nothing else in sinew knows, but the tests.
//
// They are read and written as these images, never through the classes: the walk has no static type, and a message is checked before it is an object.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sinew/msg/type.hpp"

namespace sinew::msg {

/// A string. A NUL stands behind the characters.
struct Text {
  std::string_view characters;
  std::size_t room;  ///< bytes of its block; 0: they are inside the object
};

/// A vector of bool: bit i is bit i % word_bits of word i / word_bits, counted from the least significant.
struct Bits {
  using Word = std::uint64_t;
  static constexpr unsigned word_bits = 64;
  const void* words;
  std::size_t count;
  std::size_t capacity;  ///< words

  bool operator[](std::size_t index) const {
    Word word;
    std::memcpy(&word, static_cast<const std::byte*>(words) + index / word_bits * sizeof word, sizeof word);
    return (word >> (index % word_bits) & 1U) != 0;
  }
};
static_assert(sizeof(void*) == 8, "sinew is for 64-bit machines");

constexpr std::size_t bit_words(std::size_t count) {
  return (count + Bits::word_bits - 1) / Bits::word_bits;
}

// Each standard library says, of images at any address:
//   longest_inside                      as many characters fit into a string object
//   text_room(size)                     bytes of the block of a longer string with so many characters
//   Text text_of(copy, at)              of the image `copy`, bytes that stood at `at`; characters inside are those of `copy`
//   char* set_text(at, size, block)     makes a string; block null: inside. Returns where its characters are to be written; the NUL is
//   place_text(at, image)               moves an image
//   const char* text_fault(copy, at)    what is impossible in it by itself, or null; follows no pointer
//   Bits bits_at(at), set_bits(at, count, block), const char* bits_fault(at)
//   VariantIndex                        the number in a variant, all ones when it has no value
//   variant_place(type)                 offset of the place of a variant's alternatives

}  // namespace sinew::msg

#if defined(_LIBCPP_VERSION)
#include "msg/layout/libcxx.hpp"
#elif defined(__GLIBCXX__)
#include "msg/layout/libstdcxx.hpp"
#else
#error "sinew knows the containers of libstdc++ and libc++ only"
#endif

namespace sinew::msg {

inline Text text_at(const void* at) {
  return text_of(at, at);
}

struct [[gnu::may_alias]] VectorImage {
  std::byte* begin;
  std::byte* end;
  std::byte* limit;  // of the capacity
};
static_assert(sizeof(VectorImage) == sizeof(std::vector<int>) && alignof(VectorImage) == alignof(std::vector<int>));

/// An optional is its value and behind it one byte, 1 when there is a value.
static_assert(sizeof(std::optional<std::uint64_t>) == 16 && sizeof(std::optional<std::array<char, 3>>) == 4);
inline bool is_engaged(const Type& optional, const void* at) {
  return static_cast<const unsigned char*>(at)[optional.element->size] != 0;
}

// Behind the place of its alternatives a variant has the number of the one that it holds, then nothing but padding. As the place ends at a multiple of its
// alignment, the number stands at the last one.
static_assert(sizeof(std::variant<std::uint64_t, char>) == 16 && alignof(std::variant<char>) == sizeof(VariantIndex));
static_assert(sizeof(std::variant<std::array<char, 9>, std::uint32_t>) == 16);

constexpr auto without_value = static_cast<VariantIndex>(-1);

inline const void* index_place(const Type& variant, const void* at) {
  return static_cast<const std::byte*>(at) + variant.size - variant.align;
}
/// The number of the alternative that a variant holds, or any number when it is none.
inline VariantIndex index_of(const Type& variant, const void* at) {
  VariantIndex index;
  std::memcpy(&index, index_place(variant, at), sizeof index);
  return index;
}
inline void set_index(const Type& variant, void* at, std::size_t alternative) {
  const auto index = static_cast<VariantIndex>(alternative);
  std::memcpy(static_cast<std::byte*>(at) + variant.size - variant.align, &index, sizeof index);
}
/// The type of an alternative; null when there is none of that number.
inline const Type* alternative_of(const Type& variant, std::size_t index) {
  return index < variant.fields.size() ? variant.fields[index].type : nullptr;
}
/// The type of what a variant holds; null when it holds nothing.
inline const Type* held_by(const Type& variant, const void* at) {
  return alternative_of(variant, index_of(variant, at));
}

/// A span of elements of any type. A zeroed one is empty.
struct [[gnu::may_alias]] ViewImage {
  const std::byte* begin;
  std::size_t count;  // elements
};
static_assert(sizeof(ViewImage) == sizeof(std::span<const int>) && alignof(ViewImage) == alignof(std::span<const int>));

/// Has no image: libraries order its members differently, and making one reads nothing. A zeroed one is empty.
inline void set_text_view(void* at, const std::byte* first, std::size_t size) {
  ::new (at) std::string_view(reinterpret_cast<const char*>(first), size);
}

/// An image as it is now, each byte read once: it may be changing.
template <class Image>
Image snapshot(const void* at) {
  Image image;
  std::memcpy(&image, at, sizeof image);
  asm volatile("" : "+m"(image));  // whatever the compiler does with it, it takes it from here
  return image;
}
inline unsigned char snapshot_byte(const void* at) {
  return *static_cast<const volatile unsigned char*>(at);
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
  std::size_t alignment = 1;
};

/// The storage that the container at `at` has itself, without that of its elements. Nothing for what is not a container.
inline Block block_of(const Type& type, const void* at) {
  switch (type.kind) {
    case Kind::string: {
      const Text text = text_at(at);
      if (text.room == 0) return {};
      const char* const storage = text.characters.data();
      return {storage, text.room, 1};
    }
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      return {vector.begin, static_cast<std::size_t>(vector.limit - vector.begin), type.element->align};
    }
    case Kind::bit_vector: {
      const Bits bits = bits_at(at);
      return {bits.words, bits.capacity * sizeof(Bits::Word), alignof(Bits::Word)};
    }
    case Kind::boolean:
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
    case Kind::float32:
    case Kind::float64:
    case Kind::enumeration:
    case Kind::array:
    case Kind::optional:
    case Kind::structure:
    case Kind::text_view:
    case Kind::view:
    case Kind::variant:
    case Kind::map:
      break;
  }
  return {};
}

/// Bytes of a container's storage that its value needs: what a copy with trimmed capacity takes.
inline std::size_t used_bytes(const Type& type, const void* at) {
  switch (type.kind) {
    case Kind::string: {
      const std::size_t size = text_at(at).characters.size();
      return size <= longest_inside ? 0 : text_room(size);
    }
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      return static_cast<std::size_t>(vector.end - vector.begin);
    }
    case Kind::bit_vector:
      return bit_words(bits_at(at).count) * sizeof(Bits::Word);
    case Kind::boolean:
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
    case Kind::float32:
    case Kind::float64:
    case Kind::enumeration:
    case Kind::array:
    case Kind::optional:
    case Kind::structure:
    case Kind::text_view:
    case Kind::view:
    case Kind::variant:
    case Kind::map:
      break;
  }
  return 0;
}

}  // namespace sinew::msg
