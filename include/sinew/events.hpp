// What a program can be told of beside messages: peers that come and go, messages that were lost, promises that were not kept.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sinew/detail/language.hpp"

// A program sets the handlers it wants before it creates the publisher or the subscriber:
//
//   sinew::SubscriberOptions options;
//   options.events.matched = [](const sinew::MatchedEvent& event) { std::cout << event.current_count << " publishers\n"; };
//
// The events are the statuses of DDS under their ROS 2 names, and hold for peers in this process, in others, and of other users alike.
//
// * Where: on an execution thread, which the options of the publisher or subscriber name, one at a time with all other callbacks of that thread, so after one that is running. The thread exists
//   for events as it does for messages, also when the subscriber has no message callback. Never inside publish() or take().
// * Merged: what happens until a handler is called is told by one call. `total_...` and `current_...` are how things stand then, `..._change` says by how much they differ from what
//   the call before has told; before the first one, all is 0. A change that was undone meanwhile shows in the totals, or not at all. Nothing is queued.
// * A handler may destroy its publisher or subscriber, or the node. No handler is called any more when the destructor has returned; elsewhere than in a callback it waits for one that is
//   running. A handler may be called before create_publisher() or create_subscriber() has returned. An exception that leaves one ends the program.
// * The numbers are in statistics() as well, but for MatchedEvent::total_count, whether there is a handler or not.
namespace sinew {

/// A peer is connected, or is not any more: what is published from now on is for it, or from it.
struct MatchedEvent {
  std::uint64_t total_count = 0;  ///< peers that were ever connected; one that comes back counts again
  std::uint64_t total_count_change = 0;
  std::uint64_t current_count = 0;  ///< peers that are connected now
  std::int64_t current_count_change = 0;
};

/// A peer was not connected, because less is offered than is asked for (Qos). Where it is the subscriber's own, its `peer` is a publisher.
struct IncompatibleQosEvent {
  struct Policy {
    std::string name;       ///< "reliability", "durability", "deadline" or "liveliness"
    std::string offered;    ///< by the publisher, as text: "best_effort", "33 ms", "automatic with a lease of 1 s"
    std::string requested;  ///< by the subscriber
  };
  std::uint64_t total_count = 0;  ///< such peers
  std::uint64_t total_count_change = 0;
  std::string node;              ///< name of the last one's node
  std::vector<Policy> policies;  ///< that keep the last one apart; at least one
};

/// Qos::deadline: the publisher has not published for a whole period, or the subscriber's publishers together have not. Counts whole periods from the first message on, also while no
/// message comes at all: after two and a half, 2. Nothing counts as missed while the first message has yet to come; what a transient-local subscriber gets from before it came is not that.
struct DeadlineMissedEvent {
  std::uint64_t total_count = 0;  ///< periods
  std::uint64_t total_count_change = 0;
};

/// Qos::liveliness by topic: the publisher has neither published nor called assert_liveliness() for a whole lease, so that its subscribers take it as not alive. It is alive again when it does.
struct LivelinessLostEvent {
  std::uint64_t total_count = 0;  ///< how often it was lost
  std::uint64_t total_count_change = 0;
};

/// A publisher came and is alive, was silent for its lease (Qos::liveliness), showed itself alive again, or is gone. One that is gone, because it was destroyed, its process has ended
/// or the connection broke, counts in neither number; one without a lease is alive as long as it is connected.
struct LivelinessChangedEvent {
  std::uint64_t alive_count = 0;      ///< publishers that are connected and alive
  std::uint64_t not_alive_count = 0;  ///< publishers that are connected and silent for longer than their lease
  std::int64_t alive_count_change = 0;
  std::int64_t not_alive_count_change = 0;
  std::string node;  ///< name of the node of the one that changed last
};

/// Messages that this subscriber will not get. Told when it is noticed: by take(), or by the execution thread, when it looks for the next message. A handler makes take() ring that thread, with
/// one system call, when messages were lost.
struct MessageLostEvent {
  /// Messages lost for one reason.
  struct Count {
    std::uint64_t total_count = 0;
    std::uint64_t total_count_change = 0;
  };
  std::uint64_t total_count = 0;  ///< for all reasons together: SubscriberStatistics::missed and expired
  std::uint64_t total_count_change = 0;
  Count
      pushed_out;  ///< by newer ones, before they were taken: Qos::keep_last is less than the subscriber is behind. Also those, fewer, that could not be read or copied in time
  Count withdrawn;  ///< taken back by a publisher whose memory was full (WhenFull)
  Count expired;    ///< older than their publisher's Qos::lifespan when it was their turn
};

/// The publisher or subscriber is a ghost (PublisherOptions::ghost, SubscriberOptions::ghost), and its topic is gone, with the last publisher or subscriber of it that was none. From now on nothing is published by it, nor received that was not before, also when
/// others create that topic again; there a new ghost has to be made. Told once.
struct DetachedEvent {
  std::string topic;
};

/// Handlers of a publisher; an empty one is not called.
struct PublisherEvents {
  std::function<void(const MatchedEvent&)> matched{};  ///< subscribers
  std::function<void(const IncompatibleQosEvent&)> incompatible_qos{};
  std::function<void(const DeadlineMissedEvent&)> deadline_missed{};  ///< the offered one
  std::function<void(const LivelinessLostEvent&)> liveliness_lost{};
  std::function<void(const DetachedEvent&)> detached{};
};

/// Handlers of a subscriber; an empty one is not called.
struct SubscriberEvents {
  std::function<void(const MatchedEvent&)> matched{};  ///< publishers
  std::function<void(const IncompatibleQosEvent&)> incompatible_qos{};
  std::function<void(const DeadlineMissedEvent&)> deadline_missed{};  ///< the requested one
  std::function<void(const LivelinessChangedEvent&)> liveliness_changed{};
  std::function<void(const MessageLostEvent&)> message_lost{};
  std::function<void(const DetachedEvent&)> detached{};
};

}  // namespace sinew
