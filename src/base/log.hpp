// Diagnostics for people. Nothing is printed unless SINEW_LOG asks for it (error, warn, info, debug; default: off).
#pragma once

#include <string_view>

namespace sinew::base {

enum class LogLevel { off, error, warn, info, debug };

/// The level read from SINEW_LOG at the first call; `off` where that is no level. Thread-safe.
LogLevel log_level() noexcept;

/// Says on stderr that SINEW_LOG is no level, once in a process. Thread-safe, keeps errno.
void check_log_level() noexcept;

/// Writes "sinew [level] text\n" to stderr in one write() when the level is enabled. Thread-safe, never throws, keeps errno.
void log(LogLevel level, std::string_view text) noexcept;

}  // namespace sinew::base
