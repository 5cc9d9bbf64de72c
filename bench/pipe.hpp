// How the processes of a cell and their coordinator talk: a byte at a time, or by closing.
#pragma once

#include <cstdint>
#include <span>

namespace sinew::bench {

/// What a process says to its coordinator.
enum class Word : char {
  nothing = 0,      ///< Never said: the time was over.
  ready = 'r',      ///< connected
  published = 'p',  ///< all messages sent
  arrived = 'a',    ///< all messages received
  failed = 'f',
};

class Pipe {
 public:
  /// Throws std::system_error.
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();

  int reader() const { return ends_[0]; }
  void say(Word word) const;
  /// The next word; `failed` when one of `processes` (pidfds) ended and nothing more is said; `nothing` when the time is over.
  Word hear(std::int64_t timeout_ms, std::span<const int> processes) const;
  /// Each process that holds the writing end has to close it.
  void close_writer();
  void wait_until_closed() const;

 private:
  int ends_[2];
};

}  // namespace sinew::bench
