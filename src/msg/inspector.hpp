// What is wrong with a container in memory that somebody else may write to, told from a copy of its image.
#pragma once

#include <cstdint>

#include "msg/bounds.hpp"
#include "msg/std_layout.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {

/// Each function gives a sentence, or null when what the copy says can be read in the region.
class Inspector {
 public:
  explicit Inspector(const Region& region) noexcept : bounds_(region), budget_(region.bytes() / 16) {}

  /// Of the string whose bytes `copy` stood at `at`. The NUL behind the characters is not looked at.
  const char* fault_of_text(const StringImage& copy, const void* at) noexcept {
    if (const char* const fault = text_fault(&copy, at)) return fault;
    const auto [characters, room] = text_of(&copy, at);
    if (room > 0 && !bounds_.contain(characters.data(), room)) return "a string with storage outside the publisher's memory";
    return spend(1);
  }

  const char* fault_of_vector(const VectorImage& copy, const Type& element) noexcept {
    const std::uintptr_t begin = number(copy.begin), end = number(copy.end), limit = number(copy.limit);
    if (begin > end || end > limit) return "a vector that ends before it begins, or behind its capacity";
    if (limit == 0) return spend(1);
    if (begin == limit) return "a vector that has storage of no bytes";
    if ((end - begin) % element.size != 0 || (limit - begin) % element.size != 0)
      return "a vector whose size is not a multiple of its elements' size";
    if (begin % element.align != 0) return "a vector with storage that is not aligned for its elements";
    if (!bounds_.contain(copy.begin, limit - begin)) return "a vector with storage outside the publisher's memory";
    return spend(1 + (element.flat ? 0 : (end - begin) / 64));
  }

  const char* fault_of_bits(const BitVectorImage& copy) noexcept {
    if (const char* const fault = bits_fault(&copy)) return fault;
    const Bits bits = bits_at(&copy);
    if (bits.capacity > 0 && !bounds_.contain(bits.words, bits.capacity * sizeof(Bits::Word)))
      return "a vector of bool with storage outside the publisher's memory";
    return spend(1);
  }

 private:
  static std::uintptr_t number(const void* address) noexcept { return reinterpret_cast<std::uintptr_t>(address); }

  const char* spend(std::uint64_t work) noexcept {
    if (work > budget_) return "more containers than a reader is willing to check";
    budget_ -= work;
    return nullptr;
  }

  Bounds bounds_;
  // A container costs 1, and so do 64 bytes of elements that are not flat. As a container has 24 bytes or more, what does not overlap costs 1 for each 17 bytes at most.
  std::uint64_t budget_;
};

inline constexpr const char* bad_bool = "a bool that is neither 0 nor 1";
inline constexpr const char* bad_optional = "an optional whose flag is neither 0 nor 1";
inline constexpr const char* bad_variant = "a variant without a value";

/// Of the message object itself.
inline const char* fault_of_root(const Type& type, const void* root, const Region& region) noexcept {
  if (!type.in_place) return "a type with maps, which is never read in place";
  if (type.has_views) return "a type with views, which is never read in place";
  if (reinterpret_cast<std::uintptr_t>(root) % type.align != 0) return "an address that is not aligned for its type";
  return Bounds(region).contain(root, type.size) ? nullptr : "an address outside the publisher's memory";
}

}  // namespace sinew::msg
