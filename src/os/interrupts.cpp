#include "os/interrupts.hpp"

#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "os/call.hpp"

namespace sinew::os {
namespace {

// What follows is set before the signals lead to who reads it.
void (*on_interrupt)() noexcept = nullptr;
constexpr int signals[] = {SIGINT, SIGTERM};
struct sigaction before[2]{};  // what each of `signals` did

bool is_handled(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

// Only while Interrupts lives.
void interrupted(int signal, siginfo_t* info, void* context) {
  struct sigaction by_default{};
  by_default.sa_handler = SIG_DFL;
  for (std::size_t i = 0; i < std::size(signals); ++i) {
    struct sigaction is{};
    if (::sigaction(signals[i], nullptr, &is) != 0 || (is.sa_flags & SA_SIGINFO) == 0 || is.sa_sigaction != &interrupted) continue;
    // Who ignored it did not know of us: whoever asks again is obeyed.
    ::sigaction(signals[i], is_handled(before[i]) ? &before[i] : &by_default, nullptr);
  }
  on_interrupt();
  const struct sigaction& its = before[signal == SIGINT ? 0 : 1];
  if (!is_handled(its)) return;
  if ((its.sa_flags & SA_SIGINFO) != 0) {
    its.sa_sigaction(signal, info, context);
  } else {
    its.sa_handler(signal);
  }
}

std::optional<struct sigaction> lead(int signal, bool wanted) noexcept {
  if (!wanted) return std::nullopt;
  struct sigaction& its = before[signal == SIGINT ? 0 : 1];
  ::sigaction(signal, nullptr, &its);  // these fail for signals that there are not only
  struct sigaction action{};
  action.sa_sigaction = &interrupted;
  action.sa_flags = SA_SIGINFO;
  ::sigaddset(&action.sa_mask, SIGINT);
  ::sigaddset(&action.sa_mask, SIGTERM);
  ::sigaction(signal, &action, nullptr);
  return its;
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
