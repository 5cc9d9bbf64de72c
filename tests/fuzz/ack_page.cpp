// A publisher before an ack page that holds whatever its reader likes, and changes at any time: no frame is given back that the page claims, or of which it has never said that it is decided about,
// and none twice; what is decided about and not claimed is given back; and whatever the page says, it takes no longer than 120 claims take.
#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "input.hpp"
#include "session/publisher/kept_frames.hpp"
#include "shm/bell.hpp"
#include "shm/ring.hpp"

namespace {

using namespace sinew::shm;
using sinew::fuzz::Input;
using sinew::fuzz::require;
using sinew::session::KeptFrame;
using sinew::session::KeptFrames;

constexpr auto nothing_beside = [](KeptFrame&) {};

/// Of a publisher's frames only that they are kept or given back matters: their roots are their own numbers.
class Publisher {
 public:
  explicit Publisher(const AckPage& page) : page_(page), reader_(page) {}

  void publish() {
    if (!frames_.has_room(look())) return;
    frames_.prepare(nothing_beside);
    frames_.publish({.root = reinterpret_cast<void*>(frames_.head() + 1), .size = 1}, 1);
    require(frames_.head() == given_back_.size(), "sequences have no gaps");
    given_back_.push_back(false);
  }
  /// As Publisher::sweep_lanes_locked() does.
  void sweep() {
    const std::uint64_t decided = look();
    frames_.retire_up_to(reader_.cursor(), nothing_beside);
    std::vector<std::uint64_t> claims;
    reader_.gather_claims(claims);
    require(claims.size() <= max_claims, "a page has so many claims and no more");
    require(std::ranges::find(claims, 0U) == claims.end(), "a zero is no claim");
    for (std::uint32_t slot = 0; slot < std::min(page_.claims_used.load(), max_claims); ++slot) {
      const std::uint64_t claimed = page_.claims[slot];
      require(claimed == 0 || std::ranges::find(claims, claimed) != claims.end(), "each claim of a used slot counts");
    }
    std::ranges::sort(claims);
    frames_.sweep(claims, [&](const KeptFrame& frame) {
      require(reinterpret_cast<std::uint64_t>(frame.root) == frame.sequence, "a frame stays what it is");
      require(frame.sequence <= most_decided_, "nothing is given back that its reader may yet take");
      require(!std::ranges::binary_search(claims, frame.sequence), "nothing is given back that is claimed");
      require(!given_back_.at(frame.sequence), "each frame is given back once");
      given_back_[frame.sequence] = true;
      ++count_given_back_;
    });
    std::uint64_t count_kept = 0;
    frames_.for_each([&](const KeptFrame& frame) {
      ++count_kept;
      require(frame.sequence > decided || std::ranges::binary_search(claims, frame.sequence), "what nobody needs is given back");
    });
    require(count_kept + count_given_back_ == frames_.head(), "what is not given back is kept");
  }

 private:
  std::uint64_t look() {
    const std::uint64_t decided = std::min(reader_.cursor(), frames_.head());
    most_decided_ = std::max(most_decided_, decided);
    return decided;
  }

  const AckPage& page_;
  const AckView reader_;
  KeptFrames frames_{"fuzzed", 0};
  std::uint64_t most_decided_ = 0;      // its cursor may go back
  std::vector<bool> given_back_{true};  // by sequence; there is none of 0
  std::uint64_t count_given_back_ = 0;
};

std::uint64_t sequence(Input& input, const AckPage& page) {
  return input.flip() ? page.cursor + input.pick(256) : input.number();
}

void write_anything(Input& input, AckPage& page) {
  switch (input.pick(4)) {
    case 0:
      page.claims_used = static_cast<std::uint32_t>(input.number());
      break;
    case 1:
      page.cursor = sequence(input, page);
      break;
    case 2: {
      // All of it at once.
      const auto bytes = input.bytes(sizeof page);
      std::memcpy(static_cast<void*>(&page), bytes.data(), bytes.size());
      break;
    }
    default:
      page.claims[input.pick(max_claims)] = sequence(input, page);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const auto page = std::make_unique<AckPage>();
  const auto bell = std::make_unique<BellWord>();
  Publisher publisher(*page);
  Ringer ringer(*bell);
  while (!input.at_end()) {
    switch (input.pick(4)) {
      case 0:
        for (std::size_t n = 1 + input.pick(200); n > 0; --n) publisher.publish();
        break;
      case 1:
        bell->epoch = input.number();
        require(!ringer.must_ring() || (bell->epoch % 2 == 1 && !ringer.must_ring()), "a sleeper is woken once in each epoch");
        break;
      case 2:
        publisher.sweep();
        break;
      default:
        write_anything(input, *page);
        require(is_understood(*page) == (page->version == layout_version), "only pages of this version are understood");
    }
  }
  publisher.sweep();
  return 0;
}
