// What is known of RC11 from the literature: the checker must say the same.
#include "litmus.hpp"

#include <array>
#include <iostream>

#include "atomic.hpp"

namespace checked {

namespace {

constexpr auto rlx = std::memory_order_relaxed, acq = std::memory_order_acquire, rel = std::memory_order_release,
               ar = std::memory_order_acq_rel, sc = std::memory_order_seq_cst;

using Values = std::array<std::uint64_t, 4>;

/// Three words, and what the threads have read of them.
struct World {
  atomic<std::uint64_t> x, y, z;
  plain data;
  Values seen{};
};

struct Litmus {
  const char* name;
  std::vector<void (*)(World&)> threads;
  Values outcome;
  bool is_allowed;
};

const std::vector<Litmus>& all() {
  static const std::vector<Litmus> table = {
      {"store buffering, release and acquire",
       {[](World& w) { w.x.store(1, rel), w.seen[0] = w.y.load(acq); }, [](World& w) { w.y.store(1, rel), w.seen[1] = w.x.load(acq); }},
       {0, 0},
       true},
      {"store buffering, sequentially consistent",
       {[](World& w) { w.x.store(1, sc), w.seen[0] = w.y.load(sc); }, [](World& w) { w.y.store(1, sc), w.seen[1] = w.x.load(sc); }},
       {0, 0},
       false},
      {"store buffering with one relaxed store",
       {[](World& w) { w.x.store(1, rlx), w.seen[0] = w.y.load(sc); }, [](World& w) { w.y.store(1, sc), w.seen[1] = w.x.load(sc); }},
       {0, 0},
       true},
      {"store buffering with one acquiring load",
       {[](World& w) { w.x.store(1, sc), w.seen[0] = w.y.load(acq); }, [](World& w) { w.y.store(1, sc), w.seen[1] = w.x.load(sc); }},
       {0, 0},
       true},
      {"store buffering with fences",
       {[](World& w) { w.x.store(1, rlx), fence(sc), w.seen[0] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, rlx), fence(sc), w.seen[1] = w.x.load(rlx); }},
       {0, 0},
       false},
      {"store buffering with one fence",
       {[](World& w) { w.x.store(1, rlx), fence(sc), w.seen[0] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, rlx), fence(ar), w.seen[1] = w.x.load(rlx); }},
       {0, 0},
       true},
      {"message passing, relaxed",
       {[](World& w) { w.x.store(1, rlx), w.y.store(1, rlx); }, [](World& w) { w.seen[0] = w.y.load(rlx), w.seen[1] = w.x.load(rlx); }},
       {1, 0},
       true},
      {"message passing, release and acquire",
       {[](World& w) { w.x.store(1, rlx), w.y.store(1, rel); }, [](World& w) { w.seen[0] = w.y.load(acq), w.seen[1] = w.x.load(rlx); }},
       {1, 0},
       false},
      {"message passing with fences",
       {[](World& w) { w.x.store(1, rlx), fence(rel), w.y.store(1, rlx); },
        [](World& w) { w.seen[0] = w.y.load(rlx), fence(acq), w.seen[1] = w.x.load(rlx); }},
       {1, 0},
       false},
      {"a relaxed load comes after a sequentially consistent one that stands behind it",
       {[](World& w) { w.x.store(1, sc), w.y.store(1, rel); }, [](World& w) { w.seen[0] = w.y.load(rlx), w.seen[1] = w.x.load(sc); }},
       {1, 0},
       true},
      {"load buffering",
       {[](World& w) { w.seen[0] = w.y.load(rlx), w.x.store(1, rlx); }, [](World& w) { w.seen[1] = w.x.load(rlx), w.y.store(1, rlx); }},
       {1, 1},
       false},
      {"four threads that disagree, release and acquire",
       {[](World& w) { w.x.store(1, rel); }, [](World& w) { w.y.store(1, rel); },
        [](World& w) { w.seen[0] = w.x.load(acq), w.seen[1] = w.y.load(acq); },
        [](World& w) { w.seen[2] = w.y.load(acq), w.seen[3] = w.x.load(acq); }},
       {1, 0, 1, 0},
       true},
      {"four threads that disagree, sequentially consistent",
       {[](World& w) { w.x.store(1, sc); }, [](World& w) { w.y.store(1, sc); },
        [](World& w) { w.seen[0] = w.x.load(sc), w.seen[1] = w.y.load(sc); },
        [](World& w) { w.seen[2] = w.y.load(sc), w.seen[3] = w.x.load(sc); }},
       {1, 0, 1, 0},
       false},
      {"four threads that disagree, sequentially consistent but for the loads that come first",
       {[](World& w) { w.x.store(1, sc); }, [](World& w) { w.y.store(1, sc); },
        [](World& w) { w.seen[0] = w.x.load(acq), w.seen[1] = w.y.load(sc); },
        [](World& w) { w.seen[2] = w.y.load(acq), w.seen[3] = w.x.load(sc); }},
       {1, 0, 1, 0},
       true},
      {"two times two writes, release",
       {[](World& w) { w.x.store(1, rel), w.y.store(2, rel), w.seen[0] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, rel), w.x.store(2, rel), w.seen[1] = w.x.load(rlx); }},
       {1, 1},
       true},
      {"two times two writes, sequentially consistent",
       {[](World& w) { w.x.store(1, sc), w.y.store(2, sc), w.seen[0] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, sc), w.x.store(2, sc), w.seen[1] = w.x.load(rlx); }},
       {1, 1},
       false},
      {"a word does not go back",
       {[](World& w) { w.x.store(1, rlx), w.x.store(2, rlx); }, [](World& w) { w.seen[0] = w.x.load(rlx), w.seen[1] = w.x.load(rlx); }},
       {2, 1},
       false},
      {"what one has read another has, release and acquire",
       {[](World& w) { w.x.store(1, rlx); }, [](World& w) { w.seen[0] = w.x.load(acq), w.y.store(1, rel); },
        [](World& w) { w.seen[1] = w.y.load(acq), w.seen[2] = w.x.load(rlx); }},
       {1, 1, 0},
       false},
      {"a release sequence goes on through a relaxed change",
       {[](World& w) { w.x.store(1, rlx), w.y.store(1, rel); }, [](World& w) { w.seen[0] = w.y.fetch_add(1, rlx); },
        [](World& w) { w.seen[1] = w.y.load(acq), w.seen[2] = w.x.load(rlx); }},
       {1, 2, 0},
       false},
      {"a release sequence ends at a relaxed store, also of the same thread (C++20)",
       {[](World& w) { w.x.store(1, rlx), w.y.store(1, rel), w.y.store(2, rlx); },
        [](World& w) { w.seen[0] = w.y.load(acq), w.seen[1] = w.x.load(rlx); }},
       {2, 0},
       true},
      {"changes are not lost",
       {[](World& w) { w.seen[0] = w.x.fetch_add(1, rlx); }, [](World& w) { w.seen[1] = w.x.fetch_add(1, rlx); }},
       {0, 0},
       false},
      {"a sequentially consistent store and another thread's release in between (Z6.U)",
       {[](World& w) { w.x.store(1, sc), w.y.store(1, rel); },
        [](World& w) { w.seen[0] = w.y.fetch_add(1, acq), w.seen[1] = w.y.load(rlx); },
        [](World& w) { w.y.store(3, sc), w.seen[2] = w.x.load(sc); }},
       {1, 3, 0},
       true},
      {"what is sequentially consistent stays so over a release and an acquire elsewhere",
       {[](World& w) { w.x.store(1, sc), w.y.store(1, rel); }, [](World& w) { w.seen[0] = w.y.load(acq), w.seen[1] = w.z.load(sc); },
        [](World& w) { w.z.store(1, sc), w.seen[2] = w.x.load(sc); }},
       {1, 0, 0},
       false},
      {"a fence against sequentially consistent accesses",
       {[](World& w) { w.x.store(1, rlx), fence(sc), w.seen[0] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, sc), w.seen[1] = w.x.load(sc); }},
       {0, 0},
       false},
      {"two sequentially consistent changes",
       {[](World& w) { w.seen[0] = w.x.fetch_add(1, sc); }, [](World& w) { w.seen[1] = w.x.fetch_add(1, sc); }},
       {0, 1},
       true},
      {"reads, writes and causality with fences (RWC)",
       {[](World& w) { w.x.store(1, rlx); }, [](World& w) { w.seen[0] = w.x.load(rlx), fence(sc), w.seen[1] = w.y.load(rlx); },
        [](World& w) { w.y.store(1, rlx), fence(sc), w.seen[2] = w.x.load(rlx); }},
       {1, 0, 0},
       false},
  };
  return table;
}

