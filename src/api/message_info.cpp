#include "sinew/message_info.hpp"

namespace sinew {

const char* to_string(Delivery delivery) noexcept {
  switch (delivery) {
    case Delivery::pointer:
      return "pointer";
    case Delivery::native:
      return "native";
    case Delivery::view:
      return "view";
    case Delivery::copy:
      return "copy";
  }
  return "unknown";
}

}  // namespace sinew
