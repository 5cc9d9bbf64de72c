#include "bindings/python/src/memory.hpp"

#include <utility>

#include "bindings/python/src/rows.hpp"

namespace sinew::python {
namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  static std::uint8_t nothing = 0;
  const Memory& it = *nb::inst_ptr<Memory>(self);
  auto* const data = const_cast<std::uint8_t*>(it.size > 0 ? it.data : &nothing);
  return PyBuffer_FillInfo(view, self, data, static_cast<Py_ssize_t>(it.size), it.writable ? 0 : 1, flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void define_memory(nb::module_& module) {
  nb::class_<Memory>(module, "_Memory", nb::type_slots(slots));
}

nb::object memory_of(std::shared_ptr<const void> owner, const std::uint8_t* data, std::size_t size) {
  return nb::cast(Memory{std::move(owner), data, size, false});
}

nb::object array_on(const nb::object& memory, const nb::object& dtype, const nb::object& shape, const nb::object& strides) {
  static PyObject* const type = numpy("ndarray").release().ptr();
  static PyObject* const zero = PyLong_FromLong(0);
  PyObject* const array = PyObject_CallFunctionObjArgs(type, shape.ptr(), dtype.ptr(), memory.ptr(), zero, strides.ptr(), nullptr);
  if (!array) throw nb::python_error();
  return nb::steal(array);
}

}  // namespace sinew::python
