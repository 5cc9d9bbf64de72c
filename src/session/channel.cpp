#include "session/channel.hpp"

#include "session/fork.hpp"
#include "sinew/error.hpp"

namespace sinew::session {

Channel::Channel(os::Fd socket) : socket_(std::move(socket)) {
  close_in_child(socket_.get());
}

Channel::~Channel() {
  forget_in_child(socket_.get());
}

// A shortage of the kernel's passes: the message waits, as it does while the socket is full.
os::SendResult Channel::try_send(std::span<const std::byte> bytes, std::span<const int> descriptors) const {
  try {
    return os::send_packet(socket_, bytes, descriptors);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::exhausted) throw;
    return os::SendResult::would_block;
  }
}

void Channel::send(const wire::Message& message, std::span<const int> descriptors) {
  std::vector<std::byte> bytes = wire::encode(message);
  const std::lock_guard lock(mutex_);
  if (queue_.empty() && try_send(bytes, descriptors) != os::SendResult::would_block) return;
  Packet packet{std::move(bytes), {}};
  for (const int fd : descriptors) {
    os::Fd borrowed(fd);
    try {
      packet.descriptors.push_back(borrowed.duplicate());
    } catch (...) {
      (void)borrowed.release();
      throw;
    }
    (void)borrowed.release();
  }
  queue_.push_back(std::move(packet));
  if (queue_.size() == 1 && when_blocked_) when_blocked_(true);
}

void Channel::when_blocked(std::function<void(bool)> callback) {
  const std::lock_guard lock(mutex_);
  when_blocked_ = std::move(callback);
  if (!queue_.empty() && when_blocked_) when_blocked_(true);
}

void Channel::flush() {
  const std::lock_guard lock(mutex_);
  while (!queue_.empty()) {
    std::vector<int> descriptors;
    for (const os::Fd& fd : queue_.front().descriptors) descriptors.push_back(fd.get());
    if (try_send(queue_.front().bytes, descriptors) == os::SendResult::would_block) return;
    queue_.pop_front();
  }
  if (when_blocked_) when_blocked_(false);
}

std::optional<Channel::Input> Channel::receive() {
  thread_local std::vector<std::byte> buffer(os::max_packet);
  os::Received received = os::receive_packet(socket_, buffer);
  switch (received.kind) {
    case os::Received::Kind::would_block:
      return std::nullopt;
    case os::Received::Kind::closed:
      state_ = State::closed;
      return std::nullopt;
    case os::Received::Kind::malformed:
      throw Violation("a packet was cut off or carried too many descriptors");
    case os::Received::Kind::packet:
      break;
  }
  auto decoded = wire::decode(std::span(buffer).first(received.size));
  if (const auto* complaint = std::get_if<wire::Complaint>(&decoded)) throw Violation(complaint->text);
  Input input{std::get<wire::Message>(std::move(decoded)), std::move(received.descriptors), received.credentials};
  if (const std::size_t expected = wire::descriptors_of(input.message); input.descriptors.size() != expected) {
    throw Violation(std::string(wire::name_of(input.message)) + " came with " + std::to_string(input.descriptors.size()) +
                    " descriptors, not " + std::to_string(expected));
  }
  return input;
}

}  // namespace sinew::session
