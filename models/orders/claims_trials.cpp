#include "trials.hpp"

#include <array>

#include "shm/fence.hpp"

namespace sinew::shm {
namespace {

/// The storage of a message is written over when it is retired and nobody claims it.
struct Reclaiming : Pair {
  checked::plain message{1};

  Reclaiming() { writer.publish(frame_of(1)); }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.retire(1);
      if (!is_claimed(1)) message.write(2);
    } else if (const auto claim = claims.claim_frame(1); claim.outcome == Claims::Outcome::claimed) {
      require(message.read() == 1, "a claimed message is written over");
      claims.release(claim.slot);
    }
  }
};

/// So is that of one that its reader must not lose: it stays until the cursor has passed it.
struct LosingNothing : Pair {
  checked::plain message{1};

  LosingNothing() { writer.publish(frame_of(1)); }
  void thread(std::size_t index) {
    if (index == 0) {
      if (reader.cursor() < 1) return;
      writer.retire(1);
      if (!is_claimed(1)) message.write(2);
    } else {
      const auto claim = claims.claim_frame(1);
      require(claim.outcome == Claims::Outcome::claimed, "a message is lost");
      claims.advance_cursor(1);
      require(message.read() == 1, "a claimed message is written over");
      claims.release(claim.slot);
    }
  }
};

/// With two readers both must have let go of it.
struct TwoReaders : Pair {
  static constexpr std::size_t threads = 3;
  AckPage other_page;
  PairCounts other_counts;
  const AckView other_reader{other_page};
  Claims other_claims{other_page, ring, other_counts};
  checked::plain message{1};

  TwoReaders() { writer.publish(frame_of(1)); }
  void read(Claims& own) {
    const auto claim = own.claim_frame(1);
    if (claim.outcome != Claims::Outcome::claimed) return;
    require(message.read() == 1, "a claimed message is written over");
    own.release(claim.slot);
  }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.retire(1);
      if (!is_claimed(1) && !is_claimed_by(other_reader, 1)) message.write(2);
    } else {
      read(index == 1 ? claims : other_claims);
    }
  }
};

/// One thread claims, another lets go.
struct LettingGoElsewhere : Pair {
  static constexpr std::size_t threads = 3;
  checked::plain message{1};
  checked::atomic<std::uint64_t> handed;

  LettingGoElsewhere() { writer.publish(frame_of(1)); }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.retire(1);
      if (!is_claimed(1)) message.write(2);
    } else if (index == 1) {
      const auto claim = claims.claim_frame(1);
      if (claim.outcome == Claims::Outcome::claimed) handed.store(claim.slot + 1, std::memory_order_release);
    } else if (const std::uint64_t slot = handed.load(std::memory_order_acquire); slot != 0) {
      require(message.read() == 1, "a claimed message is written over");
      claims.release(static_cast<std::uint32_t>(slot - 1));
    }
  }
};

/// So is that of one whose reader has let go of another message first: the same slot says two things, one after the other.
struct ReclaimingAgain : Pair {
  checked::plain message{1};

  ReclaimingAgain() {
    writer.publish(frame_of(1));
    writer.publish(frame_of(2));
  }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.retire(2);
      if (!is_claimed(2)) message.write(2);
    } else {
      for (const std::uint64_t sequence : {1, 2}) {
        const auto claim = claims.claim_frame(sequence);
        if (claim.outcome != Claims::Outcome::claimed) continue;
        if (sequence == 2) require(message.read() == 1, "a claimed message is written over");
        claims.release(claim.slot);
      }
    }
  }
};

/// An entry is replaced while its reader looks at it.
struct Replacing : Pair {
  Replacing() {
    writer.publish(frame_of(1));
    writer.publish(frame_of(2));
  }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.publish(frame_of(3));
    } else if (const auto claim = claims.claim_frame(1); claim.outcome == Claims::Outcome::claimed) {
      require_whole(claim.frame);
    }
  }
};

/// Who knows of a message by the head finds it, with what was written before.
struct Publishing : Pair {
  checked::plain message;

  void thread(std::size_t index) {
    if (index == 0) {
      message.write(1);
      writer.publish(frame_of(1));
    } else if (const std::uint64_t newest = claims.head(); newest != 0) {
      const auto claim = claims.claim_frame(newest);
      require(claim.outcome == Claims::Outcome::claimed, "what is published cannot be claimed");
      require_whole(claim.frame);
      require(message.read() == 1, "what is published has not been written");
    }
  }
};

/// Who knows of it by its entry, too: a skipped sequence is given its frame.
struct Filling : Pair {
  checked::plain message;

  Filling() { writer.skip_to(1); }
  void thread(std::size_t index) {
    if (index == 0) {
      message.write(1);
      writer.fill(1, frame_of(1));
    } else if (const auto claim = claims.claim_frame(1); claim.outcome == Claims::Outcome::claimed) {
      require_whole(claim.frame);
      require(message.read() == 1, "what is published has not been written");
    }
  }
};

/// A message's time is read without a claim: its own, or none.
struct Times : Pair {
  Times() {
    writer.publish(frame_of(1));
    writer.publish(frame_of(2));
  }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.publish(frame_of(3));
    } else if (const auto time = claims.source_time(1)) {
      require(*time == 1, "the time is another frame's");
    }
  }
};

/// The same, of one that is there a moment later.
struct TimesOfTheNew : Pair {
  void thread(std::size_t index) {
    if (index == 0) {
      writer.fill(1, frame_of(1));
    } else if (const auto time = claims.source_time(1)) {
      require(*time == 1, "the time has not been written");
    }
  }
};

