#include "trials.hpp"

#include "shm/bell.hpp"

namespace sinew::shm {
namespace {

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

}  // namespace

std::vector<Trial> trials_of_waking() {
  return {
      {"Waking", run<Waking<1>>}, {"WakingTwice", run<Waking<2>>},     {"Space", run<Space<1>>},          {"SpaceTwice", run<Space<2>>},
      {"Pieces", run<Pieces>},    {"PiecesAtOnce", run<PiecesAtOnce>}, {"Withdrawing", run<Withdrawing>},
  };
}

}  // namespace sinew::shm
