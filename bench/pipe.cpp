#include "pipe.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace sinew::bench {

Pipe::Pipe() {
  if (pipe(ends_) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
}

Pipe::~Pipe() {
  close(ends_[0]);
  close_writer();
}

void Pipe::say(Word word) const {
  while (write(ends_[1], &word, 1) < 0 && errno == EINTR) {
  }
}

Word Pipe::hear(std::int64_t timeout_ms, std::span<const int> processes) const {
  std::vector<pollfd> waiting{{ends_[0], POLLIN, 0}};
  for (const int process : processes) waiting.push_back({process, POLLIN, 0});
  if (poll(waiting.data(), waiting.size(), static_cast<int>(timeout_ms)) == 0) return Word::nothing;
  Word word = Word::failed;
  if ((waiting[0].revents & POLLIN) != 0 && read(ends_[0], &word, 1) != 1) return Word::failed;
  return word;
}

void Pipe::close_writer() {
  if (ends_[1] >= 0) close(ends_[1]);
  ends_[1] = -1;
}

void Pipe::wait_until_closed() const {
  char none;
  while (read(ends_[0], &none, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace sinew::bench
