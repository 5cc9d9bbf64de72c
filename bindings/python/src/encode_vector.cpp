#include <array>
#include <limits>
#include <string_view>
#include <vector>

#include "bindings/python/src/encoder.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/sequence.hpp"

namespace sinew::python {
namespace {

/// The number that a buffer has, by its format (PEP 3118); `structure` where it has others.
Kind number_of(const Py_buffer& buffer) {
  std::string_view format = buffer.format ? buffer.format : "B";
  constexpr char other_order = std::endian::native == std::endian::little ? '>' : '<';
  if (format.size() == 2 && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) {
    if (buffer.itemsize > 1 && (format[0] == other_order || (format[0] == '!' && other_order == '>'))) return Kind::structure;
    format.remove_prefix(1);
  }
  if (format.size() != 1) return Kind::structure;
  const auto by_size = [&](Kind smallest) {
    switch (buffer.itemsize) {
      case 1:
        return smallest;
      case 2:
        return static_cast<Kind>(static_cast<int>(smallest) + 1);
      case 4:
        return static_cast<Kind>(static_cast<int>(smallest) + 2);
      case 8:
        return static_cast<Kind>(static_cast<int>(smallest) + 3);
      default:
        return Kind::structure;
    }
  };
  const char code = format[0];
  if (code == '?') return Kind::boolean;
  if (std::string_view("bhilqn").find(code) != std::string_view::npos) return by_size(Kind::int8);
  if (std::string_view("BHILQN").find(code) != std::string_view::npos) return by_size(Kind::uint8);
  if (code == 'f' && buffer.itemsize == 4) return Kind::float32;
  if (code == 'd' && buffer.itemsize == 8) return Kind::float64;
  return Kind::structure;
}

bool is_ndarray(PyObject* value) {
  static PyObject* const type = numpy("ndarray").release().ptr();
  return PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(type)) != 0;
}

}  // namespace

void Encoder::count(const Type& type, std::uint64_t elements) {
  if (type.kind == Kind::array) {
    if (elements != type.count) fail(std::to_string(elements) + " elements do not fit " + type.name);
    return;
  }
  if (elements > std::numeric_limits<std::uint32_t>::max()) fail("a vector of 2^32 elements has no stream");
  out_.number(static_cast<std::uint32_t>(elements));
}

void Encoder::begin(const Type& type, std::span<const std::uint64_t> shape) {
  const std::string wrong = misgrouped(type, shape);
  if (!wrong.empty()) fail(wrong);
  std::uint64_t total = 1;
  for (const std::uint64_t length : shape) total *= length;
  std::uint64_t inner = 1;
  for (const Type* it = type.element.get(); it->kind == Kind::array; it = it->element.get()) inner *= it->count;
  if (total % inner != 0) fail(std::to_string(total) + " elements do not fit " + type.name);
  count(type, total / inner);
}

void Encoder::elements(const Type& type, PyObject* value) {
  if (nb::isinstance<Sequence>(value)) return from_sequence(type, nb::cast<const Sequence&>(nb::handle(value)));
  if (type.is_map && (PyDict_Check(value) || nb::hasattr(nb::handle(value), "keys"))) return map_entries(type, value);
  if (type.element->rows && !PyList_Check(value) && !PyTuple_Check(value)) {
    if (from_buffer(type, value)) return;
    if (is_ndarray(value) || nb::hasattr(nb::handle(value), "__array__") || PyObject_CheckBuffer(value)) {
      return from_array(type, numpy("asarray")(nb::handle(value)));
    }
  }
  one_by_one(type, value);
}

void Encoder::from_sequence(const Type& type, const Sequence& sequence) {
  count(type, sequence.count);
  for (std::uint64_t i = 0; i < sequence.count; ++i) {
    const Into into(*this, {nullptr, i});
    const nb::object element = exact_value(*type.element, sequence.type->element, sequence.stream, sequence.begin_of(i));
    value(*type.element, element.ptr());
  }
}

void Encoder::one_by_one(const Type& type, PyObject* value) {
  if (PyUnicode_Check(value)) unexpected("the elements of " + type.name, value);
  nb::object list = nb::steal(PySequence_Fast(value, ""));
  if (!list.is_valid()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    unexpected("the elements of " + type.name, value);
  }
  const auto size = static_cast<std::uint64_t>(PySequence_Fast_GET_SIZE(list.ptr()));
  count(type, size);
  for (std::uint64_t i = 0; i < size; ++i) {
    // It may change meanwhile: what converts an element may be a program's.
    if (i >= static_cast<std::uint64_t>(PySequence_Fast_GET_SIZE(list.ptr()))) fail("the list became shorter while it was read");
    const nb::object element = nb::borrow(PySequence_Fast_GET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i)));
    const Into into(*this, {nullptr, i});
    this->value(*type.element, element.ptr());
  }
}

void Encoder::map_entries(const Type& type, PyObject* mapping) {
  const nb::object items = nb::getattr(nb::handle(mapping), "items")();
  const nb::list entries(items);
  const Type& entry = *type.element;
  count(type, nb::len(entries));
  for (const nb::handle pair : entries) {
    const nb::object key = pair[0];
    const nb::object mapped = pair[1];
    field(entry, 0, key.ptr());
    const std::string name = repr_of(key);
    const Into into(*this, {&name, 0});
    value(*entry.fields[1].type, mapped.ptr());
  }
}

bool Encoder::from_buffer(const Type& type, PyObject* value) {
  const Run run = run_of(*type.element, 1);
  if (!run.row->is_scalar() || !PyObject_CheckBuffer(value)) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(value, &buffer, PyBUF_FULL_RO) < 0) {
    PyErr_Clear();
    return false;
  }
  Kind given = number_of(buffer);
  if (given == Kind::uint8 && run.row->number == Kind::int8 && (PyBytes_Check(value) || PyByteArray_Check(value))) given = Kind::int8;
  if (given != run.row->number || PyBuffer_IsContiguous(&buffer, 'C') == 0) {
    PyBuffer_Release(&buffer);
    return false;
  }
  const auto size = static_cast<std::uint64_t>(buffer.len);
  try {
    begin(type, std::vector<std::uint64_t>(buffer.shape, buffer.shape + buffer.ndim));
    if (size > 0) out_.align(run.row->alignment);
  } catch (...) {
    PyBuffer_Release(&buffer);
    throw;
  }
  out_.refer(buffer, size);
  return true;
}

bool Encoder::from_loaned(const Field& field, const Draft::Loaned& loaned) {
  const Type& row = *run_of(*field.type->element, 1).row;
  if (!row.is_scalar()) return false;
  const Into into(*this, {&field.name, 0});
  begin(*field.type, std::array{loaned.size / row.alignment});
  if (loaned.size > 0) out_.align(row.alignment);
  out_.refer(loaned.data, loaned.size);
  return true;
}

}  // namespace sinew::python
