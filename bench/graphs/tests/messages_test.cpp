// What tells a message that has come whole, and as it should be, from one that has not.
#include "messages.hpp"

#include <gtest/gtest.h>

namespace sinew::bench::graphs {
namespace {

class AnImage : public testing::Test {
 protected:
  void SetUp() override { fill(image_, topology_.publications.front(), 127); }

  /// Whether a subscription of the pipeline, by its index, takes it down as damaged.
  bool is_damaged_for(unsigned subscription) {
    const Board board(topology_, 1);
    Tally tally(board, topology_.subscriptions.at(subscription));
    take_down(image_, tally);
    EXPECT_EQ(board.subscription(subscription).received, 1U);
    return board.subscription(subscription).damaged == 1;
  }

  static constexpr unsigned at_the_relay = 0, at_the_viewer = 1;
  const Topology topology_ = load("image_pipeline");
  Image image_;
};

TEST_F(AnImage, is_right_without_a_mark_before_the_node_that_draws_it_and_with_it_behind) {
  EXPECT_FALSE(is_damaged_for(at_the_relay));
  EXPECT_TRUE(is_damaged_for(at_the_viewer));
  draw_mark(image_);
  EXPECT_TRUE(is_damaged_for(at_the_relay));
  EXPECT_FALSE(is_damaged_for(at_the_viewer));
}

TEST_F(AnImage, without_its_end_is_damaged_and_nothing_is_drawn_beyond_it) {
  draw_mark(image_);
  image_.data.pop_back();
  EXPECT_TRUE(is_damaged_for(at_the_viewer));
  image_.data.assign(mark::end - 1, 0);
  draw_mark(image_);
  EXPECT_EQ(image_.data.back(), 0);
}

TEST_F(AnImage, keeps_its_stamp_when_the_mark_is_drawn) {
  const std::int64_t stamp = stamp_of(image_.header);
  draw_mark(image_);
  EXPECT_EQ(stamp_of(image_.header), stamp);
  EXPECT_TRUE(is_whole(image_));
}

}  // namespace
}  // namespace sinew::bench::graphs
