#include "bindings/python/src/memory.hpp"

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {
namespace {

std::uint8_t* bytes_of(const Memory& memory) {
  static std::uint8_t nothing = 0;
  return const_cast<std::uint8_t*>(memory.size > 0 ? memory.data : &nothing);
}

/// NumPy asks whether it may make an array writable again.
int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  const Memory& it = *nb::inst_ptr<Memory>(self);
  return PyBuffer_FillInfo(view, self, bytes_of(it), static_cast<Py_ssize_t>(it.size), it.writable ? 0 : 1, flags);
}

PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

}  // namespace

void define_memory(nb::module_& module) {
  nb::class_<Memory>(module, "_Memory", nb::type_slots(slots));
}

nb::object memory_of(std::shared_ptr<const void> owner, const std::uint8_t* data, std::size_t size) {
  return nb::cast(Memory{std::move(owner), data, size, false});
}

nb::object array_on(const nb::object& memory, const nb::object& dtype, std::span<const std::uint64_t> shape,
                    std::span<const std::uint64_t> strides) {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
  std::array<npy_intp, NPY_MAXDIMS> lengths{};
  std::array<npy_intp, NPY_MAXDIMS> steps{};
  if (shape.size() > lengths.size())
    raise_python(PyExc_ValueError, "an array of " + std::to_string(shape.size()) + " dimensions is beyond NumPy");
  std::copy(shape.begin(), shape.end(), lengths.begin());
  std::copy(strides.begin(), strides.end(), steps.begin());
  const Memory& on = *nb::inst_ptr<Memory>(memory);
  PyArray_Descr* const of = reinterpret_cast<PyArray_Descr*>(nb::object(dtype).release().ptr());  // which is stolen
  PyObject* const array =
      PyArray_NewFromDescr(&PyArray_Type, of, static_cast<int>(shape.size()), lengths.data(), strides.empty() ? nullptr : steps.data(),
                           bytes_of(on), on.writable ? NPY_ARRAY_WRITEABLE : 0, nullptr);
  if (!array) throw nb::python_error();
  nb::object owned = nb::steal(array);
  if (PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), nb::object(memory).release().ptr()) < 0) throw nb::python_error();
  return owned;
}

void make_readonly(const nb::object& array) {
  PyArray_CLEARFLAGS(reinterpret_cast<PyArrayObject*>(array.ptr()), NPY_ARRAY_WRITEABLE);
}

}  // namespace sinew::python
