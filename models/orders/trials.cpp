// Tries the memory orders of src/shm/ring.cpp and bell.cpp, which tools/orders.py compiles with checked::atomic in place of std::atomic and a ring of two entries: as they are, then each of them
// weakened. Prints a line for each; tools/orders.py says what is to be expected.
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <string_view>
#include <vector>

#include "atomic.hpp"
#include "litmus.hpp"
#include "shm/bell.hpp"
#include "shm/fence.hpp"
#include "shm/ring.hpp"

namespace sinew::shm {
namespace {

using checked::require;

// Each field says which frame it is of.
Frame frame_of(std::uint64_t sequence) {
  return {
      .root = sequence, .size = sequence, .source_time = static_cast<std::int64_t>(sequence), .newest_chunk = sequence, .pieces = sequence};
}
void require_whole(const Frame& frame) {
  require(frame.root == frame.sequence && frame.size == frame.sequence && frame.source_time == static_cast<std::int64_t>(frame.sequence) &&
              frame.newest_chunk == frame.sequence && frame.pieces == frame.sequence,
          "a claimed frame is put together from two");
}

/// A publisher and its reader.
struct Pair {
  RingLayout ring;
  AckPage page;
  RingWriter writer{ring};
  const Reader reader{page};
  Claims claims{page, ring};

  bool is_claimed(std::uint64_t sequence) {
    static std::vector<std::uint64_t> all;
    all.clear();
    reader.gather_claims(all);
    return std::ranges::count(all, sequence) > 0;
  }
};

/// An eventfd, which the kernel keeps in order.
struct Eventfd {
  checked::atomic<std::uint64_t> count;
  void ring() { count.fetch_add(1, std::memory_order_acq_rel); }
  void wait() { count.take(); }
};

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

/// A thread that sleeps when there is nothing is woken for each frame.
template <std::uint64_t frames>
struct Waking : Pair {
  BellWord word;
  Eventfd bell;

  void thread(std::size_t index) {
    if (index == 0) {
      Ringer ringer(word);
      for (std::uint64_t frame = 1; frame <= frames; ++frame) {
        writer.publish(frame_of(frame));
        if (ringer.must_ring()) bell.ring();
      }
    } else {
      Sleeper sleeper(word);
      for (;;) {
        sleeper.mark_awake();
        const std::uint64_t seen = claims.head();
        if (seen == frames) return;
        sleeper.mark_asleep();
        if (claims.head() == seen) bell.wait();
      }
    }
  }
};

/// A publisher that waits for space is woken when the cursor moves.
template <std::uint64_t frames>
struct Space : Pair {
  Eventfd space;

  void thread(std::size_t index) {
    if (index == 0) {
      Sleeper sleeper(ring.header.blocked);
      for (std::uint64_t wanted = 1; wanted <= frames; ++wanted) {
        while (reader.cursor() < wanted) {
          sleeper.mark_asleep();
          if (reader.cursor() < wanted) space.wait();
          sleeper.mark_awake();
        }
      }
    } else {
      Ringer ringer(ring.header.blocked);
      for (std::uint64_t frame = 1; frame <= frames; ++frame) {
        claims.advance_cursor(frame);
        if (ringer.must_ring()) space.ring();
      }
    }
  }
};

/// A thread that sleeps over a frame without pieces is woken when they are there. Who finds them finds what is in them.
struct Pieces : Pair {
  BellWord word;
  Eventfd bell;
  checked::plain table;

  Pieces() { writer.publish({.root = 1}); }
  void thread(std::size_t index) {
    if (index == 0) {
      table.write(7);
      writer.add_pieces(1, 7);
      if (Ringer(word).must_ring()) bell.ring();
    } else {
      Sleeper(word).mark_asleep();
      if (!claims.has_pieces(1)) bell.wait();
      const auto claim = claims.claim_frame(1);
      require(claim.frame.pieces == 7 && table.read() == 7, "pieces have not been written");
    }
  }
};

/// Who finds them without having slept, too.
struct PiecesAtOnce : Pair {
  checked::plain table;

  PiecesAtOnce() { writer.publish({.root = 1}); }
  void thread(std::size_t index) {
    if (index == 0) {
      table.write(7);
      writer.add_pieces(1, 7);
    } else if (const auto claim = claims.claim_frame(1); claim.frame.pieces != pieces_unknown) {
      require(table.read() == 7, "pieces have not been written");
    }
  }
};

/// It is woken also when the frame is withdrawn instead.
struct Withdrawing : Pair {
  BellWord word;
  Eventfd bell;

