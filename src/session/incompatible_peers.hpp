// The peers that a publisher or a subscriber is not connected to, because one side asks for more than the other offers.
#pragma once

#include <atomic>
#include <cstdint>
#include <set>
#include <string>

#include "wire/messages.hpp"

namespace sinew::session {

class IncompatiblePeers {
 public:
  /// Of an interface of `node` on `topic` that offers, or asks for, `own`.
  IncompatiblePeers(std::string topic, std::string node, const wire::Quality& own);

  /// Counts the peer, and logs what is in the way and what to do, once for each node and reason. On the loop's thread.
  void add(const wire::Incompatible& peer);
  /// Any thread.
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::string text_about(const wire::Incompatible& peer) const;

  const std::string topic_, node_;
  const wire::Quality own_;
  std::atomic<std::uint64_t> count_{0};
  std::set<std::string> said_;
};

}  // namespace sinew::session
