#include <algorithm>
#include <array>

#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

template <typename Number>
bool equal_numbers(Place& a, Place& b, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    if (a.stream->number<Number>(a.offset) != b.stream->number<Number>(b.offset)) return false;
  }
  return true;
}

bool equal_integers(unsigned size, Place& a, Place& b, std::uint64_t count) {
  if (count > 0 && a.stream->is_swapped() == b.stream->is_swapped()) {
    a.offset = aligned(a.offset, size);
    b.offset = aligned(b.offset, size);
    const std::uint64_t bytes = count * size;
    const std::uint8_t* const in_a = a.stream->whole(a.offset, bytes);
    const std::uint8_t* const in_b = b.stream->whole(b.offset, bytes);
    if (in_a && in_b) {
      a.offset += bytes;
      b.offset += bytes;
      return std::equal(in_a, in_a + bytes, in_b);
    }
  }
  switch (size) {
    case 1:
      return equal_numbers<std::uint8_t>(a, b, count);
    case 2:
      return equal_numbers<std::uint16_t>(a, b, count);
    case 4:
      return equal_numbers<std::uint32_t>(a, b, count);
    default:
      return equal_numbers<std::uint64_t>(a, b, count);
  }
}

bool equal_elements(const Type& element, Place& a, Place& b, std::uint64_t count) {
  if (element.least == 0 && element.plain) return true;
  if (element.is_scalar()) {
    if (element.number == Kind::float32) return equal_numbers<float>(a, b, count);
    if (element.number == Kind::float64) return equal_numbers<double>(a, b, count);
    return equal_integers(element.alignment, a, b, count);
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!equal_values(element, a, b)) return false;
  }
  return true;
}

}  // namespace

bool equal_values(const Type& type, Place& a, Place& b) {
  switch (type.kind) {
    case Kind::string: {
      const Text in_a(*a.stream, a.offset);
      const Text in_b(*b.stream, b.offset);
      return in_a.bytes() == in_b.bytes();
    }
    case Kind::vector: {
      const std::uint64_t count = read_count(type, *a.stream, a.offset);
      return count == read_count(type, *b.stream, b.offset) && equal_elements(*type.element, a, b, count);
    }
    case Kind::array:
      return equal_elements(*type.element, a, b, type.count);
    case Kind::optional: {
      const bool is_there = read_presence(*a.stream, a.offset);
      return is_there == read_presence(*b.stream, b.offset) && (!is_there || equal_values(*type.element, a, b));
    }
    case Kind::variant: {
      const std::size_t index = read_alternative(type, *a.stream, a.offset);
      return index == read_alternative(type, *b.stream, b.offset) && equal_values(*type.fields[index].type, a, b);
    }
    case Kind::structure:
      return std::ranges::all_of(type.fields, [&](const Field& field) { return equal_values(*field.type, a, b); });
    default:
      return equal_elements(type, a, b, 1);
  }
}

}  // namespace sinew::python
