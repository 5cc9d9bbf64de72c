#include "base/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/cancel.hpp"

namespace sinew::base {
namespace {

constexpr std::array<std::string_view, 5> names = {"off", "error", "warn", "info", "debug"};

LogLevel level_from_environment() noexcept {
  const char* wanted = std::getenv("SINEW_LOG");
  for (std::size_t i = 0; wanted != nullptr && i < names.size(); ++i) {
    if (wanted == names[i]) return static_cast<LogLevel>(i);
  }
  return LogLevel::off;
}

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

}  // namespace

LogLevel log_level() noexcept {
  static const LogLevel level = level_from_environment();
  return level;
}

void log(LogLevel level, std::string_view text) noexcept {
  if (level == LogLevel::off || level > log_level()) return;
  const Uncancellable whole;
  const int kept = errno;
  // Pieces instead of one string: a log line must come out also when memory is short.
  const std::array<iovec, 5> line = {piece("sinew ["), piece(names[static_cast<std::size_t>(level)]), piece("] "), piece(text),
                                     piece("\n")};
  if (writev(STDERR_FILENO, line.data(), static_cast<int>(line.size())) < 0) {
    // Nowhere is left to say that stderr is closed or full.
  }
  errno = kept;
}

}  // namespace sinew::base
