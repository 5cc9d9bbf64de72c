// Publishers.
#pragma once

#include <string>

#include "bindings/python/src/node.hpp"

namespace sinew::python {

struct Publisher : Endpoint<sinew_publisher> {
  std::string topic;
  TypePtr type;
};

}  // namespace sinew::python
