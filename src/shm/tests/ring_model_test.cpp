// The claiming protocol, step by step: every interleaving of a publisher and a reader under sequential consistency, on a ring of one entry.
//
// The steps are those of RingWriter and Claims, written down once more as a program counter each; a state is everything both can see. Weakening
// one step at a time shows that the search finds what it is there to find.
#include <gtest/gtest.h>

#include <array>
#include <compare>
#include <set>
#include <vector>

namespace sinew::shm {
namespace {

constexpr int last_frame = 4;
constexpr int storages = 3;
constexpr int last_step = 9;  // of the reader: it gives the claim back

struct Protocol {
  bool second_look = true;
  bool retire_before_overwriting = true;
  bool scan_after_retire = true;
  bool claim_before_look = true;
};

struct State {
  // Shared: the one entry of the ring, the head, the reader's claim, and which frame lies in each storage (0: free).
  int seq = 0;
  int root = 0;
  int size = 0;
  int head = 0;
  int claim = 0;
  std::array<int, storages> storage{};

  // The publisher's own.
  int p_step = 0;
  int p_frame = 0;                          // published last
  std::array<int, last_frame + 1> limbo{};  // retired frames whose storage is not free yet: storage + 1
  int p_storage = 0;                        // of the frame published last, or being built
  int p_saw_claim_of = 0;                   // when it looked last

  // The reader's own.
  int r_step = 0;
  int r_frame = 0;
  int r_root = 0;
  int r_size = 0;

  friend auto operator<=>(const State&, const State&) = default;
};

struct Model {
  Protocol protocol;
  std::set<State> seen;
  int violations = 0;

  static int free_storage(const State& s) {
    for (int i = 0; i < storages; ++i) {
      if (s.storage[static_cast<std::size_t>(i)] == 0) return i;
    }
    return -1;
  }

  // One step of the publisher; false when it has none.
  bool publisher(State& s) const {
    const int old = s.p_frame;
    const int retire_step = protocol.scan_after_retire ? 0 : 1;
    switch (s.p_step) {
      case 0:
        if (old == last_frame) return false;
        [[fallthrough]];
      case 1:
        if (s.p_step != retire_step) {  // look at the claims
          s.p_saw_claim_of = s.claim;
        } else if (old > 0) {  // retire the frame in the slot
          if (protocol.retire_before_overwriting) s.seq = 0;
          s.limbo[static_cast<std::size_t>(old)] = s.p_storage + 1;
        }
        ++s.p_step;
        return true;
      case 2:  // free the storage of every retired frame that is not claimed; take storage for the next frame and build it
        for (std::size_t frame = 1; frame <= last_frame; ++frame) {
          if (s.limbo[frame] == 0 || static_cast<int>(frame) == s.p_saw_claim_of) continue;
          s.storage[static_cast<std::size_t>(s.limbo[frame] - 1)] = 0;
          s.limbo[frame] = 0;
        }
        s.p_storage = free_storage(s);
        s.storage[static_cast<std::size_t>(s.p_storage)] = old + 1;
        s.p_step = 3;
        return true;
      case 3:
        s.root = s.p_storage + 1;
        s.p_step = 4;
        return true;
      case 4:
        s.size = old + 1;
        s.p_step = 5;
        return true;
      case 5:
        s.seq = old + 1;
        s.p_step = 6;
        return true;
      default:
        s.head = s.p_frame = old + 1;
        s.p_step = 0;
        return true;
    }
  }

  // One step of the reader; it claims the newest frame again and again.
  bool reader(State& s) {
    switch (s.r_step) {
      case 0:
        if (s.head == 0) return false;
        s.r_frame = s.head;
        s.r_step = 1;
        return true;
      case 1:
        if (protocol.claim_before_look) s.claim = s.r_frame;
        s.r_step = 2;
        return true;
      case 2:  // first look
        s.r_step = s.seq == s.r_frame ? 3 : last_step;
        return true;
      case 3:
        s.r_root = s.root;
        s.r_step = 4;
        return true;
      case 4:
        s.r_size = s.size;
        s.r_step = 5;
        return true;
      case 5:  // second look
        s.r_step = !protocol.second_look || s.seq == s.r_frame ? 6 : last_step;
        return true;
      case 6:
        s.claim = s.r_frame;
        s.r_step = 7;
        return true;
      case 7:  // read the message
      case 8:
        if (s.r_size != s.r_frame || s.storage[static_cast<std::size_t>(s.r_root - 1)] != s.r_frame) ++violations;
        ++s.r_step;
        return true;
      default:
        s.claim = s.r_frame = s.r_root = s.r_size = s.r_step = 0;
        return true;
    }
  }

  int search() {
    std::vector<State> todo{State{}};
    while (!todo.empty()) {
      const State state = todo.back();
      todo.pop_back();
      if (!seen.insert(state).second) continue;
      State next = state;
      if (publisher(next)) todo.push_back(next);
      next = state;
      if (reader(next)) todo.push_back(next);
    }
    return violations;
  }
};

TEST(RingModel, F1_no_interleaving_gives_a_reader_another_frame_or_reused_storage) {
  Model model{.protocol = {}, .seen = {}};
  EXPECT_EQ(model.search(), 0);
  EXPECT_GT(model.seen.size(), 1000u) << "the search has not searched";
}

TEST(RingModel, F1_without_the_second_look_a_reader_takes_the_pointer_of_a_later_frame) {
  EXPECT_GT((Model{.protocol = {.second_look = false}, .seen = {}}.search()), 0);
}

TEST(RingModel, an_entry_overwritten_without_retiring_it_mixes_two_frames) {
  EXPECT_GT((Model{.protocol = {.retire_before_overwriting = false}, .seen = {}}.search()), 0);
}

TEST(RingModel, claims_looked_at_before_retiring_miss_one) {
  EXPECT_GT((Model{.protocol = {.scan_after_retire = false}, .seen = {}}.search()), 0);
}

TEST(RingModel, a_claim_stored_after_looking_comes_too_late) {
  EXPECT_GT((Model{.protocol = {.claim_before_look = false}, .seen = {}}.search()), 0);
}

}  // namespace
}  // namespace sinew::shm
