// What the library tells beside messages, as objects of Python.
#pragma once

#include <string>

#include "bindings/python/src/node.hpp"

namespace sinew::python {

/// "view"
const char* delivery_name(std::int32_t delivery);
/// Null: it is none.
const char* ghost_name(std::uint8_t ghost);

struct MessageInfo {
  std::string publisher;
  std::uint64_t sequence = 0;
  std::int64_t source_time_ns = 0;
  std::int64_t receive_time_ns = 0;
  std::uint64_t missed = 0;
  std::int32_t delivery = 0;

  /// Does not need the GIL.
  static MessageInfo of(const sinew_frame* frame);
};

void define_told(nb::module_& module);

/// The `on_event` of options whose context is Callbacks.
void call_on_event(void* context, const sinew_event* event);

/// Callbacks for the options; null when there are none.
CallbacksPtr callbacks_for(const std::string& owner, nb::handle function, nb::handle on_event);

}  // namespace sinew::python