/// The newest message's time, whichever that is, but not that of an empty entry.
struct NewestTime : Pair {
  NewestTime() { writer.fill(2, frame_of(2)); }  // in the entry of 0
  void thread(std::size_t index) {
    if (index == 0) {
      writer.fill(1, frame_of(1));
      writer.skip_to(1);
    } else {
      require(newest_source_time(ring) != 0, "the newest frame has no time");
    }
  }
};

/// Read again it is not that of a frame before, but for the one that is being replaced.
struct NewestTimes : Pair {
  NewestTimes() {
    for (std::uint64_t sequence = 1; sequence <= ring_capacity; ++sequence) writer.publish(frame_of(sequence));
  }
  void thread(std::size_t index) {
    if (index == 0) {
      for (std::uint64_t sequence = ring_capacity + 1; sequence <= 3 * ring_capacity; ++sequence) writer.publish(frame_of(sequence));
    } else {
      const std::int64_t first = newest_source_time(ring), second = newest_source_time(ring);
      require(second + 1 >= first, "the newest time goes back");
    }
  }
};

/// A handle is let go on another thread, after its last read. Who gets its slot next has a claim that nobody takes away.
template <bool reserved>
struct Slots : Pair {
  checked::plain message;
  checked::atomic<std::uint64_t> handed;

  Slots() {
    writer.publish(frame_of(1));
    if (!reserved) return;
    while (claims.claim_frame(1).outcome == Claims::Outcome::claimed) {
    }
  }
  void thread(std::size_t index) {
    if (index == 0) {
      const std::uint32_t slot = claims.claim_frame(1, reserved).slot;
      handed.store(slot + 1, std::memory_order_release);
      const auto next = claims.claim_frame(1, reserved);
      if (next.outcome != Claims::Outcome::claimed) return;
      if (next.slot == slot) message.write(1);
      require(page.claims[next.slot].load(std::memory_order_relaxed) == 1, "a claim was taken away by who had the slot before");
    } else if (const std::uint64_t slot = handed.load(std::memory_order_acquire); slot != 0) {
      message.write(2);
      claims.release(static_cast<std::uint32_t>(slot - 1));
    }
  }
};

/// A slot that another thread gives back, while one takes the next, is there again.
struct SlotsComeBack : Pair {
  checked::atomic<std::uint64_t> handed, done;

  SlotsComeBack() { writer.publish(frame_of(1)); }
  void thread(std::size_t index) {
    if (index == 0) {
      const std::uint32_t first = claims.claim_frame(1).slot;
      handed.store(first + 1, std::memory_order_release);
      if (claims.claim_frame(1).slot == first || done.load(std::memory_order_acquire) == 0) return;
      require(claims.claim_frame(1).slot == first, "a slot is lost");  // the lowest one
    } else if (const std::uint64_t slot = handed.load(std::memory_order_acquire); slot != 0) {
      claims.release(static_cast<std::uint32_t>(slot - 1));
      done.store(1, std::memory_order_release);
    }
  }
};

/// Strangers read what may be written over meanwhile, and look afterwards (session/publisher/export.cpp). The bytes are words here, since reading them is a race, which is borne.
struct Exporting : Pair {
  std::array<checked::atomic<std::uint64_t>, 2> stream;

  Exporting() { write(1); }
  void write(std::uint64_t sequence) {
    if (sequence > 1) writer.retire(sequence - 1);
    fence(std::memory_order_release);
    for (auto& byte : stream) byte.store(sequence, std::memory_order_relaxed);
    writer.publish(frame_of(sequence));
  }
  void thread(std::size_t index) {
    if (index == 0) {
      write(2);
    } else {
      const std::uint64_t newest = claims.head();
      if (claims.claim_frame(newest).outcome != Claims::Outcome::claimed) return;
      const std::uint64_t first = stream[0].load(std::memory_order_relaxed), second = stream[1].load(std::memory_order_relaxed);
      if (claims.is_still_there(newest)) require(first == newest && second == newest, "what a stranger has read is of two frames");
    }
  }
};

/// Who finds the version finds the rest.
struct Ready : Pair {
  checked::plain page_made;

  void thread(std::size_t index) {
    if (index == 0) {
      initialise(ring);
      page_made.write(1);
      initialise(page);
    } else {
      is_understood(ring);  // it looks at the capacity, too
      if (is_understood(page)) require(page_made.read() == 1, "a page is used before it is made");
    }
  }
};

}  // namespace

std::vector<Trial> trials_of_claims() {
  return {
      {"Reclaiming", run<Reclaiming>},
      {"ReclaimingAgain", run<ReclaimingAgain>},
      {"LosingNothing", run<LosingNothing>},
      {"TwoReaders", run<TwoReaders>},
      {"LettingGoElsewhere", run<LettingGoElsewhere>},
      {"Replacing", run<Replacing>},
      {"Publishing", run<Publishing>},
      {"Filling", run<Filling>},
      {"Times", run<Times>},
      {"TimesOfTheNew", run<TimesOfTheNew>},
      {"NewestTime", run<NewestTime>},
      {"NewestTimes", run<NewestTimes>},
      {"Slots", run<Slots<false>>},
      {"ReservedSlot", run<Slots<true>>},
      {"SlotsComeBack", run<SlotsComeBack>},
      {"Exporting", run<Exporting>},
      {"Ready", run<Ready>},
  };
}

}  // namespace sinew::shm