  Withdrawing() { writer.publish({.root = 1}); }
  void thread(std::size_t index) {
    if (index == 0) {
      writer.retire(1);
      if (Ringer(word).must_ring()) bell.ring();
    } else {
      Sleeper(word).mark_asleep();
      if (!claims.has_pieces(1)) bell.wait();
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

/// Strangers read what may be written over meanwhile, and look afterwards (session/export.cpp). The bytes are words here, since reading them is a race, which is borne.
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
  checked::plain ring_made, page_made;

  void thread(std::size_t index) {
    if (index == 0) {
      ring_made.write(1);
      initialise(ring);
      page_made.write(1);
      initialise(page);
    } else {
      if (is_understood(ring)) require(ring_made.read() == 1, "a ring is used before it is made");
      if (is_understood(page)) require(page_made.read() == 1, "a page is used before it is made");
    }
  }
};

template <class Test>
checked::Report run(const std::vector<checked::Weakening>& weakened) {
  const auto test = std::make_unique<Test>();
  return checked::explore(2, [&](std::size_t thread) { test->thread(thread); }, weakened);
}

struct Trial {
  const char* name;
  checked::Report (*run)(const std::vector<checked::Weakening>& weakened);
  std::set<checked::Site> sites = {};
};
std::vector<Trial> trials = {
    {"Reclaiming", run<Reclaiming>},
    {"ReclaimingAgain", run<ReclaimingAgain>},
    {"Replacing", run<Replacing>},
    {"Publishing", run<Publishing>},
    {"Filling", run<Filling>},
    {"Times", run<Times>},
    {"TimesOfTheNew", run<TimesOfTheNew>},
    {"NewestTime", run<NewestTime>},
    {"Waking", run<Waking<1>>},
    {"WakingTwice", run<Waking<2>>},
    {"Space", run<Space<1>>},
    {"SpaceTwice", run<Space<2>>},
    {"Pieces", run<Pieces>},
    {"PiecesAtOnce", run<PiecesAtOnce>},
    {"Withdrawing", run<Withdrawing>},
    {"Slots", run<Slots<false>>},
    {"ReservedSlot", run<Slots<true>>},
    {"Exporting", run<Exporting>},
    {"Ready", run<Ready>},
};

std::vector<std::memory_order> weaker(const checked::Site& site) {
  using enum std::memory_order;
  if (site.order == acquire || site.order == release) return {relaxed};
  if (site.order == acq_rel) return {acquire, release};
  if (site.order != seq_cst) return {};
  if (site.kind == checked::Step::Kind::load) return {acquire, relaxed};
  if (site.kind == checked::Step::Kind::store) return {release, relaxed};
  return {acq_rel};
}

const char* name_of(std::memory_order order) {
  static constexpr const char* names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  return names[static_cast<int>(order)];
}

std::string text_of(const checked::Site& site) {
  return site.file + ' ' + std::to_string(site.line) + ':' + std::to_string(site.column);
}
std::string text_of(const checked::Weakening& weakening) {
  return text_of(weakening.site) + ' ' + name_of(weakening.order);
}

std::string found_by(const std::vector<checked::Weakening>& weakened) {
  for (const Trial& trial : trials) {
    if (std::ranges::none_of(weakened, [&](const auto& each) { return trial.sites.contains(each.site); })) continue;
    if (const auto report = trial.run(weakened); !report.failure.empty()) return std::string(trial.name) + ": " + report.failure;
  }
  return "-";
}

void try_all() {
  std::set<checked::Site> sites;
  for (Trial& trial : trials) {
    checked::Report report = trial.run({});
    std::cout << "trial " << trial.name << ' ' << report.graphs << ' ' << (report.failure.empty() ? "-" : report.failure) << std::endl;
    trial.sites = std::move(report.sites);
    sites.insert(trial.sites.begin(), trial.sites.end());
  }
  std::vector<checked::Weakening> harmless;
  for (const checked::Site& site : sites) {
    if (site.file == "trials.cpp") continue;
    std::cout << "reached " << text_of(site) << '\n';
    for (const std::memory_order order : weaker(site)) {
      const checked::Weakening one{site, order};
      const std::string found = found_by({one});
      std::cout << "weakened " << text_of(one) << ' ' << found << std::endl;
      if (found == "-") harmless.push_back(one);
    }
  }
  // An order that alone is not needed may be needed as soon as another is weaker, too.
  for (std::size_t i = 0; i < harmless.size(); ++i) {
    for (std::size_t j = i + 1; j < harmless.size(); ++j) {
      if (harmless[i].site == harmless[j].site) continue;
      if (const std::string found = found_by({harmless[i], harmless[j]}); found != "-") {
        std::cout << "both " << text_of(harmless[i]) << ' ' << text_of(harmless[j]) << ' ' << found << std::endl;
      }
    }
  }
}

int try_some(const std::vector<std::string_view>& names) {
  int failed = 0;
  for (const std::string_view name : names) {
    const auto trial = std::ranges::find(trials, name, &Trial::name);
    if (trial == trials.end()) {
      std::cout << "there is no trial " << name << '\n';
      return 2;
    }
    const std::string failure = trial->run({}).failure;
    std::cout << name << ": " << (failure.empty() ? "holds" : failure) << '\n';
    failed += failure.empty() ? 0 : 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sinew::shm

int main(int count, char** arguments) {
  if (count > 1) return sinew::shm::try_some({arguments + 1, arguments + count});
  checked::try_litmus();
  sinew::shm::try_all();
}
