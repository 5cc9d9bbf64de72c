#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

constexpr std::size_t long_text = 2000;
constexpr std::uint64_t most_elements = 8;

void append_repr(const nb::object& value, std::string& text) {
  constexpr std::size_t most = 200;
  const std::string shown = repr_of(value);
  text += shown.size() > most ? shown.substr(0, most) + "..." : shown;
}

/// Whether there is room for more; else that is said, once.
bool is_open(std::string& text) {
  if (text.size() < long_text) return true;
  if (!text.ends_with("...")) text += "...";
  return false;
}

void show_elements(const Type& type, Place& at, std::uint64_t count, std::string& text) {
  text += type.is_map ? "{" : "[";
  for (std::uint64_t i = 0; i < count && is_open(text); ++i) {
    if (i > 0) text += ", ";
    if (type.is_map) {
      append_repr(read_scalar(*type.element->fields[0].type, *at.stream, at.offset), text);
      text += ": ";
      show_value(*type.element->fields[1].type, at, text);
    } else {
      show_value(*type.element, at, text);
    }
  }
  text += type.is_map ? "}" : "]";
}

}  // namespace

void show_value(const Type& type, Place& at, std::string& text) {
  if (!is_open(text)) return;
  switch (type.kind) {
    case Kind::vector:
    case Kind::array: {
      const std::uint64_t before = at.offset;
      const std::uint64_t count = read_count(type, *at.stream, at.offset);
      if (count <= most_elements) {
        show_elements(type, at, count, text);
      } else {
        text += "<" + type.element->name + "[" + std::to_string(count) + "]>";
        at.offset = skip(type, *at.stream, before);
      }
      return;
    }
    case Kind::optional:
      if (read_presence(*at.stream, at.offset)) {
        show_value(*type.element, at, text);
      } else {
        text += "None";
      }
      return;
    case Kind::variant: {
      const Type& alternative = *type.fields[read_alternative(type, *at.stream, at.offset)].type;
      if (is_monostate(alternative)) {
        text += "None";
      } else {
        show_value(alternative, at, text);
      }
      return;
    }
    case Kind::structure: {
      text += type.name + "(";
      bool is_first = true;
      for (const Field& field : type.fields) {
        if (!is_open(text)) break;
        if (!is_first) text += ", ";
        is_first = false;
        text += field.name + "=";
        show_value(*field.type, at, text);
      }
      text += ")";
      return;
    }
    default:
      append_repr(read_scalar(type, *at.stream, at.offset), text);
  }
}

}  // namespace sinew::python