/// Whether some execution has the outcome.
bool has(const Litmus& litmus) {
  World world;
  bool found = false;
  explore(
      litmus.threads.size(), [&](std::size_t thread) { litmus.threads[thread](world); }, {},
      [&] { found = found || world.seen == litmus.outcome; });
  return found;
}

bool races(std::memory_order order) {
  World world;
  return !explore(2, [&](std::size_t thread) {
            if (thread == 0) {
              world.data.write(1), world.x.store(1, order);
            } else if (world.x.load(acq) == 1) {
              require(world.data.read() == 1, "the old value is read");
            }
          }).failure.empty();
}

bool waits_for_good(bool is_rung) {
  World world;
  return !explore(2, [&](std::size_t thread) {
            if (thread == 0) {
              world.x.take();
            } else if (is_rung) {
              world.x.fetch_add(1, ar);
            }
          }).failure.empty();
}

}  // namespace

void try_litmus() {
  const auto tell = [](const char* name, bool is_right) { std::cout << "litmus " << name << ": " << (is_right ? "-" : "WRONG") << '\n'; };
  for (const Litmus& litmus : all()) tell(litmus.name, has(litmus) == litmus.is_allowed);
  tell("a race is found", races(rlx));
  tell("what is handed over is no race", !races(rel));
  tell("who waits for good is found", waits_for_good(false));
  tell("who is rung does not wait for good", !waits_for_good(true));
}

}  // namespace checked
