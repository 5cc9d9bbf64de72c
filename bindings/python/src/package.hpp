// What the module has from the pure-Python side of its package.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>

namespace sinew::python {

namespace nb = nanobind;

/// sinew.type_of(), a Type.
nb::object type_of(nb::handle declared);
/// Of a class that is declared as a message its Type; else None.
nb::object type_of_class(nb::handle cls);
/// What `qos=` says, as a sinew.Qos. Raises TypeError, and ValueError for what is out of range.
nb::object qos_asked(nb::handle given);
/// Why a subscriber that is connected to so many publishers got no message, as what goes on behind "no message came".
std::string why_no_message(nb::handle node, const std::string& topic, std::uint64_t connected);
/// What sys.unraisablehook is told of a callback that raised.
nb::object make_culprit(nb::handle function, const std::string& owner);
/// What async iteration over a subscriber is.
nb::object messages_of(nb::handle subscriber);
/// A future that can be awaited. It keeps the client.
nb::object make_answer(nb::handle client);

}  // namespace sinew::python
