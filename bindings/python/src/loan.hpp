// Messages that are written where subscribers will read them.
#pragma once

#include "bindings/python/src/node.hpp"

namespace sinew::python {

void define_loan(nb::module_& module);

/// Of a Publisher; `arrays` are names of vectors and their shapes.
nb::object make_loan(nb::handle publisher, const nb::kwargs& arrays);

}  // namespace sinew::python
