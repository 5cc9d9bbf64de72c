// Quality of service: what a publisher offers and a subscriber asks for.
#pragma once

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "sinew/detail/never.hpp"

namespace sinew {

/// How a publisher shows that it is alive.
enum class Liveliness {
  automatic,        ///< its process answers for it
  manual_by_topic,  ///< it must publish, or call assert_liveliness(), within the lease
};

/// The word above, "automatic".
constexpr const char* to_string(Liveliness liveliness) noexcept {
  constexpr std::array names = {"automatic", "manual_by_topic"};
  const auto index = static_cast<std::size_t>(liveliness);
  return index < names.size() ? names[index] : "unknown";
}

/// What a publisher offers, or a subscriber asks for. A value; every setter returns the object itself: `sinew::Qos{}.keep_last(10).reliable()`.
///
/// Where a publisher offers less than a subscriber asks for, the two are not connected: both count it in statistics().incompatible, and log the policy, both values and what to
/// do (SINEW_LOG, which is `warn` unless set). As in DDS, this is so for reliability, durability, deadline and liveliness; each setter says when. History and lifespan are each side's own. The defaults of both sides fit.
///
/// create_publisher and create_subscriber throw Error(invalid_argument) on a value out of range.
///
/// Who wants to be told of peers, losses, missed deadlines and silent publishers sets handlers: sinew/events.hpp.
class Qos {
 public:
  constexpr Qos() noexcept = default;
  /// Not to be used: a depth alone, as ROS 2 has it, says too little.
  template <std::integral Depth>
  Qos(Depth) {
    static_assert(detail::never<Depth>,
                  "sinew: a depth is no Qos: write sinew::Qos{}.keep_last(10), with .reliable() as ROS 2 has it by default");
  }

  // --- history: how much is kept for a subscriber that is slower than its publisher ---

  /// Keep the newest `depth` messages per publisher; older ones that were not taken yet are lost, and counted as missed. Range 1 to 512; the default is 8.
  /// A subscriber of another user finds the newest 8 at most, and holds no publisher back, whatever the two have agreed on.
  constexpr Qos& keep_last(std::uint32_t depth) noexcept {
    depth_ = depth;
    keep_all_ = false;
    return *this;
  }
  /// Lose nothing that was published. With reliable(), on both sides, a publisher that is ahead by the ring's length (1024 messages) waits for the subscriber, at most PublisherOptions::max_blocking, which is 100 ms unless set;
  /// then publish() returns PublishResult::would_block, and that message is nobody's: no subscriber counts it as missed, only the publisher does (PublisherStatistics::refused), and logs it once. Look at what publish()
  /// returns, or wait for ever with nanoseconds::max(), but not on the execution thread that runs that subscriber's callback, which would wait for itself. Without reliable() the ring's length is the depth.
  constexpr Qos& keep_all() noexcept {
    keep_all_ = true;
    return *this;
  }

  // --- reliability ---

  /// A publisher offers, or a subscriber asks for, messages that are not lost while they are kept; on one machine this matters only for a subscriber that keeps all: a reliable publisher, whatever it keeps, waits for a reliable one.
  /// Incompatible: a best-effort publisher with a reliable subscriber.
  constexpr Qos& reliable() noexcept {
    reliable_ = true;
    return *this;
  }
  /// The default: a slow subscriber never holds a publisher back.
  constexpr Qos& best_effort() noexcept {
    reliable_ = false;
    return *this;
  }

  // --- durability: what a subscriber gets of the messages that were published before it came ---

  /// The publisher keeps its newest messages, as many as its depth (512 with keep_all()), as long as it lives; a subscriber that asks for it gets them first, at most its own
  /// depth of each publisher (8 of one of another user), then what comes: no gap, nothing twice. What several publishers have kept comes in the order of publication; it waits half a second at most for
  /// those that were there before. Messages are kept in the memory of the publisher, by pointer as long as only its own process reads them; when memory is short they
  /// are withdrawn as WhenFull says, and a subscriber that comes late counts them as missed. Incompatible: a volatile publisher with a transient-local subscriber.
  constexpr Qos& transient_local() noexcept {
    transient_local_ = true;
    return *this;
  }
  /// The default: nothing; the first message is one that is published after they have connected.
  constexpr Qos& volatile_() noexcept {  // NOLINT(readability-identifier-naming): the word itself is taken
    transient_local_ = false;
    return *this;
  }

  // --- time; every duration is above 0 and at most 100 years ---

  /// The publisher promises, or the subscriber wishes, that no two messages are further apart than this; for a subscriber those of all its publishers together, whether it takes them or not. Both
  /// sides count every whole period that passes without one (deadlines_missed, DeadlineMissedEvent), from the first message on, also when the publisher is gone, and those in which their own
  /// process stood still, unless a publisher of another one ends the gap before it goes on; what comes late is delivered all the same. Counted by a timer of the node, and by publishers in its process, so to a
  /// millisecond or what the machine's load makes of it; one message that is late by less is not noticed. Default: none. Incompatible: a publisher that promises nothing, or longer, with a subscriber that wishes for it.
  constexpr Qos& deadline(std::chrono::nanoseconds longest) noexcept {
    deadline_ = longest;
    return *this;
  }
  /// Messages of this publisher that are older than this when they would be taken are not delivered, and counted in SubscriberStatistics::expired. Of a subscriber it means nothing. Default: they never are too old.
  constexpr Qos& lifespan(std::chrono::nanoseconds longest) noexcept {
    lifespan_ = longest;
    return *this;
  }
  /// The publisher promises to show itself alive in this way at least once in every `lease`, or the subscriber wishes that it does. A subscriber takes a publisher for not alive (publishers_not_alive,
  /// LivelinessChangedEvent) when no sign came for the lease that the publisher offers, and for alive again with the next one; messages are delivered all the same. The end of the publisher or of its
  /// process is noticed at once, without any lease. Automatic: the library gives the sign three times in a lease, so this tells of a process that is stopped, or of a machine that is too busy; by
  /// topic: see Liveliness. A lease of less than 10 ms counts as 10 ms. Default: automatic, without a lease. Incompatible: an automatic publisher with a by-topic subscriber, and a longer lease, or none, of the publisher.
  constexpr Qos& liveliness(Liveliness kind, std::chrono::nanoseconds lease) noexcept {
    liveliness_ = kind;
    lease_ = lease;
    return *this;
  }

  constexpr std::uint32_t depth() const noexcept { return depth_; }
  constexpr bool keeps_all() const noexcept { return keep_all_; }
  constexpr bool is_reliable() const noexcept { return reliable_; }
  constexpr bool is_transient_local() const noexcept { return transient_local_; }
  // Nothing: there is none.
  constexpr std::optional<std::chrono::nanoseconds> deadline() const noexcept { return deadline_; }
  constexpr std::optional<std::chrono::nanoseconds> lifespan() const noexcept { return lifespan_; }
  constexpr Liveliness liveliness() const noexcept { return liveliness_; }
  constexpr std::optional<std::chrono::nanoseconds> lease() const noexcept { return lease_; }

 private:
  std::uint32_t depth_ = 8;
  bool keep_all_ = false;
  bool reliable_ = false;
  bool transient_local_ = false;
  Liveliness liveliness_ = Liveliness::automatic;
  std::optional<std::chrono::nanoseconds> deadline_, lifespan_, lease_;
};

}  // namespace sinew
