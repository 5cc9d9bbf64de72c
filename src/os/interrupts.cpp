#include "os/interrupts.hpp"

#include <unistd.h>

#include <cerrno>

#include "os/call.hpp"

namespace sinew::os {
namespace {

void (*on_interrupt)() noexcept = nullptr;  // set before the signals lead to it

// Only while Interrupts lives, which knows what was wanted before.
struct sigaction by_default() noexcept {
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  return action;
}

void interrupted(int) {
  const struct sigaction action = by_default();
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction is{};
    if (::sigaction(signal, nullptr, &is) == 0 && is.sa_handler == &interrupted) ::sigaction(signal, &action, nullptr);
  }
  on_interrupt();
}

std::optional<struct sigaction> lead(int signal, bool wanted) noexcept {
  if (!wanted) return std::nullopt;
  struct sigaction action{}, before{};
  action.sa_handler = &interrupted;
  ::sigaddset(&action.sa_mask, SIGINT);
  ::sigaddset(&action.sa_mask, SIGTERM);
  ::sigaction(signal, &action, &before);  // fails for signals that there are not only
  return before;
}

}  // namespace

Interrupts::Interrupts(bool sigint, bool sigterm, void (*interrupted)() noexcept) noexcept {
  on_interrupt = interrupted;
  sigint_before_ = lead(SIGINT, sigint);
  sigterm_before_ = lead(SIGTERM, sigterm);
}

Interrupts::~Interrupts() {
  if (sigint_before_) ::sigaction(SIGINT, &*sigint_before_, nullptr);
  if (sigterm_before_) ::sigaction(SIGTERM, &*sigterm_before_, nullptr);
}

bool is_stderr_a_terminal() noexcept {
  const int kept = errno;
  const bool is = ::isatty(STDERR_FILENO) == 1;
  errno = kept;
  return is;
}

void write_to_stderr(const char* text, std::size_t size) noexcept {
  const int kept = errno;
  if (call(fault::Call::write, [&] { return ::write(STDERR_FILENO, text, size); }) < 0) {
    // Nowhere is left to say that stderr is closed or full.
  }
  errno = kept;
}

}  // namespace sinew::os
