// Where in a message a walk is, kept on the stack and spelled only when somebody asks.
#pragma once

#include <cstddef>
#include <string>

#include "sinew/msg/type.hpp"

namespace sinew::msg {

struct Path {
  const Path* outer = nullptr;
  const Field* field = nullptr;  // null for an element
  std::size_t index = 0;

  /// "boxes[3].label"
  std::string text() const {
    if (!outer) return {};
    const std::string before = outer->text();
    if (!field) return before + "[" + std::to_string(index) + "]";
    return before.empty() ? field->name : before + "." + field->name;
  }
};

}  // namespace sinew::msg
