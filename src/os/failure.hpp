// From errno to sinew::Error.
#pragma once

#include <string>

#include "sinew/error.hpp"

namespace sinew::os {

/// "Too many open files; close some, or raise the limit (ulimit -n)": what errno says, and the remedy where there is a known one.
std::string describe(int error);

/// What helps where memory for messages was asked for, to follow describe(); empty where it was not memory that was short.
std::string memory_remedy(int error);

/// Throws Error: exhausted when `error` is a shortage (descriptors, memory, kernel buffers), else `otherwise`. `what` is the beginning of
/// the sentence, such as "cannot make an eventfd"; `remedy`, as "; raise this limit", what helps where that depends on what was asked for.
[[noreturn]] void fail(int error, const std::string& what, ErrorKind otherwise = ErrorKind::system, const std::string& remedy = {});

}  // namespace sinew::os
