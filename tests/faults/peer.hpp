// The other side of every operation that is walked: a process in which nothing fails, and which must not notice.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "tests/system/action.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {

/// Offers "in" (publishes on order), "kept" (transient-local, with two messages), the service "work" and the action "move"; subscribes to "out".
class Peer {
 public:
  /// `stranger`: of another user, and then only with topics.
  explicit Peer(bool stranger = false);
  /// Has it do one thing, and gives what it says.
  std::string ask(const std::string& order);
  void tell(const std::string& order) { EXPECT_EQ(ask(order), "done") << order; }
  const Child& process() const { return child_; }
  void end() { child_.end(); }

 private:
  Child child_;
};

/// The same topic works both ways through this node: what a fault leaves behind is in nobody's way.
void expect_topics_to_work(Node& node, Peer& peer);
void expect_to_publish(Publisher<Sample>& publisher, Peer& peer);
void expect_to_receive(Subscriber<Sample>& subscriber, Peer& peer);
void expect_service_to_work(Node& node);

/// A node here, and a peer beside it, for all operations of a test.
class BesidePeer : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    peer_.emplace();
    node_ = Node::create("node");
  }
  void TearDown() override {
    node_.reset();
    if (peer_) peer_->end();
    Domain::TearDown();
  }

  std::optional<Peer> peer_;
  std::shared_ptr<Node> node_;
};

}  // namespace sinew::system
