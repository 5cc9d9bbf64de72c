// What a reader of another user finds of an export.
#include "session/publisher/export.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

#include "os/fault.hpp"
#include "os/memory.hpp"
#include "shm/ring.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t stream = 8;

/// An export, and a reader that has mapped its ring.
struct Exported {
  void publish_up_to(std::uint64_t last) {
    while (whole.head() < last) {
      whole.prepare(stream);
      ASSERT_TRUE(whole.has_room_for(stream));
      whole.publish(stream, 1, [&](std::byte* into) {
        const std::uint64_t number = whole.head() + 1;
        std::memcpy(into, &number, sizeof number);
      });
    }
  }
  shm::Claims::Outcome take(std::uint64_t sequence) {
    const auto claim = reader.claim_frame(sequence);
    if (claim.outcome == shm::Claims::Outcome::claimed) reader.release(claim.slot);
    return claim.outcome;
  }

  Export whole{"image", 1 << 20, 1 << 20};
  os::Mapping mapping = os::Mapping::map(whole.ring(), ring_file_size(), os::Access::read);
  shm::AckPage page{};
  shm::PairCounts counts{};
  shm::Claims reader{page, *std::launder(reinterpret_cast<const shm::RingLayout*>(mapping.data())), counts};
};

TEST(Export, M41_what_is_written_over_by_frames_behind_skipped_ones_is_not_there_any_more) {
  Exported exported;
  exported.publish_up_to(8);
  for (std::uint64_t old = 1; old <= 8; ++old) ASSERT_EQ(exported.take(old), shm::Claims::Outcome::claimed) << old;
  exported.whole.skip_to(30);
  exported.publish_up_to(38);
  for (std::uint64_t old = 1; old <= 8; ++old) {
    EXPECT_EQ(exported.take(old), shm::Claims::Outcome::lost) << old;
    EXPECT_FALSE(exported.reader.is_still_there(old)) << old;
  }
  for (std::uint64_t sequence = 31; sequence <= 38; ++sequence)
    EXPECT_EQ(exported.take(sequence), shm::Claims::Outcome::claimed) << sequence;
}

TEST(Export, where_none_is_skipped_those_that_are_there_stay) {
  Exported exported;
  exported.whole.skip_to(0);
  exported.publish_up_to(10);
  exported.whole.skip_to(10);
  for (std::uint64_t sequence = 3; sequence <= 10; ++sequence)
    EXPECT_EQ(exported.take(sequence), shm::Claims::Outcome::claimed) << sequence;
}

TEST(Export, a_shortage_is_said_once_until_it_is_over) {
  Exported exported;
  testing::internal::CaptureStderr();
  for (const bool is_short : {true, true, true, false, true, true}) {
    if (is_short) os::fault::arm(os::fault::Call::memfd_create, 1, EMFILE);
    exported.whole.prepare(stream);
    os::fault::disarm();
    EXPECT_EQ(exported.whole.has_room_for(stream), !is_short);
    exported.whole.publish(stream, 1, [](std::byte*) {});
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 2) << said;
  EXPECT_TRUE(said.starts_with("sinew [warn] topic 'image': messages cannot be copied for subscribers of other users")) << said;
}

}  // namespace
}  // namespace sinew::session
