// Big messages in datagrams: taken apart and put together again.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace sinew::bench::graphs {

/// What goes before the bytes of a datagram.
struct DatagramHead {
  std::uint32_t number;  ///< of the message
  std::uint32_t size;    ///< of the whole message
  std::uint32_t offset;  ///< of these bytes in it
};

inline constexpr std::size_t largest_datagram = 60'000;
inline constexpr std::size_t largest_piece = largest_datagram - sizeof(DatagramHead);

/// Calls `send(head, bytes)` for each datagram that the message takes.
template <class Send>
void take_apart(std::uint32_t number, std::span<const std::byte> message, Send send) {
  for (std::size_t offset = 0; offset < message.size(); offset += largest_piece) {
    const DatagramHead head{number, static_cast<std::uint32_t>(message.size()), static_cast<std::uint32_t>(offset)};
    send(head, message.subspan(offset, std::min(largest_piece, message.size() - offset)));
  }
}

/// Puts the messages of one sender together. Datagrams may get lost, but come in order, as on the loopback. A message of which one is missing is dropped.
class Assembly {
 public:
  Assembly() : bytes_(largest_piece) {}

  /// Where the bytes of the next datagram are to be received: behind those of the last, where they nearly always belong, so that they need no copy.
  std::span<std::byte> place() { return {bytes_.data() + filled_, largest_piece}; }

  /// After a datagram with `got` bytes was received there. Returns the message when it is complete, valid until the next call.
  std::optional<std::span<const std::byte>> add(const DatagramHead& head, std::size_t got) {
    if (head.offset == 0 && filled_ != 0) {
      std::memmove(bytes_.data(), bytes_.data() + filled_, got);
      filled_ = 0;
    }
    const bool expected = head.offset == filled_ && (head.offset == 0 || head.number == number_) && filled_ + got <= head.size;
    if (!expected) {
      filled_ = 0;
      return std::nullopt;
    }
    number_ = head.number;
    filled_ += got;
    if (filled_ == head.size) {
      filled_ = 0;
      return std::span<const std::byte>(bytes_.data(), head.size);
    }
    if (bytes_.size() < filled_ + largest_piece) bytes_.resize(filled_ + largest_piece);
    return std::nullopt;
  }

  /// Whether a message has begun to arrive.
  bool is_amid() const { return filled_ != 0; }

 private:
  std::vector<std::byte> bytes_;
  std::size_t filled_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace sinew::bench::graphs
