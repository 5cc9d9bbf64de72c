#include "session/qos/incompatible_peers.hpp"

#include <utility>

#include "base/log.hpp"
#include "os/clock.hpp"
#include "wire/compatibility.hpp"

namespace sinew::session {
namespace {

// Peers of ever new names must not fill the memory; then one may be told of, or counted, again.
constexpr std::size_t most_remembered = 64, most_counted = 4096;
// Nor the log, or keep this process busy with it.
constexpr std::int64_t pause_when_full = 60'000'000'000;

}  // namespace

IncompatiblePeers::IncompatiblePeers(std::string topic, std::string node, const wire::Qos& own)
    : topic_(std::move(topic)), node_(std::move(node)), own_(own) {}

void IncompatiblePeers::add(const wire::Incompatible& peer) {
  if (counted_.size() == most_counted) counted_.clear();
  if (peer.identity != 0 && !counted_.insert(peer.identity).second) return;
  say(text_about(peer));
  const std::lock_guard lock(mutex_);
  last_ = peer;
  count_.fetch_add(1, std::memory_order_release);  // sync: COUNTED (with count)
}

void IncompatiblePeers::say(const std::string& text) {
  if (said_.size() == most_remembered) {
    if (os::now_ns() - full_since_ < pause_when_full) return;
    said_.clear();
  }
  if (!said_.insert(text).second) return;
  base::log(base::LogLevel::warn, text);
  if (said_.size() < most_remembered) return;
  full_since_ = os::now_ns();
  base::log(base::LogLevel::warn, "topic '" + topic_ + "': so many nodes are in want of something that for a minute no more is said");
}

bool IncompatiblePeers::lost(const std::string& node) {
  if (lost_.size() == most_remembered) lost_.clear();
  return lost_.insert(node).second;
}

IncompatibleQosEvent IncompatiblePeers::last() const {
  const std::lock_guard lock(mutex_);
  IncompatibleQosEvent event{.total_count = count(), .node = last_.peer, .policies = {}};
  for (const wire::Policy policy : wire::incompatible_policies(offered(last_), asked(last_))) {
    wire::Terms terms = wire::terms_of(policy, offered(last_), asked(last_));
    event.policies.push_back({std::move(terms.name), std::move(terms.offered), std::move(terms.asked)});
  }
  return event;
}

std::string IncompatiblePeers::text_about(const wire::Incompatible& peer) const {
  std::string text = "topic '" + topic_ + "': the publisher of node '" + (peer.you_publish ? node_ : peer.peer) +
                     "' and the subscriber of node '" + (peer.you_publish ? peer.peer : node_) + "' are not connected.";
  for (const wire::Policy policy : wire::incompatible_policies(offered(peer), asked(peer))) {
    text += " " + wire::explain(policy, offered(peer), asked(peer)) + ". " + wire::terms_of(policy, offered(peer), asked(peer)).remedy;
  }
  return text;
}

}  // namespace sinew::session
