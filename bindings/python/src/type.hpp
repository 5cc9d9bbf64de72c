// Types of messages, as their signatures describe them (spec/types.md, 3).
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sinew::python {

namespace nb = nanobind;

enum class Kind : std::uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  enumeration,
  string,
  vector,
  array,
  optional,
  structure,
  variant
};

/// "uint8"
const char* kind_name(Kind kind);
constexpr bool is_number(Kind kind) {
  return kind <= Kind::float64;
}
/// In bytes. REQUIRES: a number.
unsigned number_size(Kind kind);

struct Type;
using TypePtr = std::shared_ptr<const Type>;

struct Field {
  std::string name;
  nb::object key;  // the name, interned
  TypePtr type;
};

/// What no stream has.
constexpr std::uint64_t huge = std::uint64_t{1} << 62;

/// How a plain type lies in a stream, from a place whose offset has this remainder by 8: numbers are aligned to their size.
struct Extent {
  std::uint64_t lead = 0;  ///< padding ahead
  std::uint64_t size = 0;  ///< with it; `huge` at most
};

/// Immutable. To be let go of with the GIL held, as it has names that are Python's.
struct Type {
  Kind kind{};
  Kind number{};              ///< of a number itself, of an enumeration its integer
  std::string signature;      ///< with names
  std::string name;           ///< "robot/Image"
  std::string structure;      ///< without names: what is compared (T4.1)
  std::vector<Field> fields;  ///< of a structure; of a variant its alternatives
  TypePtr element;            ///< of a vector, array, optional
  std::uint64_t count = 0;    ///< of an array

  std::uint64_t least = 0;     ///< bytes that it takes in a stream at least
  bool plain = false;          ///< numbers, arrays and structures of such: of one size
  bool rows = false;           ///< plain, and NumPy can have an array of it: nothing in it is empty
  bool has_bool = false;       ///< of a plain type
  bool is_map = false;         ///< a vector of entry<K,V>, whose keys Python can have in a dict
  unsigned alignment = 1;      ///< the largest of a plain type
  std::array<Extent, 8> at{};  ///< of a plain type, by the remainder of the offset

  // What NumPy calls it, without padding, and as it lies from an offset with this remainder: in this and in the other byte order. Made by rows.cpp when wanted.
  mutable std::array<nb::object, 2> packed;
  mutable std::array<std::array<nb::object, 8>, 2> placed;

  // Classes of Python whose objects may be written as this one: weak references, of which each class has one. Made by encode_structure.cpp.
  mutable std::vector<nb::object> classes;

  /// A structure that says nothing. In ROS 2 it has one field nevertheless.
  bool is_empty() const;
  bool is_scalar() const { return is_number(kind) || kind == Kind::enumeration; }
};

/// One that was parsed before is given again while it lives. Raises InvalidArgument.
TypePtr parse_type(std::string_view signature);

/// Where `count` elements of a plain type that begin at `offset` end; `huge` where no stream reaches.
std::uint64_t end_of_run(const Type& type, std::uint64_t count, std::uint64_t offset);

constexpr std::uint64_t aligned(std::uint64_t offset, std::uint64_t to) {
  return (offset + to - 1) / to * to;
}

}  // namespace sinew::python
