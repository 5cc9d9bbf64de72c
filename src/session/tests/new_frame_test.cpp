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

TEST(NewFrame, what_lies_in_a_loan_is_a_piece_where_it_is_and_the_rest_is_copied_beside_it) {
  const auto window = shm::new_window();
  const NewFrame loan = stream_frame(*window, 8);
  ASSERT_TRUE(loan.is_in_window());
  std::byte* const room = stream_of(loan);
  std::memcpy(room, "ABCDEFGH", 8);
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  const std::array<std::span<const std::byte>, 7> extents{bytes("head"), std::span(room + 4, 4), bytes("a"),  std::span<const std::byte>(),
                                                          bytes("b"),    std::span(room, 4),     bytes("end")};
  std::uint64_t copied = 0;
  const NewFrame frame = gathered_frame(*window, loan, extents, copied);
  ASSERT_TRUE(frame.is_in_window());
  EXPECT_EQ(copied, 9U);
  EXPECT_EQ(frame.size, 17U);
  EXPECT_EQ(frame.beside, loan.pieces);
  const auto* const table = static_cast<const shm::PieceTable*>(frame.pieces);
  ASSERT_EQ(table->count, 5U);
  const auto* const pieces = reinterpret_cast<const shm::PieceEntry*>(table + 1);
  EXPECT_EQ(pieces[1].address, reinterpret_cast<std::uint64_t>(room + 4));
  EXPECT_EQ(pieces[3].address, reinterpret_cast<std::uint64_t>(room));
  EXPECT_EQ((pieces[0].address + 4) % 16, 0U);
  std::string joined(17, '-');
  join_pieces(frame.pieces, reinterpret_cast<std::byte*>(joined.data()));
  EXPECT_EQ(joined, "headEFGHabABCDend");
  EXPECT_EQ(window->usage().blocks, 2U);
}

TEST(NewFrame, what_comes_first_stays_in_its_loan_only_with_an_aligned_body) {
  const auto window = shm::new_window();
  const NewFrame loan = stream_frame(*window, 100);
  ASSERT_TRUE(loan.is_in_window());
  std::byte* const room = stream_of(loan);
  std::uint64_t copied = 0;
  for (const std::size_t at : {0U, 1U, 4U, 16U}) {
    const std::array<std::span<const std::byte>, 1> extents{std::span(room + at, 20)};
    const NewFrame frame = gathered_frame(*window, loan, extents, copied);
    ASSERT_TRUE(frame.is_in_window());
    EXPECT_EQ(copied, at % 16 == 0 ? 0U : 20U) << at;
    window->free(frame.pieces);
  }
}

TEST(NewFrame, what_lies_in_a_loan_only_in_part_is_copied) {
  const auto window = shm::new_window();
  const NewFrame loan = stream_frame(*window, 64);
  ASSERT_TRUE(loan.is_in_window());
  std::uint64_t copied = 0;
  const std::array<std::span<const std::byte>, 2> extents{std::span(stream_of(loan), 64), std::span(stream_of(loan) + 60, 5)};
  const NewFrame frame = gathered_frame(*window, loan, extents, copied);
  ASSERT_TRUE(frame.is_in_window());
  EXPECT_EQ(copied, 5U);
}

TEST(NewFrame, a_loan_is_as_before_when_there_is_no_memory_for_what_comes_beside_it) {
  const auto window = shm::new_window({.budget = 1 << 20});
  const NewFrame loan = stream_frame(*window, 100);
  ASSERT_TRUE(loan.is_in_window());
  const std::string much(2 << 20, 'x');
  std::uint64_t copied = 0;
  const std::array<std::span<const std::byte>, 1> extents{std::as_bytes(std::span(much))};
  EXPECT_FALSE(gathered_frame(*window, loan, extents, copied).is_in_window());
  EXPECT_EQ(window->usage().blocks, 1U);
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
