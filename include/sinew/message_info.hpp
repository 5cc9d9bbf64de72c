// What comes with a received message, and what publishers and subscribers count.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "sinew/error.hpp"

namespace sinew {

/// How a message reached the subscriber. What a gateway brings from another machine comes in one of these ways, too: the gateway publishes it here.
enum class Delivery {
  pointer,  ///< same process, by address
  native,   ///< other process, read in place where it was built
  view,     ///< large arrays in place, the rest decoded
  copy,     ///< copied into this process
};

/// "pointer", "native", "view", "copy".
SINEW_API const char* to_string(Delivery delivery) noexcept;

/// CLOCK_MONOTONIC: comparable between all processes of one machine.
using Time = std::chrono::steady_clock::time_point;

struct MessageInfo {
  std::string publisher;       ///< name of the publishing node
  std::uint64_t sequence = 0;  ///< the publisher's count of messages, from 1
  Time source_time{};          ///< just before the message became visible to subscribers
  Time receive_time{};         ///< just before the callback was called, or take() returned
  Delivery delivery = Delivery::native;
  std::uint64_t missed = 0;  ///< messages of this publisher lost to this subscriber since the one delivered before
};

/// Counts since the publisher was created. A snapshot, not an atomic one.
struct PublisherStatistics {
  std::uint64_t published = 0;  ///< messages that subscribers could take
  std::uint64_t bytes =
      0;  ///< sizes of those that went into shared memory: the objects and all their storage. What goes by pointer only is not measured
  std::uint64_t bytes_copied =
      0;  ///< copied by publish(), for other processes and for subscribers of this one: the whole message for publish(const T&), for a loan only storage that was not built inside the loan, and what each here that takes std::unique_ptr gets. A message with maps is its stream, for other processes
  std::uint64_t bytes_exported = 0;     ///< beside these, copied for all subscribers of other users together
  std::uint64_t messages_repaired = 0;  ///< loans that had such storage
  std::string why_repaired;   ///< of the first of them, as a sentence: "field 'data' was built outside the loan"; empty when there was none
  std::uint64_t refused = 0;  ///< not published: no memory, held back by a reliable subscriber, a variant without a value, or null
  std::uint64_t withdrawn = 0;  ///< published messages that were taken back to make room before every subscriber had taken them (WhenFull)
  std::uint64_t subscribers = 0;    ///< connected now, ghosts, too: what is published from now on is for them
  std::uint64_t memory_mapped = 0;  ///< bytes of shared memory held now, without copies for other users
  std::uint64_t memory_in_use = 0;  ///< of these, in messages: loaned, kept for subscribers, or held by them
  std::uint64_t incompatible =
      0;  ///< subscribers that did not connect: they ask for more than is offered (Qos); the log says which and what
  std::uint64_t deadlines_missed = 0;  ///< periods of Qos::deadline without a message
  std::uint64_t liveliness_lost = 0;   ///< how often it did not show itself alive within its lease (Qos::liveliness)
  bool detached = false;               ///< it is a ghost, and its topic is gone
};

/// One subscriber, as its publisher sees it: who is slow, and who holds the publisher's memory for how long. Of one of another user nothing is known but its node: all numbers are 0. What one in this
/// process holds is not counted: its `held`, `bytes_held` and `held_for` are 0. Loans that it keeps lie in the publisher's memory, without a bound, and count in memory_in_use.
struct MatchedSubscriber {
  std::string node;                     ///< name of the subscribing node
  std::uint64_t received = 0;           ///< messages it has taken, as it counts itself
  std::uint64_t missed = 0;             ///< messages it has lost, likewise
  std::uint64_t waiting = 0;            ///< messages kept for it that it has yet to take
  std::uint64_t held = 0;               ///< messages that its process holds now
  std::uint64_t bytes_held = 0;         ///< their sizes together, which count towards memory_in_use
  std::chrono::nanoseconds held_for{};  ///< how long ago the oldest of them was published
};

/// One publisher, as its subscriber sees it: which way its messages come, and why that one.
struct MatchedPublisher {
  std::string node;                      ///< name of the publishing node
  Delivery delivery = Delivery::native;  ///< how its messages are read from now on; single ones are copied, see over_quota
  std::string why;                       ///< why they are not read in place, as a sentence; empty for Delivery::native
  std::uint64_t received = 0;            ///< messages taken from it
  std::uint64_t missed = 0;              ///< messages of it that were lost
  std::uint64_t bytes_copied = 0;        ///< copied or decoded on this side
  std::uint64_t over_quota = 0;          ///< messages copied because too many of it, or too large ones, were held (Subscriber)
  std::uint64_t held =
      0;  ///< messages that someone in this process still holds in its memory; 0 of a publisher of this process, and copies are none
};

/// Counts since the subscriber was created. A snapshot, not an atomic one.
struct SubscriberStatistics {
  std::uint64_t received = 0;   ///< messages handed to the callback or to take()
  std::uint64_t missed = 0;     ///< messages lost: pushed out by newer ones, or withdrawn
  std::uint64_t withdrawn = 0;  ///< of these, taken back by a publisher whose memory was full
  std::uint64_t skipped = 0;    ///< messages left out as SubscriberOptions::every and max_rate ask; not counted as missed
  std::uint64_t expired = 0;    ///< messages that were older than their publisher's lifespan when it was their turn; not counted as missed
  std::uint64_t bytes_copied = 0;  ///< copied or decoded on this side: for Delivery::copy and view, and for a std::unique_ptr to own
  std::uint64_t over_quota = 0;    ///< messages copied because too many of their publisher, or too large ones, were held (Subscriber)
  std::uint64_t rejected =
      0;  ///< messages not handed out, as they did not pass validation, or there was no memory for the callback's own; not counted as missed
  std::uint64_t publishers = 0;  ///< connected now: what they publish from now on is for this subscriber
  std::uint64_t held =
      0;  ///< messages that someone in this process still holds, as MatchedPublisher::held, of the publishers that are connected now
  std::uint64_t waiting =
      0;  ///< published for it, by who is connected or has gone, and neither taken nor counted as missed, skipped or expired so far
  std::uint64_t incompatible =
      0;  ///< publishers that did not connect: they offer less than is asked for (Qos); the log says which and what
  std::uint64_t deadlines_missed = 0;  ///< periods of Qos::deadline without a message of any publisher
  std::uint64_t publishers_alive = 0;  ///< of those connected now
  std::uint64_t publishers_not_alive =
      0;                  ///< of those connected now: they did not show themselves alive within their lease (Qos::liveliness)
  bool detached = false;  ///< it is a ghost, and its topic is gone
};

}  // namespace sinew
