#include "session/io/channel.hpp"

#include <memory>
#include <span>

#include "base/log.hpp"
#include "session/fork.hpp"

namespace sinew::session {
namespace {

// What keeping a packet costs beside its bytes; and a descriptor weighs more than it has, since there are fewer of them.
constexpr std::size_t packet_weight = 64;
constexpr std::size_t descriptor_weight = 16 * 1024;

// Never destroyed: handles that the program keeps in statics outlive every static of the library.
const std::vector<std::byte>& word_of_shortage() {
  static const auto* const packet = new std::vector<std::byte>(wire::encode(wire::ErrorText{0, "there was no memory to go on"}));
  return *packet;
}

}  // namespace

std::string reason_of(const std::exception& why) {
  const bool is_violation = dynamic_cast<const Violation*>(&why) != nullptr && dynamic_cast<const Farewell*>(&why) == nullptr;
  return (is_violation ? "it broke the protocol: " : "") + std::string(why.what());
}

Channel::Channel(os::Fd socket, std::size_t limit) : socket_(std::move(socket)), limit_(limit) {
  word_of_shortage();  // is there when it is wanted
  close_in_child(socket_.get());
}

Channel::~Channel() {
  forget_in_child(socket_.get());
  if (!forked()) os::close_connection(std::move(socket_));
}

std::size_t Channel::Packet::weight() const noexcept {
  return packet_weight + bytes.size() + descriptors.size() * descriptor_weight;
}

// What was not sent waits for the socket to have room; or, since a shortage of the kernel's passes without any event, for a pause.
void Channel::wake_when_locked(os::SendResult result) {
  if (!loop_) return;
  const bool shortage = result == os::SendResult::shortage, full = result == os::SendResult::would_block;
  loop_->wake_writer(socket_, watch_, shortage ? IoLoop::Wake::after_pause : full ? IoLoop::Wake::when_writable : IoLoop::Wake::never);
}

void Channel::send(const wire::Message& message, std::span<const int> descriptors) {
  std::vector<std::byte> bytes = wire::encode(message);
  const std::lock_guard lock(mutex_);
  auto result = os::SendResult::sent;
  if (queue_.empty()) {
    result = os::send_packet(socket_, bytes, descriptors);
    if (result == os::SendResult::sent || result == os::SendResult::closed) return;
  }
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
  const std::size_t weight = packet.weight();
  if (weight > limit_ - queued_) throw Violation("it does not read what it is sent");
  queue_.push_back(std::move(packet));
  queued_ += weight;
  if (queue_.size() > 1) return;
  try {
    wake_when_locked(result);
  } catch (...) {  // who tries again would send it twice
    queue_.pop_back();
    queued_ -= weight;
    throw;
  }
}

bool Channel::try_send(const wire::Message& message) noexcept {
  try {
    send(message);
    return true;
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, error.what());
    return false;
  }
}

void Channel::complain(const char* why) noexcept {
  try {
    return send(wire::ErrorText{0, why});
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, error.what());
  }
  try {
    const std::lock_guard lock(mutex_);
    os::send_packet(socket_, word_of_shortage(), {});  // past what waits, which the peer has no use for after this
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, error.what());
  }
}

bool Channel::flush() {
  const std::lock_guard lock(mutex_);
  auto result = os::SendResult::sent;
  while (!queue_.empty()) {
    std::vector<int> descriptors;
    for (const os::Fd& fd : queue_.front().descriptors) descriptors.push_back(fd.get());
    result = os::send_packet(socket_, queue_.front().bytes, descriptors);
    if (result == os::SendResult::would_block || result == os::SendResult::shortage) break;
    queued_ -= queue_.front().weight();
    queue_.pop_front();
  }
  wake_when_locked(result);
  return queue_.empty();
}

void Channel::watch(IoLoop& loop, std::weak_ptr<IoLoop::Handler> handler) {
  const std::lock_guard lock(mutex_);
  watch_ = loop.watch(socket_, std::move(handler));
  loop_ = &loop;
  // What was queued before shows itself now, whatever it waits for.
  if (!queue_.empty()) wake_when_locked(os::SendResult::would_block);
}

void Channel::unwatch() noexcept {
  const std::lock_guard lock(mutex_);
  if (!loop_) return;
  loop_->unwatch(socket_, watch_);
  loop_ = nullptr;
}

std::optional<Channel::Input> Channel::receive(bool bears_loss) {
  thread_local const auto memory = std::make_unique_for_overwrite<std::byte[]>(os::max_packet);  // most of it is never touched
  const std::span buffer(memory.get(), os::max_packet);
  os::Received received = os::receive_packet(socket_, buffer);
  switch (received.kind) {
    case os::Received::Kind::would_block:
      return std::nullopt;
    case os::Received::Kind::closed:
      state_ = State::closed;
      return std::nullopt;
    case os::Received::Kind::malformed:
      throw Violation("a packet was cut off or carried too many descriptors");
    case os::Received::Kind::no_room:
      if (bears_loss) break;
      throw Shortage(
          "the process that was sent a descriptor has no room for it: raise its limit (ulimit -n), or let it have fewer publishers and "
          "subscribers");
    case os::Received::Kind::packet:
      break;
  }
  auto decoded = wire::decode(buffer.first(received.size));
  if (const auto* complaint = std::get_if<wire::Complaint>(&decoded)) throw Violation(complaint->text);
  const bool lost = received.kind == os::Received::Kind::no_room;
  Input input{std::get<wire::Message>(std::move(decoded)), std::move(received.descriptors), received.credentials, lost};
  if (lost) return input;
  if (const std::size_t expected = wire::descriptors_of(input.message); input.descriptors.size() != expected) {
    throw Violation(std::string(wire::name_of(input.message)) + " came with " + std::to_string(input.descriptors.size()) +
                    " descriptors, not " + std::to_string(expected));
  }
  return input;
}

}  // namespace sinew::session
