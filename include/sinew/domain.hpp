// What there is in a domain: nodes, topics, their publishers and subscribers, and the way that messages go between them.
//
//   sinew::DomainState state = node->domain_state();                       // as it is now
//   auto watch = node->watch_domain([&](const sinew::DomainUpdate& update) { apply(update, state); });  // and from now on
//
// All structures here are messages, which a program may publish as any other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sinew/error.hpp"
#include "sinew/ghost.hpp"
#include "sinew/message_info.hpp"

namespace sinew {

// Nodes, topics and endpoints have ids, which are unique among all three, and never used again while the manager lives. The next manager gives others.

struct DomainNode {
  std::uint64_t id = 0;
  std::string name;
  std::int64_t pid = 0;  ///< as the manager sees it; 0: in a container that it cannot see into
  std::uint32_t uid = 0, gid = 0;
  std::string container;  ///< the container's name, or the first digits of its id; empty: none, the manager's own, or unknown
};

struct DomainTopic {
  std::uint64_t id = 0;
  std::string name;    ///< those of the service `sum` are "sum@request" and "sum@response", see services_of()
  std::string type;    ///< its name, "robot/Image"
  std::string schema;  ///< what it consists of, "robot/Image{width:uint32;...}"
  std::array<std::uint8_t, 16> hash{};
};

/// What a publisher offers, or a subscriber asks for. See Qos; durations in nanoseconds, 0: none.
struct DomainQos {
  std::uint32_t depth = 0;  ///< 0: keep all
  bool reliable = false, transient_local = false;
  std::int64_t deadline = 0, lifespan = 0;
  bool manual_by_topic = false;  ///< Liveliness::manual_by_topic; else automatic
  std::int64_t lease = 0;
};

/// A publisher or a subscriber.
struct DomainEndpoint {
  std::uint64_t id = 0;
  std::uint64_t node = 0, topic = 0;  ///< ids; topic 0: it is a ghost whose topic is gone
  bool publishes = false;
  Ghost ghost = Ghost::no;
  DomainQos qos;
  std::uint64_t memory =
      0;  ///< of a publisher: bytes of shared memory that it has mapped, as of its last message that needed more or less of it
};

/// A publisher and a subscriber of one topic. It goes with either of them, or when either is on no topic any more.
struct DomainPair {
  std::uint64_t publisher = 0, subscriber = 0;  ///< ids of endpoints
  bool connected = false;                       ///< else `why` says what is in the way
  Delivery delivery = Delivery::native;         ///< how messages come, when connected
  std::string why;                              ///< why not by Delivery::native or pointer, as a sentence
};

/// What has come or changed, as it is now, and what is gone.
struct DomainUpdate {
  bool anew = false;      ///< forget what updates before have told: this begins from nothing, as the first one does
  bool complete = false;  ///< with this, everything has been told; there may be some updates before the first that is
  std::vector<DomainNode> nodes{};
  std::vector<DomainTopic> topics{};
  std::vector<DomainEndpoint> endpoints{};
  std::vector<DomainPair> pairs{};
  std::vector<std::uint64_t> gone{};  ///< ids of nodes, topics and endpoints; of some nothing may have been told
  std::vector<std::uint64_t> lost{};  ///< of those, nodes that did not leave: they have died, or lost their manager and come again
};

/// Each in the order of the ids.
struct DomainState {
  std::vector<DomainNode> nodes{};
  std::vector<DomainTopic> topics{};
  std::vector<DomainEndpoint> endpoints{};
  std::vector<DomainPair> pairs{};
};

/// Brings `state` up to date; begins from nothing where the update does. Throws std::bad_alloc; then `state` is to be thrown away.
SINEW_API void apply(const DomainUpdate& update, DomainState& state);

/// What a publisher has counted since it was created.
struct DomainPublisherCounts {
  std::uint64_t publisher = 0;  ///< id of the endpoint
  /// Stays when its node registers anew, as after the end of the manager, whereas the id is another one then, and its old one may be somebody else's: by this, what was counted at another moment is found.
  std::uint64_t identity = 0;
  std::uint64_t messages = 0, bytes = 0;
  std::uint64_t bytes_copied = 0;    ///< while publishing
  std::uint64_t bytes_exported = 0;  ///< for readers of other users
  std::uint64_t refused = 0;         ///< messages that were not published: no memory, or a reliable subscriber held the publisher back
  std::uint64_t withdrawn = 0;       ///< messages taken back for want of memory before all had taken them
  std::int64_t newest = 0;           ///< when the newest was published, CLOCK_MONOTONIC nanoseconds; 0: none was
};

/// What a subscriber has counted of one publisher since they were connected.
struct DomainPairCounts {
  std::uint64_t publisher = 0, subscriber = 0;  ///< ids of endpoints
  /// As `identity` of DomainPublisherCounts. A pair that is connected anew has the same ones, and counts from 0; while messages of the connection before are held, that one is told of as well.
  std::uint64_t publisher_identity = 0, subscriber_identity = 0;
  std::uint64_t messages = 0;       ///< received
  std::uint64_t missed = 0;         ///< lost: pushed out by newer ones, or withdrawn
  std::uint64_t withdrawn = 0;      ///< of those, by a publisher whose memory was full
  std::uint64_t expired = 0;        ///< older than their lifespan
  std::uint64_t skipped = 0;        ///< not wanted: every n-th, or a rate
  std::uint64_t over_quota = 0;     ///< copied since the subscriber holds too much
  std::uint64_t bytes_copied = 0;   ///< by the subscriber, while receiving
  std::uint64_t held = 0;           ///< messages whose memory the subscriber keeps from being used again, now
  std::uint64_t latency_total = 0;  ///< nanoseconds of all in `latency`
  /// How many messages took so long from being published to being received. Of those that are published within a millisecond of each other one counts. Bucket 2n is [512 * 2^n ns, 768 * 2^n ns), bucket 2n + 1 from there to
  /// 1024 * 2^n ns; the first also has what took less, the last what took longer. Numbers begin again from 0 after 2^32 - 1.
  std::array<std::uint32_t, 48> latency{};
};

/// In the order of the ids of publishers, then of subscribers.
struct DomainCounts {
  std::vector<DomainPublisherCounts> publishers{};
  std::vector<DomainPairCounts> pairs{};
};

/// A service: two topics, which its clients and providers publish on and subscribe to.
struct DomainService {
  std::string name;
  std::uint64_t requests = 0,
                responses = 0;  ///< ids of the topics; 0 for a moment while the first client or provider comes or the last one goes
  std::vector<std::uint64_t> clients, providers;  ///< ids of their nodes, once for each client or provider
};
/// In the order of their names.
SINEW_API std::vector<DomainService> services_of(const DomainState& state);

}  // namespace sinew
