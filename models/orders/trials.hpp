// What the trials have in common, and their list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "atomic.hpp"
#include "explore.hpp"
#include "shm/ring.hpp"

namespace sinew::shm {

using checked::require;

// Each field says which frame it is of.
inline Frame frame_of(std::uint64_t sequence) {
  return {
      .root = sequence, .size = sequence, .source_time = static_cast<std::int64_t>(sequence), .newest_chunk = sequence, .pieces = sequence};
}
inline void require_whole(const Frame& frame) {
  require(frame.root == frame.sequence && frame.size == frame.sequence && frame.source_time == static_cast<std::int64_t>(frame.sequence) &&
              frame.newest_chunk == frame.sequence && frame.pieces == frame.sequence,
          "a claimed frame is put together from two");
}

inline bool is_claimed_by(const AckView& reader, std::uint64_t sequence) {
  static std::vector<std::uint64_t> all;
  all.clear();
  reader.gather_claims(all);
  return std::ranges::count(all, sequence) > 0;
}

/// A publisher and its reader.
struct Pair {
  static constexpr std::size_t threads = 2;
  RingLayout ring;
  AckPage page;
  PairCounts counts;
  RingWriter writer{ring};
  const AckView reader{page};
  Claims claims{page, ring, counts};

  bool is_claimed(std::uint64_t sequence) const { return is_claimed_by(reader, sequence); }
};

/// An eventfd, which the kernel keeps in order.
struct Eventfd {
  checked::atomic<std::uint64_t> count;
  void ring() { count.fetch_add(1, std::memory_order_acq_rel); }
  void wait() { count.take(); }
};

template <class Test>
checked::Report run(const std::vector<checked::Weakening>& weakened) {
  const auto test = std::make_unique<Test>();
  return checked::explore(Test::threads, [&](std::size_t thread) { test->thread(thread); }, weakened);
}

struct Trial {
  const char* name;
  checked::Report (*run)(const std::vector<checked::Weakening>& weakened);
  std::set<checked::Site> sites = {};
};
/// What is claimed, read and given back.
std::vector<Trial> trials_of_claims();
/// Who sleeps, and is woken.
std::vector<Trial> trials_of_waking();

}  // namespace sinew::shm
