// What a node creates, each defined by the file of its name.
#pragma once

#include "bindings/python/src/node.hpp"

namespace sinew::python {

using NodeClass = nb::class_<Node>;

void define_publisher(nb::module_& module, NodeClass& node);
void define_subscriber(nb::module_& module, NodeClass& node);
void define_client(nb::module_& module, NodeClass& node);
void define_provider(nb::module_& module, NodeClass& node);
void define_domain(nb::module_& module, NodeClass& node);
void define_timer(nb::module_& module, NodeClass& node);
void define_counters(nb::module_& module, NodeClass& node);

}  // namespace sinew::python
