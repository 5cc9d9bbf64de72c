// Methods that Python calls without nanobind, which looks at what is given, so that a message leaves and comes a little sooner; and what help() says of them.
#pragma once

#include <nanobind/nanobind.h>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {

/// `args`, `count`, `names`: as METH_FASTCALL | METH_KEYWORDS has them.
struct Given {
  PyObject* const* args;
  Py_ssize_t count;
  PyObject* names;

  /// The only argument of a method, by its place or its name; null where it is not given. Raises TypeError where anything else is.
  PyObject* only(const char* method, const char* name) const;
};

/// For PyMethodDef.
template <typename Function>
PyCFunction method_of(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// Sets what help() says of such a method: "publish($self, message)\n--\n\nPublishes ...".
void describe(nb::handle method, const std::string& text);

}  // namespace sinew::python
