// Diagnostics for people, on standard error: what SINEW_LOG asks for (off, error, warn, info, debug, in small or capital letters; default: warn).
#pragma once

#include <string_view>

namespace sinew::base {

enum class LogLevel { off, error, warn, info, debug };

/// The level read from SINEW_LOG at the first call; `warn` where that is not set, or no level. Thread-safe.
LogLevel log_level() noexcept;

/// Whether somebody has set SINEW_LOG to a level, other than `off`, and so wants to see lines wherever they come from. Thread-safe.
bool is_log_asked_for() noexcept;

/// Says on stderr that SINEW_LOG is no level, once in a process. Thread-safe, keeps errno.
void check_log_level() noexcept;

/// From now on a line that standard error, a pipe or a terminal that nobody reads, has no room for is left out, and so is what is too long for it of a line; the next one that finds room says how many those were. For a
/// process that many rely on. Not while other threads log.
void log_without_waiting() noexcept;

/// Writes "sinew [level] text\n" to stderr in one write() when the level is enabled. Thread-safe, never throws, keeps errno.
void log(LogLevel level, std::string_view text) noexcept;

}  // namespace sinew::base
