// Which errors each kind of system call may come back with.
#pragma once

#include <span>
#include <string>

#include "os/fault.hpp"

namespace sinew::system {

const char* name_of(os::fault::Call call);
/// "ENOMEM".
std::string name_of_error(int error);

/// The errors that the manual pages name for what the library does with this call on a machine that is short of something, or that has rules of its own; the likeliest first. What says that the other end of a connection has
/// gone (EPIPE) is none of them: it has then gone for good, which cannot be said once and taken back. The storm and the tests of death kill it instead.
std::span<const int> plausible_errors(os::fault::Call call);

}  // namespace sinew::system
