#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

nb::object plain_map(const Type& type, Place& at, std::uint64_t count) {
  nb::dict map;
  for (std::uint64_t i = 0; i < count; ++i) {
    const nb::object key = plain_value(*type.element->fields[0].type, at);
    map[key] = plain_value(*type.element->fields[1].type, at);
    if (nb::len(map) != i + 1) raise_decode("a map with a key that comes twice");
  }
  return map;
}

}  // namespace

nb::object plain_value(const Type& type, Place& at) {
  switch (type.kind) {
    case Kind::vector:
    case Kind::array: {
      if (is_array(type) && !type.is_map) return read_array(type, at.stream, at.offset).attr("copy")();
      const std::uint64_t count = read_count(type, *at.stream, at.offset);
      if (type.is_map) return plain_map(type, at, count);
      if (type.element->least == 0) at.empty += count;
      if (at.empty > most_empty_elements) raise_decode("more empty elements than a reader is willing to have");
      nb::list list;
      for (std::uint64_t i = 0; i < count; ++i) list.append(plain_value(*type.element, at));
      return list;
    }
    case Kind::optional:
      return read_presence(*at.stream, at.offset) ? plain_value(*type.element, at) : nb::none();
    case Kind::variant: {
      const Type& alternative = *type.fields[read_alternative(type, *at.stream, at.offset)].type;
      return is_monostate(alternative) ? nb::none() : plain_value(alternative, at);
    }
    case Kind::structure: {
      nb::dict members;
      for (const Field& field : type.fields) members[field.key] = plain_value(*field.type, at);
      return members;
    }
    default:
      return read_scalar(type, *at.stream, at.offset);
  }
}

void require_end(const Place& at) {
  constexpr std::uint64_t most_padding = 3;
  if (at.stream->size() - at.offset > most_padding) raise_decode("the stream goes on behind the message");
}

}  // namespace sinew::python
