// How a subscriber reads what it is given.
#pragma once

#include "sinew/message_info.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

enum class Reading {
  as_possible,      ///< in place where both processes have the same layout and the publisher's addresses are free here, else in pieces
  native,           ///< in place, or not at all
  view,             ///< the CDR stream, big arrays where they lie
  by_pointer_only,  ///< within the process
  copy,             ///< as as_possible, but nothing is held: messages are copied, or decoded as a whole
};

/// How messages come from a publisher of another process, or one of them.
constexpr wire::Path path_of(bool copied, bool in_pieces) noexcept {
  return copied ? wire::Path::copy : in_pieces ? wire::Path::view : wire::Path::native;
}

/// As users are told. Without a path it means nothing.
constexpr Delivery delivery_of(wire::Path path) noexcept {
  switch (path) {
    case wire::Path::pointer:
      return Delivery::pointer;
    case wire::Path::view:
      return Delivery::view;
    case wire::Path::copy:
      return Delivery::copy;
    case wire::Path::none:
    case wire::Path::native:
      break;
  }
  return Delivery::native;
}

}  // namespace sinew::session
