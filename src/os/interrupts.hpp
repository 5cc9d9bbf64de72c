// Being asked to end by a person: Ctrl-C, or kill without a number.
#pragma once

#include <csignal>
#include <cstddef>
#include <optional>

namespace sinew::os {

/// While it lives, the first SIGINT or SIGTERM, of those that are wanted, calls `interrupted`, which may do only what is async-signal-safe, and the handler that was there before, if there was one; from then on both do what that handler
/// does, else what they do by default, so that whoever asks again is obeyed by the kernel. At most one at a time. When it is destroyed, the signals do again what they did before.
class Interrupts {
 public:
  Interrupts(bool sigint, bool sigterm, void (*interrupted)() noexcept) noexcept;
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

 private:
  std::optional<struct sigaction> sigint_before_, sigterm_before_;  // nothing: it is not wanted
};

/// Standard error leads to a person's terminal.
bool is_stderr_a_terminal() noexcept;
/// In one write(), if standard error takes that. Keeps errno.
void write_to_stderr(const char* text, std::size_t size) noexcept;

}  // namespace sinew::os
