// What a service's client and provider know each other by, and are told of each other (spec/services.md).
#pragma once

#include <cstdint>

namespace sinew::session {

/// Where the reader with an endpoint is.
enum class Reach : std::uint8_t {
  nobody,        ///< there is none, or not any more
  this_process,  ///< messages go to it by pointer
  same_user,     ///< they go through the window
  other_user,    ///< they are copied for it alone
};

struct Peer {
  std::uint64_t endpoint = 0;
  Reach reach = Reach::nobody;
};

/// What is sent to a reader has a number: that of the connection that it goes over, from 1 on, and its place among what goes over it. A reader that is cut off for want of something is connected anew, and what it
/// had taken before says nothing of what it is sent then.
constexpr std::uint64_t number_of(std::uint64_t connection, std::uint64_t place) noexcept {
  return connection << 40 | place;
}
/// Whether it may have been taken, where beyond `taken` nothing was of what went over that connection. 0: its number is unknown.
constexpr bool may_be_taken(std::uint64_t number, std::uint64_t taken) noexcept {
  return number == 0 || number >> 40 != taken >> 40 || number <= taken;
}

/// Told by the publisher and the subscription of an endpoint. On any thread, also under their mutexes and those of others: a call only notes down what it is told.
class EndpointWatcher {
 public:
  /// Peers may have come or gone.
  virtual void peers_changed() noexcept = 0;
  /// A connection with the reader of this endpoint is over. Of what was sent to it over that one, it has taken nothing beyond number `taken`. `is_here`: it is served over another one.
  virtual void peer_left(std::uint64_t endpoint, std::uint64_t taken, bool is_here) noexcept = 0;
  /// Nobody at this endpoint waits for the answer to its call any more.
  virtual void call_cancelled(std::uint64_t endpoint, std::uint64_t call) noexcept = 0;
  /// So many messages of this endpoint will never be taken, though it is still there; 0: all that it sends from now on.
  virtual void messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept = 0;

 protected:
  ~EndpointWatcher() = default;
};

}  // namespace sinew::session
