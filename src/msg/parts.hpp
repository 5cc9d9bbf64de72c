// The parts of a value: fields, elements, the value in an optional or variant.
#pragma once

#include <cstddef>

#include "msg/path.hpp"
#include "msg/std_layout.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg {

inline bool owns(const Type& type) {
  return type.owns;
}
inline bool has_variants(const Type& type) {
  return type.has_variants;
}
inline bool is_deep(const Type& type) {
  return !type.flat;
}

/// Calls visit(type, address, field or null, index of element) for each part of the value at `at` whose type is wanted(), until visit returns false;
/// returns false then. Place is void or const void. Wanted must not want flat types. Containers must be valid, their elements need not be.
template <class Place, class Wanted, class Visit>
bool each_part(const Type& type, Place* at, Wanted wanted, Visit visit) {
  const auto each_element = [&](Place* first, std::size_t count) {
    if (!wanted(*type.element)) return true;
    for (std::size_t i = 0; i < count; ++i) {
      if (!visit(*type.element, offset_by(first, i * type.element->size), nullptr, i)) return false;
    }
    return true;
  };
  switch (type.kind) {
    case Kind::structure:
      for (const Field& field : type.deep) {
        if (wanted(*field.type) && !visit(*field.type, offset_by(at, field.offset), &field, std::size_t{0})) return false;
      }
      return true;
    case Kind::array:
      return each_element(at, type.count);
    case Kind::optional:
      return !is_engaged(type, at) || each_element(at, 1);
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      return each_element(vector.begin, static_cast<std::size_t>(vector.end - vector.begin) / type.element->size);
    }
    case Kind::variant: {
      const Type* const held = held_by(type, at);
      return !held || !wanted(*held) || visit(*held, offset_by(at, variant_place(type)), nullptr, std::size_t{0});
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
    case Kind::string:
    case Kind::bit_vector:
    case Kind::text_view:
    case Kind::view:
    case Kind::map:
      break;
  }
  return true;
}

/// Path of a part that each_part() visits. The value in an optional or variant has the path of that.
inline Path path_of(const Type& whole, const Path& path, const Field* field, std::size_t index) {
  return whole.kind == Kind::optional || whole.kind == Kind::variant ? path : Path{&path, field, index};
}

}  // namespace sinew::msg
