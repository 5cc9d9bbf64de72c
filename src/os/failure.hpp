// From errno to sinew::Error.
#pragma once

#include <string>

#include "sinew/error.hpp"

namespace sinew::os {

/// "Too many open files; close some, or raise the limit (ulimit -n)": what errno says, and the remedy where there is a known one.
std::string describe(int error);

/// Throws Error: exhausted when `error` is a shortage (descriptors, memory, kernel buffers), else `otherwise`. `what` is the beginning of
/// the sentence, such as "cannot make an eventfd".
[[noreturn]] void fail(int error, const std::string& what, ErrorKind otherwise = ErrorKind::system);

}  // namespace sinew::os
