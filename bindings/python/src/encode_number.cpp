#include <cmath>
#include <limits>

#include "bindings/python/src/encoder.hpp"
#include "bindings/python/src/rows.hpp"

namespace sinew::python {
namespace {

bool is_enum(PyObject* value) {
  static PyObject* const type = nb::object(nb::module_::import_("enum").attr("Enum")).release().ptr();
  return PyObject_IsInstance(value, type) == 1;
}

}  // namespace

void Encoder::number(const Type& type, PyObject* value) {
  if (type.kind == Kind::boolean) return boolean(value);
  if (type.number >= Kind::float32) return floating(type, value);
  if (type.kind == Kind::enumeration && !PyLong_Check(value) && is_enum(value)) {
    return integer(type, nb::getattr(nb::handle(value), "value").ptr());
  }
  integer(type, value);
}

void Encoder::boolean(PyObject* value) {
  static PyObject* const numpy_bool = numpy("bool_").release().ptr();
  if (!PyBool_Check(value) && PyObject_IsInstance(value, numpy_bool) != 1) unexpected("a bool", value);
  out_.number(static_cast<std::uint8_t>(PyObject_IsTrue(value) == 1 ? 1 : 0));
}

void Encoder::integer(const Type& type, PyObject* value) {
  const std::string wanted = kind_name(type.number);
  nb::object index;
  if (!PyLong_Check(value)) {
    if (!PyIndex_Check(value)) unexpected("an integer for " + wanted, value);
    index = nb::steal(PyNumber_Index(value));
    if (!index.is_valid()) {
      PyErr_Clear();  // an array that is not one number
      unexpected("an integer for " + wanted, value);
    }
    value = index.ptr();
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  const auto misfit = [&] { fail(repr_of(nb::handle(value)) + " does not fit " + wanted); };
  const auto put = [&]<typename Integer>(Integer) {
    if (overflow != 0 || number < static_cast<long long>(std::numeric_limits<Integer>::min()) ||
        number > static_cast<long long>(std::numeric_limits<Integer>::max())) {
      misfit();
    }
    out_.number(static_cast<Integer>(number));
  };
  switch (type.number) {
    case Kind::int8:
      return put(std::int8_t{});
    case Kind::int16:
      return put(std::int16_t{});
    case Kind::int32:
      return put(std::int32_t{});
    case Kind::int64:
      return put(std::int64_t{});
    case Kind::uint8:
      return put(std::uint8_t{});
    case Kind::uint16:
      return put(std::uint16_t{});
    case Kind::uint32:
      return put(std::uint32_t{});
    default:
      break;
  }
  if (overflow == 0 && number >= 0) return out_.number(static_cast<std::uint64_t>(number));
  if (overflow <= 0) misfit();
  const std::uint64_t large = PyLong_AsUnsignedLongLong(value);
  if (PyErr_Occurred()) {
    PyErr_Clear();
    misfit();
  }
  out_.number(large);
}

void Encoder::floating(const Type& type, PyObject* value) {
  const std::string wanted = kind_name(type.number);
  if (!PyFloat_Check(value) && (PyUnicode_Check(value) || PyBytes_Check(value) || !PyNumber_Check(value)))
    unexpected("a number for " + wanted, value);
  const double number = PyFloat_AsDouble(value);
  if (number == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    unexpected("a number for " + wanted, value);
  }
  if (type.number == Kind::float64) return out_.number(number);
  if (std::isfinite(number) && std::abs(number) > static_cast<double>(std::numeric_limits<float>::max())) {
    fail(repr_of(nb::handle(value)) + " does not fit " + wanted);
  }
  out_.number(static_cast<float>(number));
}

}  // namespace sinew::python
