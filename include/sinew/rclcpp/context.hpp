// The beginning and the end of a program that is written for rclcpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/error.hpp"

namespace sinew::rclcpp {

namespace exceptions {
/// What this namespace throws, as sinew does.
using RCLError = sinew::Error;  // NOLINT(readability-identifier-naming): rclcpp's names
}  // namespace exceptions

enum class SignalHandlerOptions {
  All,      // NOLINT(readability-identifier-naming): rclcpp's names
  SigInt,   // NOLINT(readability-identifier-naming)
  SigTerm,  // NOLINT(readability-identifier-naming)
  None,     // NOLINT(readability-identifier-naming)
};

/// Before the first node. Takes the arguments between `--ros-args` and `--`, or the end: `-p NAME:=VALUE` (--param) gives parameters of all nodes their values, `-r FROM:=TO` (--remap) renames topics and services, `-r __node:=NAME` the
/// nodes, `-r __ns:=/NAMESPACE` puts them into that namespace in place of their own, `--log-level LEVEL` is that of all loggers, and `--log-level LOGGER:=LEVEL` of one. Throws Error(invalid_argument), with a sentence, for others, and when called twice without shutdown() in between.
/// From now on the first SIGINT or SIGTERM does what shutdown() does, and calls the handler that the program had before, if any; the second of either kind calls that handler alone, or ends the process as if nobody had asked for it.
SINEW_API void init(int argc, const char* const* argv, SignalHandlerOptions handlers = SignalHandlerOptions::All);
/// The arguments that init() leaves to the program, its name first.
SINEW_API std::vector<std::string> init_and_remove_ros_arguments(int argc, const char* const* argv);
SINEW_API std::vector<std::string> remove_ros_arguments(int argc, const char* const* argv);

/// ok() is false from now on, and whatever waits in this namespace returns: spin(), sleep(), wait_for_service(). Nodes and what they have go on working. Anywhere, also in callbacks. The signals do again what they did before
/// init(). False when it was over already.
SINEW_API bool shutdown();
/// Between init() and shutdown(), or the signal. Anywhere. After fork() a signal to the child ends nothing but what this says there.
SINEW_API bool ok() noexcept;

/// Sleeps so long, or until shutdown(). False after shutdown(), and before init(). A thread that was told that it is over, by a false of this, of ok() or of Rate::sleep(), by the end of spin(), by FutureReturnCode::INTERRUPTED or by its own shutdown(), sleeps
/// all the same, as a program does that slows its motors down before it ends.
SINEW_API bool sleep_for(std::chrono::nanoseconds time);

}  // namespace sinew::rclcpp
