// What clients and providers have in common.
#pragma once

#include "bindings/python/src/type.hpp"
#include "bindings/python/src/writer.hpp"

namespace sinew::python {

/// None is one of defaults, as is a response that a handler does not return.
void encode_request(const Type& type, nb::handle request, Writer& into);

}  // namespace sinew::python
