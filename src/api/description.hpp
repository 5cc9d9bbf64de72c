// A message type as the manager knows it.
#pragma once

#include "sinew/msg/type.hpp"
#include "wire/messages.hpp"

namespace sinew::detail {

inline wire::TypeDescription description_of(const msg::Message& type) {
  return {type.name, type.signature, type.hash, type.layout};
}

}  // namespace sinew::detail
