#include <utility>

#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

nb::object plain_map(const Type& type, Place& at, std::uint64_t count, Copied as) {
  nb::dict map;
  for (std::uint64_t i = 0; i < count; ++i) {
    const nb::object key = plain_value(type.element->fields[0].type, at, as);
    map[key] = plain_value(type.element->fields[1].type, at, as);
    if (nb::len(map) != i + 1) raise_decode("a map with a key that comes twice");
  }
  return map;
}

nb::object plain_variant(const Type& type, Place& at, Copied as) {
  const std::size_t index = read_alternative(type, *at.stream, at.offset);
  const TypePtr& alternative = type.fields[index].type;
  nb::object value = is_monostate(*alternative) ? nb::none() : plain_value(alternative, at, as);
  return as == Copied::dicts ? value : nb::cast(Variant{index, std::move(value)});
}

nb::object plain_structure(const TypePtr& type, Place& at, Copied as) {
  if (as == Copied::drafts) {
    nb::object draft = make_draft(type);
    for (std::size_t i = 0; i < type->fields.size(); ++i) draft_in(draft.ptr())->values[i] = plain_value(type->fields[i].type, at, as);
    return draft;
  }
  nb::dict members;
  for (const Field& field : type->fields) members[field.key] = plain_value(field.type, at, as);
  return members;
}

}  // namespace

nb::object plain_value(const TypePtr& of, Place& at, Copied as) {
  const Type& type = *of;
  switch (type.kind) {
    case Kind::vector:
    case Kind::array: {
      if (is_array(type) && !type.is_map) return read_array(type, at.stream, at.offset).attr("copy")();
      const std::uint64_t count = read_count(type, *at.stream, at.offset);
      if (type.is_map) return plain_map(type, at, count, as);
      if (type.element->least == 0) at.empty += count;
      if (at.empty > most_empty_elements) raise_decode("more empty elements than a reader is willing to have");
      nb::list list;
      for (std::uint64_t i = 0; i < count; ++i) list.append(plain_value(type.element, at, as));
      return list;
    }
    case Kind::optional:
      return read_presence(*at.stream, at.offset) ? plain_value(type.element, at, as) : nb::none();
    case Kind::variant:
      return plain_variant(type, at, as);
    case Kind::structure:
      return plain_structure(of, at, as);
    default:
      return read_scalar(type, *at.stream, at.offset);
  }
}

void require_end(const Place& at) {
  constexpr std::uint64_t most_padding = 3;
  if (at.stream->size() - at.offset > most_padding) raise_decode("the stream goes on behind the message");
}

}  // namespace sinew::python
