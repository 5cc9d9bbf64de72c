// string and vector<bool> of libstdc++ with C++11 strings. Only std_layout.hpp includes this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#if !_GLIBCXX_USE_CXX11_ABI
#error "sinew reads messages in place only with libstdc++'s C++11 strings: build with _GLIBCXX_USE_CXX11_ABI=1"
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

/// Bits in words; an end is a word and a bit in it.
struct [[gnu::may_alias]] BitVectorImage {
  using Word = unsigned long;
  Word* begin;
  unsigned begin_bit;
  Word* end;
  unsigned end_bit;
  Word* limit;
};
static_assert(sizeof(BitVectorImage) == sizeof(std::vector<bool>) && alignof(BitVectorImage) == alignof(std::vector<bool>));

using VariantIndex = unsigned char;  // of up to 255 alternatives

constexpr std::size_t variant_place(const Type&) {
  return 0;
}

inline constexpr std::size_t longest_inside = sizeof(StringImage::own) - 1;

constexpr std::size_t text_room(std::size_t size) {
  return size + 1;
}

inline Text text_of(const void* copy, const void* at) {
  const auto& image = *static_cast<const StringImage*>(copy);
  if (image.data == static_cast<const StringImage*>(at)->own) return {{image.own, image.size}, 0};
  return {{image.data, image.size}, image.capacity + 1};
}

inline char* set_text(void* at, std::size_t size, void* block) {
  auto& image = *static_cast<StringImage*>(at);
  image.data = block ? static_cast<char*>(block) : image.own;
  image.size = size;
  if (block) image.capacity = size;
  image.data[size] = '\0';
  return image.data;
}

/// `image` is a string by memcpy from elsewhere: its characters are inside, or its block is its own.
inline void place_text(void* at, const void* image) {
  const bool inside = text_of(image, image).room == 0;
  std::memcpy(at, image, sizeof(StringImage));
  if (inside) static_cast<StringImage*>(at)->data = static_cast<StringImage*>(at)->own;
}

inline const char* text_fault(const void* copy, const void* at) {
  const auto& image = *static_cast<const StringImage*>(copy);
  if (image.data == static_cast<const StringImage*>(at)->own)
    return image.size > longest_inside ? "a short string that is longer than its place" : nullptr;
  if (image.size > image.capacity) return "a string with a size above its capacity";
  return image.capacity >= PTRDIFF_MAX ? "a string with an impossible capacity" : nullptr;
}

inline Bits bits_at(const void* at) {
  const auto& image = *static_cast<const BitVectorImage*>(at);
  return {image.begin, static_cast<std::size_t>(image.end - image.begin) * Bits::word_bits + image.end_bit,
          static_cast<std::size_t>(image.limit - image.begin)};
}

inline void set_bits(void* at, std::size_t count, void* block) {
  auto* const words = static_cast<BitVectorImage::Word*>(block);
  auto& image = *static_cast<BitVectorImage*>(at);
  image = {};
  if (count == 0) return;
  image.begin = words;
  image.end = words + count / Bits::word_bits;
  image.end_bit = count % Bits::word_bits;
  image.limit = words + bit_words(count);
}

inline const char* bits_fault(const void* at) {
  const auto& image = *static_cast<const BitVectorImage*>(at);
  const auto begin = reinterpret_cast<std::uintptr_t>(image.begin), end = reinterpret_cast<std::uintptr_t>(image.end),
             limit = reinterpret_cast<std::uintptr_t>(image.limit);
  if (image.begin_bit != 0 || image.end_bit >= Bits::word_bits) return "a vector of bool with an impossible bit position";
  if (begin > end || end > limit) return "a vector of bool that ends before it begins, or behind its capacity";
  if (end == limit && image.end_bit != 0) return "a vector of bool that ends behind its capacity";
  if (limit == 0) return nullptr;
  if (begin == limit) return "a vector of bool that has storage of no bytes";
  constexpr std::size_t word = sizeof(BitVectorImage::Word);
  return begin % word != 0 || end % word != 0 || limit % word != 0 ? "a vector of bool with storage that is not aligned" : nullptr;
}

}  // namespace sinew::msg
