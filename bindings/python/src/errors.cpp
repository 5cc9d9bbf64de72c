#include "bindings/python/src/errors.hpp"

#include <array>

namespace sinew::python {
namespace {

struct Class {
  sinew_status status;
  const char* name;
  const char* kind;
  PyObject** also;  // Python's own class that it is, too
};

const std::array<Class, 17> classes{{
    {SINEW_INVALID_ARGUMENT, "InvalidArgument", "invalid_argument", &PyExc_ValueError},
    {SINEW_NAME_TAKEN, "NameTaken", "name_taken", nullptr},
    {SINEW_TYPE_MISMATCH, "TypeMismatch", "type_mismatch", &PyExc_TypeError},
    {SINEW_INCOMPATIBLE, "Incompatible", "incompatible", nullptr},
    {SINEW_UNAVAILABLE, "Unavailable", "unavailable", &PyExc_ConnectionError},
    {SINEW_DENIED, "Denied", "denied", &PyExc_PermissionError},
    {SINEW_EXHAUSTED, "Exhausted", "exhausted", nullptr},
    {SINEW_DISCONNECTED, "Disconnected", "disconnected", &PyExc_ConnectionError},
    {SINEW_SYSTEM, "SystemFailure", "system", &PyExc_OSError},
    {SINEW_NO_MEMORY, "NoMemory", "no_memory", &PyExc_MemoryError},
    {SINEW_WOULD_BLOCK, "WouldBlock", "would_block", &PyExc_TimeoutError},
    {SINEW_INVALID_MESSAGE, "InvalidMessage", "invalid_message", &PyExc_ValueError},
    {SINEW_CLOSED, "Closed", "closed", nullptr},
    {SINEW_TIMEOUT, "Timeout", "timeout", &PyExc_TimeoutError},
    {SINEW_FAILED, "CallFailed", "failed", nullptr},
    {SINEW_CANCELLED, "Cancelled", "cancelled", nullptr},
    {SINEW_LOST, "Lost", "lost", nullptr},
}};

// Never given back: they live as long as the process.
PyObject* error_class = nullptr;
PyObject* decode_class = nullptr;
PyObject* encode_class = nullptr;
std::array<PyObject*, SINEW_LOST + 1> by_status{};

PyObject* made(nb::module_& module, const char* name, const char* kind, const nb::tuple& bases) {
  nb::dict members;
  if (kind) members["kind"] = kind;
  members["__module__"] = "sinew";
  PyObject* const type = PyErr_NewException((std::string("sinew.") + name).c_str(), bases.ptr(), members.ptr());
  if (!type) throw nb::python_error();
  module.attr(name) = nb::handle(type);
  return type;
}

PyObject* class_of(sinew_status status) {
  const bool is_known = status > 0 && static_cast<std::size_t>(status) < by_status.size() && by_status[static_cast<std::size_t>(status)];
  return is_known ? by_status[static_cast<std::size_t>(status)] : error_class;
}

std::string utf8_of(PyObject* text) {
  if (!text) throw nb::python_error();
  const nb::object owned = nb::steal(text);
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

}  // namespace

void define_errors(nb::module_& module) {
  error_class = made(module, "Error", "unknown", nb::make_tuple(nb::handle(PyExc_Exception)));
  for (const Class& it : classes) {
    const nb::tuple bases =
        it.also ? nb::make_tuple(nb::handle(error_class), nb::handle(*it.also)) : nb::make_tuple(nb::handle(error_class));
    by_status[static_cast<std::size_t>(it.status)] = made(module, it.name, it.kind, bases);
  }
  by_status[SINEW_NOTHING] = by_status[SINEW_TIMEOUT];  // to Python, nothing in time is a timeout
  decode_class = made(module, "DecodeError", nullptr, nb::make_tuple(nb::handle(by_status[SINEW_INVALID_MESSAGE])));
  encode_class = made(module, "EncodeError", "invalid_argument",
                      nb::make_tuple(nb::handle(error_class), nb::handle(PyExc_TypeError), nb::handle(PyExc_ValueError)));
}

void raise_python(PyObject* type, const std::string& text) {
  const nb::object value = nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
  if (value.is_valid()) PyErr_SetObject(type, value.ptr());
  throw nb::python_error();
}

nb::object caught() {
#if PY_VERSION_HEX >= 0x030C0000
  return nb::steal(PyErr_GetRaisedException());
#else
  // What C raises is an exception only when somebody looks.
  PyObject* type = nullptr;
  PyObject* value = nullptr;
  PyObject* traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  if (traceback) PyException_SetTraceback(value, traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return nb::steal(value);
#endif
}

void raise(sinew_status status, const std::string& text) {
  raise_python(class_of(status), text);
}

void raise_decode(const std::string& text) {
  raise_python(decode_class, text);
}

void raise_encode(const std::string& text) {
  raise_python(encode_class, text);
}

std::string text_of(nb::handle value) {
  return utf8_of(PyObject_Str(value.ptr()));
}

std::string repr_of(nb::handle value) {
  return utf8_of(PyObject_Repr(value.ptr()));
}

}  // namespace sinew::python
