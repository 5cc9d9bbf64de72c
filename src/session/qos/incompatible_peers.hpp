// The peers that a publisher or a subscriber is not connected to, because one side asks for more than the other offers, or for whatever else is in the way.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <string>

#include "sinew/events.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class IncompatiblePeers {
 public:
  /// Of an interface of `node` on `topic` that offers, or asks for, `own`.
  IncompatiblePeers(std::string topic, std::string node, const wire::Qos& own);

  /// Counts the peer, unless another manager has told of it before, and logs what is in the way and what to do, once for each node and reason; after 64 of them no more for a minute. On the loop's thread.
  void add(const wire::Incompatible& peer);
  /// Logs what else is in the way, which comes again with each introduction, once for each text, likewise. On the loop's thread.
  void say(const std::string& text);
  /// An introduction to this node was lost. True for the first one since one was not. On the loop's thread.
  bool lost(const std::string& node);
  void met(const std::string& node) { lost_.erase(node); }
  const std::string& topic() const noexcept { return topic_; }
  /// The last one, and how many there were. Any thread.
  IncompatibleQosEvent last() const;
  /// Any thread.
  std::uint64_t count() const noexcept { return count_.load(std::memory_order_acquire); }  // sync: COUNTED (with add)

 private:
  const wire::Qos& offered(const wire::Incompatible& peer) const noexcept { return peer.you_publish ? own_ : peer.qos; }
  const wire::Qos& asked(const wire::Incompatible& peer) const noexcept { return peer.you_publish ? peer.qos : own_; }
  std::string text_about(const wire::Incompatible& peer) const;

  const std::string topic_, node_;
  const wire::Qos own_;
  // pair COUNTED: who sees a peer counted finds it in the log, unless there were too many.
  std::atomic<std::uint64_t> count_{0};
  std::set<std::uint64_t> counted_;  // by their identities
  std::set<std::string> said_, lost_;
  std::int64_t full_since_ = 0;
  mutable std::mutex mutex_;
  wire::Incompatible last_;  // guarded by mutex_
};

}  // namespace sinew::session
