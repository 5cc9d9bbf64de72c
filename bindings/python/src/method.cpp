#include "bindings/python/src/method.hpp"

#include <cstring>

namespace sinew::python {

PyObject* Given::only(const char* method, const char* name) const {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (count + named > 1) {
    raise_python(PyExc_TypeError, std::string(method) + "() takes " + name + " alone, and " + std::to_string(count + named) + " are given");
  }
  if (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), name) != 0) {
    raise_python(PyExc_TypeError, std::string(method) + "() has no argument " + repr_of(PyTuple_GET_ITEM(names, 0)) + ", but " + name);
  }
  return count + named == 1 ? args[0] : nullptr;
}

void describe(nb::handle method, const std::string& text) {
  if (!Py_IS_TYPE(method.ptr(), &PyMethodDescr_Type)) raise_python(PyExc_TypeError, "no method that is Python's own");
  // Never given back: the type lives as long as the process.
  reinterpret_cast<PyMethodDescrObject*>(method.ptr())->d_method->ml_doc = strdup(text.c_str());
}

}  // namespace sinew::python
