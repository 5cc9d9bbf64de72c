#include "base/log.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <span>

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

// relaxed, all three: lines of different threads have no order.
std::atomic<bool> may_wait{true};
std::atomic<int> output{STDERR_FILENO};
std::atomic<std::uint64_t> left_out{0};

// A pipe that has room for something has it for so much, without a wait.
constexpr std::size_t longest_at_once = PIPE_BUF - 64;

/// False when it would have to be waited for.
bool try_to_write(std::span<const iovec> pieces) noexcept {
  const int fd = output.load(std::memory_order_relaxed);
  pollfd room{fd, POLLOUT, 0};
  if (!may_wait.load(std::memory_order_relaxed) && ::poll(&room, 1, 0) == 0) return false;
  // Nowhere is left to say that stderr is closed.
  return ::writev(fd, pieces.data(), static_cast<int>(pieces.size())) >= 0 || errno != EAGAIN;
}

/// False when there is no room for that either.
bool tell_what_is_left_out() noexcept {
  if (left_out.load(std::memory_order_relaxed) == 0) return true;
  const std::uint64_t count = left_out.exchange(0, std::memory_order_relaxed);  // others may be about to tell as well
  if (count == 0) return true;
  std::array<char, 128> text;
  const int size = std::snprintf(text.data(), text.size(), "sinew [warn] %llu lines are left out here: nobody read standard error\n",
                                 static_cast<unsigned long long>(count));
  const bool is_told = try_to_write(std::array{piece({text.data(), static_cast<std::size_t>(size)})});
  if (!is_told) left_out.fetch_add(count, std::memory_order_relaxed);
  return is_told;
}

// Pieces instead of one string: a line must come out also when memory is short.
void write_line(std::span<const iovec> pieces) noexcept {
  const Uncancellable whole;
  const int kept = errno;
  {
    const WithoutSigpipe unharmed;
    if (!tell_what_is_left_out() || !try_to_write(pieces)) left_out.fetch_add(1, std::memory_order_relaxed);
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

// What else is open of the same pipe or terminal must go on to wait, so it is opened once more.
void log_without_waiting() noexcept {
  may_wait.store(false, std::memory_order_relaxed);
  struct stat status{};
  const bool is_pipe = ::fstat(STDERR_FILENO, &status) == 0 && S_ISFIFO(status.st_mode);
  if (!is_pipe && ::isatty(STDERR_FILENO) == 0) return;
  const int fd = ::open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd >= 0) output.store(fd, std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view text) noexcept {
  if (level == LogLevel::off || level > log_level()) return;
  if (!may_wait.load(std::memory_order_relaxed)) text = text.substr(0, longest_at_once);
  write_line(std::array{piece("sinew ["), piece(names[static_cast<std::size_t>(level)]), piece("] "), piece(text), piece("\n")});
}

}  // namespace sinew::base
