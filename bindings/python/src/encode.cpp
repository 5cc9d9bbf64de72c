#include "bindings/python/src/encode.hpp"

#include <cstring>
#include <limits>

#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/encoder.hpp"
#include "bindings/python/src/sequence.hpp"

namespace sinew::python {

void Encoder::fail(const std::string& text) const {
  std::string path;
  for (const Step& step : path_) {
    if (!step.field) {
      path += "[" + std::to_string(step.index) + "]";
    } else {
      path += (path.empty() ? "" : ".") + *step.field;
    }
  }
  raise_encode(path.empty() ? text : path + ": " + text);
}

void Encoder::unexpected(const std::string& wanted, PyObject* value) const {
  constexpr std::size_t most = 80;
  std::string shown = repr_of(nb::handle(value));
  if (shown.size() > most) shown = shown.substr(0, most) + "...";
  fail("expected " + wanted + ", not " + shown + " (" + Py_TYPE(value)->tp_name + ")");
}

void Encoder::value(const Type& type, PyObject* value) {
  switch (type.kind) {
    case Kind::string:
      return text(value);
    case Kind::vector:
    case Kind::array:
      return elements(type, value);
    case Kind::optional:
      return optional(type, value);
    case Kind::variant:
      return variant(type, value);
    case Kind::structure:
      return structure(type, value);
    default:
      return number(type, value);
  }
}

nb::object exact_value(const Type& wanted, const TypePtr& type, const StreamPtr& stream, std::uint64_t offset) {
  if (wanted.structure != type->structure) return value_at(type, stream, offset);
  if (type->kind == Kind::optional) {
    return read_presence(*stream, offset) ? exact_value(*wanted.element, type->element, stream, offset) : nb::none();
  }
  if (type->kind == Kind::variant) {
    const std::size_t index = read_alternative(*type, *stream, offset);
    const TypePtr& alternative = type->fields[index].type;
    return nb::cast(Variant{index, exact_value(*wanted.fields[index].type, alternative, stream, offset)});
  }
  if (type->is_map && wanted.is_map) {
    const std::uint64_t count = read_count(*type, *stream, offset);
    return make_sequence(type, stream, offset, count);
  }
  return value_at(type, stream, offset);
}

void Encoder::text(PyObject* value) {
  nb::object bytes;
  const char* data = nullptr;
  Py_ssize_t size = 0;
  if (PyUnicode_Check(value)) {
    data = PyUnicode_AsUTF8AndSize(value, &size);
    if (!data) {
      PyErr_Clear();
      bytes = nb::steal(PyUnicode_AsEncodedString(value, "utf-8", "surrogateescape"));
      if (!bytes.is_valid()) {
        PyErr_Clear();
        unexpected("a text that UTF-8 has", value);
      }
    }
  } else if (PyBytes_Check(value)) {
    bytes = nb::borrow(value);
  } else {
    unexpected("a str", value);
  }
  if (!data) {
    data = PyBytes_AS_STRING(bytes.ptr());
    size = PyBytes_GET_SIZE(bytes.ptr());
  }
  if (static_cast<std::uint64_t>(size) >= std::numeric_limits<std::uint32_t>::max()) fail("a text of 4 GiB has no stream");
  out_.number(static_cast<std::uint32_t>(size + 1));
  out_.put(data, static_cast<std::size_t>(size));
  out_.zeros(1);
}

void Encoder::optional(const Type& type, PyObject* value) {
  out_.number(std::uint32_t{value == Py_None ? 0U : 1U});
  if (value != Py_None) this->value(*type.element, value);
}

bool Encoder::try_alternative(const Type& variant, std::size_t index, PyObject* value) {
  const Writer::Mark mark = out_.mark();
  const Type& type = *variant.fields[index].type;
  out_.number(static_cast<std::uint32_t>(index));
  if (value == Py_None && is_monostate(type)) return true;
  try {
    this->value(type, value);
    return true;
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_ValueError)) throw;
    out_.take_back(mark);
    return false;
  }
}

void Encoder::variant(const Type& type, PyObject* value) {
  if (nb::isinstance<Variant>(value)) {
    const Variant& chosen = nb::cast<const Variant&>(nb::handle(value));
    if (chosen.index >= type.fields.size()) {
      fail("there is no alternative " + std::to_string(chosen.index) + " in " + type.name);
    }
    const Type& alternative = *type.fields[chosen.index].type;
    out_.number(static_cast<std::uint32_t>(chosen.index));
    if (chosen.value.is_none() && is_monostate(alternative)) return;
    return this->value(alternative, nb::object(chosen.value).ptr());
  }
  // A bool is an integer to Python, and not what is meant by one.
  for (std::size_t i = 0; PyBool_Check(value) && i < type.fields.size(); ++i) {
    if (type.fields[i].type->kind == Kind::boolean && try_alternative(type, i, value)) return;
  }
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    if (try_alternative(type, i, value)) return;
  }
  unexpected("a value of one of the alternatives of " + type.name, value);
}

void Encoder::defaults(const Type& type) {
  switch (type.kind) {
    case Kind::string:
      out_.number(std::uint32_t{1});
      return out_.zeros(1);
    case Kind::vector:
    case Kind::optional:
      return out_.number(std::uint32_t{0});
    case Kind::variant:
      out_.number(std::uint32_t{0});
      return defaults(*type.fields.front().type);
    default:
      break;
  }
  if (type.plain) return out_.zeros(type.at[out_.offset() % 8].size);
  for (std::uint64_t i = 0; i < type.count; ++i) defaults(*type.element);
  for (const Field& field : type.fields) defaults(*field.type);
}

void encode(const Type& type, nb::handle value, Writer& into) {
  Encoder(into).value(type, value.ptr());
}

void assign(const Field& field, const nb::object& loaned, nb::handle value) {
  Writer nothing;
  Encoder(nothing).assign(field, loaned, value);
}

nb::bytes encoded(const Type& type, nb::handle value) {
  Writer writer;
  encode(type, value, writer);
  std::size_t size = 0;
  const auto extents = writer.extents();
  for (const sinew_extent& extent : extents) size += extent.size;
  nb::object bytes = nb::steal(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!bytes.is_valid()) throw nb::python_error();
  char* to = PyBytes_AS_STRING(bytes.ptr());
  for (const sinew_extent& extent : extents) {
    std::memcpy(to, extent.data, extent.size);
    to += extent.size;
  }
  return nb::borrow<nb::bytes>(bytes);
}

}  // namespace sinew::python
