#include "session/publisher/new_frame.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "shm/layout.hpp"
#include "shm/tests/notes.hpp"

namespace sinew::session {
namespace {

TEST(NewFrame, a_stream_is_one_piece_in_the_window) {
  const auto window = shm::new_window();
  const std::string_view text = "a stream";
  const NewFrame frame = stream_frame(*window, text.size());
  ASSERT_TRUE(frame.is_in_window());
  std::memcpy(stream_of(frame), text.data(), text.size());
  EXPECT_EQ(frame.root, nullptr);
  EXPECT_EQ(frame.size, text.size());
  EXPECT_EQ(static_cast<const shm::PieceTable*>(frame.pieces)->count, 1U);
  EXPECT_TRUE(window->contains(frame.pieces, sizeof(shm::PieceTable) + sizeof(shm::PieceEntry) + text.size()));
  std::array<std::byte, 8> joined{};
  join_pieces(frame.pieces, joined.data());
  EXPECT_EQ(std::memcmp(joined.data(), text.data(), text.size()), 0);
  EXPECT_EQ(window->usage().blocks, 1U) << "which goes as a whole";
}

TEST(NewFrame, a_stream_for_which_there_is_no_memory_is_not_in_the_window) {
  const auto window = shm::new_window({.budget = 1 << 20});
  EXPECT_FALSE(stream_frame(*window, 2 << 20).is_in_window());
  EXPECT_FALSE(stream_frame(*window, UINT64_MAX).is_in_window());
}

TEST(NewFrame, the_body_of_a_stream_is_aligned_in_memory_as_it_is_in_itself) {
  const auto window = shm::new_window();
  for (const std::uint64_t size : {4U, 100U, 5000U, 70'000U}) {
    const NewFrame frame = stream_frame(*window, size);
    ASSERT_TRUE(frame.is_in_window());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stream_of(frame) + 4) % 16, 0U) << size;
  }
}

TEST(NewFrame, a_stream_may_turn_out_shorter_than_its_room) {
  const auto window = shm::new_window();
  NewFrame frame = stream_frame(*window, 100);
  ASSERT_TRUE(frame.is_in_window());
  std::memcpy(stream_of(frame), "short", 5);
  shorten(frame, 5);
  EXPECT_EQ(frame.size, 5U);
  std::array<std::byte, 6> joined{};
  join_pieces(frame.pieces, joined.data());
  EXPECT_STREQ(reinterpret_cast<const char*>(joined.data()), "short");
}

TEST(NewFrame, pieces_are_joined_in_their_order) {
  const std::string one = "one", two = "and two";
  struct {
    shm::PieceTable table;
    std::array<shm::PieceEntry, 3> pieces;
  } const all{{3},
              {shm::PieceEntry{reinterpret_cast<std::uint64_t>(two.data()), 3},
               {reinterpret_cast<std::uint64_t>(one.data()), one.size()},
               {reinterpret_cast<std::uint64_t>(two.data()) + 3, 4}}};
  std::string joined(10, '-');
  join_pieces(&all, reinterpret_cast<std::byte*>(joined.data()));
  EXPECT_EQ(joined, "andone two");
}

}  // namespace
}  // namespace sinew::session
