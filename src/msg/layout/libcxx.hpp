// string and vector<bool> of libc++ in its stable ABI. Only std_layout.hpp includes this.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#if defined(_LIBCPP_ABI_VARIANT_INDEX_TYPE_OPTIMIZATION)
#error "sinew knows the stable ABI of libc++ only: build without _LIBCPP_ABI_VARIANT_INDEX_TYPE_OPTIMIZATION"
#endif
#if _LIBCPP_ABI_VERSION != 1 || defined(_LIBCPP_ABI_ALTERNATE_STRING_LAYOUT)
#error "sinew knows the stable ABI of libc++ only: build with _LIBCPP_ABI_VERSION 1 and without _LIBCPP_ABI_ALTERNATE_STRING_LAYOUT"
#endif
static_assert(std::endian::native == std::endian::little, "libc++ has other images on big-endian machines");

namespace sinew::msg {

/// Bit 0 of the first byte tells: set, the characters lie elsewhere and the first word is the size of their block, which is even, and that bit; clear, the
/// first byte is twice the size and the characters follow it.
struct [[gnu::may_alias]] StringImage {
  std::size_t room_and_flag;
  std::size_t size;
  char* data;
};
static_assert(sizeof(StringImage) == sizeof(std::string) && alignof(StringImage) == alignof(std::string));

struct [[gnu::may_alias]] BitVectorImage {
  using Word = std::size_t;
  Word* begin;
  std::size_t count;
  std::size_t limit;  // words
};
static_assert(sizeof(BitVectorImage) == sizeof(std::vector<bool>) && alignof(BitVectorImage) == alignof(std::vector<bool>));

using VariantIndex = unsigned;

/// Not at the begin when the first alternative begins with a variant or optional: both have an empty base of one type, and two of it cannot be at one address.
inline std::size_t variant_place(const Type& variant) {
  std::size_t largest = 0;
  for (const Field& alternative : variant.fields) largest = std::max<std::size_t>(largest, alternative.type->size);
  return variant.size - variant.align - (largest + variant.align - 1) / variant.align * variant.align;
}

inline constexpr std::size_t longest_inside = sizeof(StringImage) - 2;

constexpr std::size_t text_room(std::size_t size) {
  return (size + 2) / 2 * 2;
}

inline Text text_of(const void* copy, const void*) {
  const auto& image = *static_cast<const StringImage*>(copy);
  if ((image.room_and_flag & 1U) == 0) return {{static_cast<const char*>(copy) + 1, (image.room_and_flag & 0xff) / 2}, 0};
  return {{image.data, image.size}, image.room_and_flag - 1};
}

inline char* set_text(void* at, std::size_t size, void* block) {
  char* characters = static_cast<char*>(at) + 1;
  if (block) {
    characters = static_cast<char*>(block);
    *static_cast<StringImage*>(at) = {text_room(size) | 1U, size, characters};
  } else {
    static_cast<unsigned char*>(at)[0] = static_cast<unsigned char>(2 * size);
  }
  characters[size] = '\0';
  return characters;
}

inline void place_text(void* at, const void* image) {
  std::memcpy(at, image, sizeof(StringImage));
}

inline const char* text_fault(const void* copy, const void* at) {
  const Text text = text_of(copy, at);
  if (text.room == 0) return text.characters.size() > longest_inside ? "a short string that is longer than its place" : nullptr;
  if (text.characters.size() >= text.room) return "a string with a size above its capacity";
  return text.room > PTRDIFF_MAX ? "a string with an impossible capacity" : nullptr;
}

inline Bits bits_at(const void* at) {
  const auto& image = *static_cast<const BitVectorImage*>(at);
  return {image.begin, image.count, image.limit};
}

inline void set_bits(void* at, std::size_t count, void* block) {
  *static_cast<BitVectorImage*>(at) = {count > 0 ? static_cast<BitVectorImage::Word*>(block) : nullptr, count, bit_words(count)};
}

inline const char* bits_fault(const void* at) {
  const auto& image = *static_cast<const BitVectorImage*>(at);
  if (image.limit > PTRDIFF_MAX / sizeof(BitVectorImage::Word)) return "a vector of bool with an impossible capacity";
  if (image.count > image.limit * Bits::word_bits) return "a vector of bool that ends behind its capacity";
  if (image.begin == nullptr) return image.limit == 0 ? nullptr : "a vector of bool that ends behind its capacity";
  if (image.limit == 0) return "a vector of bool that has storage of no bytes";
  return reinterpret_cast<std::uintptr_t>(image.begin) % sizeof(BitVectorImage::Word) != 0
             ? "a vector of bool with storage that is not aligned"
             : nullptr;
}

}  // namespace sinew::msg
