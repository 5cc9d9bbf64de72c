// Where values of a type end in a stream (spec/cdr.md), for those who have no more of the type than its signature, and leave its values to others.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "msg/cdr/source.hpp"
#include "msg/signature.hpp"

namespace sinew::msg::cdr {

/// Immutable, thread-safe. Keeps nothing of the signature.
class Outline {
 public:
  /// REQUIRES: complaint_about(type) is empty. Throws std::bad_alloc.
  explicit Outline(const SignatureType& type);

  /// So many zero bytes, from a multiple of 8 on, are a value, and none takes fewer: its numbers are 0, its strings, vectors and optionals empty, its variants of their first alternative. 2^48 where they would be more.
  std::uint64_t least() const noexcept { return whole_.least[0]; }

  /// Moves `source` behind the value that begins there. What is wrong with it, or null. Lengths are looked at, and which alternative a variant has, nothing else; each once. Numbers side by side,
  /// however many, take a few steps.
  const char* skip(Source& source, bool swapped) const { return skip(whole_, source, swapped); }

 private:
  using Sizes = std::array<std::uint64_t, 8>;  // with the padding before it, by where it begins modulo 8
  enum class Kind : std::uint8_t { number, string, vector, optional, array, structure, variant };
  struct Part {
    Kind kind = Kind::number;
    bool is_fixed = false;      // all values take as many bytes as the least
    std::uint64_t count = 0;    // bytes of a number, elements of an array
    std::vector<Part> parts{};  // the element, fields or alternatives
    Sizes least{};
  };
  static Part part_of(const SignatureType& type);
  static Part contained(Part element, Kind kind, std::uint64_t count);
  static Part measured(Part part);
  static std::uint64_t least_of(const Part& part, std::uint64_t begin);
  static std::uint64_t repeated(const Sizes& one, std::uint64_t count, std::uint64_t begin);
  static const char* skip(const Part& part, Source& source, bool swapped);

  const Part whole_;
};

}  // namespace sinew::msg::cdr
