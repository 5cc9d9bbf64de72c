// Options of endpoints, as Python says them.
#pragma once

#include <optional>
#include <string>

#include "bindings/python/src/runtime.hpp"

namespace sinew::python {

/// Of a topic or a service.
std::string name_from(nb::handle given);

/// Of a sinew.Qos, or of a depth. None: all defaults. Raises TypeError.
sinew_qos qos_from(nb::handle given);

/// Of `max_blocking`: None is the default.
std::int64_t max_blocking_from(const Seconds& given);

/// Of "withdraw", "withdraw_some", "refuse", "wait".
std::uint32_t when_full_from(const std::string& given);

/// Of "carrier", "observer". None: it is none.
std::uint8_t ghost_from(const std::optional<std::string>& given);

}  // namespace sinew::python
