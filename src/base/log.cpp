#include "base/log.hpp"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <optional>

#include "base/cancel.hpp"

namespace sinew::base {
namespace {

constexpr std::array<std::string_view, 5> names = {"off", "error", "warn", "info", "debug"};

iovec piece(std::string_view text) noexcept {
  return {const_cast<char*>(text.data()), text.size()};
}

/// While it lives, a write to a pipe that nobody reads any more fails, and that is all: what the library says of itself is no reason for the program to end.
class WithoutSigpipe {
 public:
  WithoutSigpipe() noexcept {
    ::sigemptyset(&pipe_);
    ::sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
    ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  WithoutSigpipe(const WithoutSigpipe&) = delete;
  WithoutSigpipe& operator=(const WithoutSigpipe&) = delete;
  ~WithoutSigpipe() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
  bool was_pending_;
};

// Pieces instead of one string: a line must come out also when memory is short.
template <std::size_t count>
void write_line(const std::array<iovec, count>& pieces) noexcept {
  const Uncancellable whole;
  const int kept = errno;
  {
    const WithoutSigpipe unharmed;
    if (writev(STDERR_FILENO, pieces.data(), static_cast<int>(count)) < 0) {
      // Nowhere is left to say that stderr is closed or full.
    }
  }
  errno = kept;
}

/// Empty: nothing.
std::string_view wanted() noexcept {
  const char* const set = std::getenv("SINEW_LOG");
  return set == nullptr ? "" : set;
}

/// Nothing where `word` is no level.
std::optional<LogLevel> level_of(std::string_view word) noexcept {
  const auto small = [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; };
  const auto is_word = [&](std::string_view name) { return std::ranges::equal(name, word, {}, {}, small); };
  const auto* const found = std::ranges::find_if(names, is_word);
  return found == names.end() ? std::nullopt : std::optional(static_cast<LogLevel>(found - names.begin()));
}

bool check_environment() noexcept {
  if (wanted().empty() || level_of(wanted())) return true;
  write_line(std::array{piece("sinew: SINEW_LOG='"), piece(wanted()),
                        piece("' is no level, so it is warn. Set it to error, warn, info, debug or off.\n")});
  return false;
}

}  // namespace

LogLevel log_level() noexcept {
  static const LogLevel level = level_of(wanted()).value_or(LogLevel::warn);
  return level;
}

bool is_log_asked_for() noexcept {
  return level_of(wanted()).value_or(LogLevel::off) != LogLevel::off;
}

void check_log_level() noexcept {
  [[maybe_unused]] static const bool is_known = check_environment();
}

void log(LogLevel level, std::string_view text) noexcept {
  if (level == LogLevel::off || level > log_level()) return;
  write_line(std::array{piece("sinew ["), piece(names[static_cast<std::size_t>(level)]), piece("] "), piece(text), piece("\n")});
}

}  // namespace sinew::base
