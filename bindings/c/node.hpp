// What a sinew_node is.
#pragma once

#include <memory>

#include "bindings/c/sinew.h"
#include "sinew/node.hpp"

struct sinew_node {
  std::shared_ptr<sinew::Node> node;
};
