#include "base/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/cancel.hpp"

namespace sinew::base {
namespace {

constexpr std::array<std::string_view, 5> names = {"off", "error", "warn", "info", "debug"};

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

// Pieces instead of one string: a line must come out also when memory is short.
template <std::size_t count>
void write_line(const std::array<iovec, count>& pieces) noexcept {
  const Uncancellable whole;
  const int kept = errno;
  if (writev(STDERR_FILENO, pieces.data(), static_cast<int>(count)) < 0) {
    // Nowhere is left to say that stderr is closed or full.
  }
  errno = kept;
}

std::string_view wanted() noexcept {
  const char* const set = std::getenv("SINEW_LOG");
  return set == nullptr || *set == '\0' ? names[0] : set;
}

LogLevel level_from_environment() noexcept {
  const auto* const found = std::ranges::find(names, wanted());
  return found == names.end() ? LogLevel::off : static_cast<LogLevel>(found - names.begin());
}

bool check_environment() noexcept {
  if (std::ranges::find(names, wanted()) != names.end()) return true;
  write_line(std::array{piece("sinew: SINEW_LOG='"), piece(wanted()),
                        piece("' is no level, so nothing is logged. Set it to error, warn, info, debug or off.\n")});
  return false;
}

}  // namespace

LogLevel log_level() noexcept {
  static const LogLevel level = level_from_environment();
  return level;
}

void check_log_level() noexcept {
  [[maybe_unused]] static const bool is_known = check_environment();
}

void log(LogLevel level, std::string_view text) noexcept {
  if (level == LogLevel::off || level > log_level()) return;
  write_line(std::array{piece("sinew ["), piece(names[static_cast<std::size_t>(level)]), piece("] "), piece(text), piece("\n")});
}

}  // namespace sinew::base
