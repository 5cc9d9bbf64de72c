// One end of a control connection by hand: messages, or bytes that are none.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/fd.hpp"
#include "os/socket.hpp"
#include "wire/messages.hpp"

namespace sinew::manager {

/// Whatever waits gives up after a minute and throws std::runtime_error.
class Talk {
 public:
  Talk() = default;
  explicit Talk(os::Fd socket) : socket_(socket.release()) {}  // what the manager sent is closed as one of our own

  /// Sends, waiting while the socket is full. False when the other end is closed.
  bool send(const wire::Message& message, const std::vector<int>& with = {}) { return send_bytes(wire::encode(message), with); }
  bool send_bytes(std::span<const std::byte> bytes, const std::vector<int>& with = {}) {
    for (;;) {
      switch (os::send_packet(socket_, bytes, with)) {
        case os::SendResult::sent:
          return true;
        case os::SendResult::closed:
          return false;
        case os::SendResult::shortage:
        case os::SendResult::would_block:
          wait(true);
      }
    }
  }
  /// The next message, its descriptors and who sent it; nothing at the end of the connection.
  std::optional<wire::Message> receive() {
    std::vector<std::byte> buffer(os::max_packet);
    for (;;) {
      os::Received received = os::receive_packet(socket_, buffer);
      if (received.kind == os::Received::Kind::would_block) {
        wait(false);
        continue;
      }
      if (received.kind != os::Received::Kind::packet) return std::nullopt;
      descriptors = std::move(received.descriptors);
      credentials = received.credentials;
      auto decoded = wire::decode(std::span(buffer).first(received.size));
      if (const auto* complaint = std::get_if<wire::Complaint>(&decoded)) throw std::runtime_error(complaint->text);
      return std::get<wire::Message>(std::move(decoded));
    }
  }
  /// The next message, which must be of this kind.
  template <class M>
  M expect() {
    auto message = receive();
    if (message && std::holds_alternative<M>(*message)) return std::get<M>(std::move(*message));
    ADD_FAILURE() << (message ? wire::name_of(*message) : "the end of the connection") << " came";
    return {};
  }
  /// Of the last message.
  std::vector<os::Fd> descriptors;
  std::optional<os::Credentials> credentials;
  void close() { socket_.reset(); }
  const os::Fd& socket() const { return socket_; }

 private:
  void wait(bool writable) const {
    os::Poller poller;
    os::Poller::Event event;
    poller.add(socket_, 0, writable);
    if (poller.wait({&event, 1}, os::now_ns() + 60'000'000'000) > 0) return;
    throw std::runtime_error(writable ? "the other end does not read" : "the other end says nothing");
  }

  os::Fd socket_;
};

}  // namespace sinew::manager
