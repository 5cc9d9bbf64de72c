// How NumPy sees numbers, and structures whose leaves are all numbers, where they lie in a stream.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bindings/python/src/type.hpp"

namespace sinew::python {

/// A function or class of numpy.
nb::object numpy(const char* name);

nb::object dtype_of_number(Kind number, bool is_swapped);

/// Without padding. REQUIRES: type.rows.
nb::object packed_dtype(const Type& type, bool is_swapped);
/// As it lies behind its lead, which ends at an offset with this remainder by 8; it ends with its last number. None where NumPy cannot say it. REQUIRES: type.rows.
nb::object placed_dtype(const Type& type, std::uint64_t offset, bool is_swapped);

/// The same structure, so many bytes long.
nb::object with_itemsize(const nb::object& dtype, std::uint64_t size);

/// Elements of one type, one behind the other in a stream.
struct Run {
  const Type* row;  ///< a number, enumeration or structure
  std::uint64_t count = 0;
  std::vector<std::uint64_t> shape;
};
/// Elements that are arrays of arrays are taken apart. REQUIRES: element.rows.
Run run_of(const Type& element, std::uint64_t count);
/// The run is that of the whole array. REQUIRES: array.rows.
Run run_of(const Type& array);

/// What is wrong with giving elements of this shape for the type's, or nothing: with as many dimensions as it has, they are to have its lengths, as else they would be grouped anew. With one, or more, they are taken one after the
/// other. REQUIRES: type.element->rows.
std::string misgrouped(const Type& type, std::span<const std::uint64_t> shape);

/// Where a run's rows lie when it begins at an offset.
struct Spacing {
  std::uint64_t lead;
  std::uint64_t size;
  std::uint64_t stride;
  bool is_even;
};
Spacing spacing_of(const Type& row, std::uint64_t count, std::uint64_t offset);
/// Empty where they lie side by side.
std::vector<std::uint64_t> strides_of(const Run& run, std::uint64_t size, std::uint64_t stride);

}  // namespace sinew::python
