// The algorithms of the demo find what was put there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "components.hpp"
#include "fuse.hpp"
#include "motion.hpp"
#include "obstacles.hpp"

namespace demo {
namespace {

/// A grey picture with a white square.
Image picture_with_square(std::uint32_t left, std::uint32_t top, std::uint32_t size) {
  Image image{.header = {}, .height = 360, .width = 640, .encoding = "rgb8", .data = std::vector<std::uint8_t>(640 * 360 * 3, 90)};
  for (std::uint32_t y = top; y < top + size; ++y) {
    std::fill_n(image.data.begin() + static_cast<std::ptrdiff_t>((y * image.width + left) * 3), size * 3, std::uint8_t{255});
  }
  return image;
}

TEST(Components, CellsThatTouchAtACornerAreOneRegion) {
  const auto found = connected_components({1, 0, 0, 0,  //
                                           0, 1, 0, 1,  //
                                           0, 0, 0, 1},
                                          4);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].cells.size(), 2U);
  EXPECT_EQ(found[1].left, 3U);
  EXPECT_EQ(found[1].top, 1U);
  EXPECT_EQ(found[1].bottom, 2U);
}

TEST(Components, RegionsDoNotReachAroundTheEdgeOfTheGrid) {
  EXPECT_EQ(connected_components({0, 0, 1,  //
                                  1, 0, 0},
                                 3)
                .size(),
            2U);
}

TEST(Motion, AMovingSquareIsFoundAtItsPlace) {
  MotionDetector detector;
  EXPECT_TRUE(detector.find(picture_with_square(100, 120, 60)).empty()) << "one picture shows no motion";
  const auto boxes = detector.find(picture_with_square(112, 120, 60));
  ASSERT_FALSE(boxes.empty());
  for (const Box& box : boxes) {
    // What changed is the square's old left edge and its new right one, three cells around them at most.
    EXPECT_GE(box.left, 100U - 18);
    EXPECT_LE(box.left + box.width, 172U + 18);
    EXPECT_GE(box.top, 120U - 18);
    EXPECT_LE(box.top + box.height, 180U + 18);
  }
}

TEST(Motion, TwoSquaresThatMoveAreTwoBoxesLargestFirst) {
  Image before = picture_with_square(60, 60, 48), after = picture_with_square(600, 300, 1);
  const Image second = picture_with_square(400, 200, 120);
  std::transform(after.data.begin(), after.data.end(), second.data.begin(), after.data.begin(),
                 [](auto a, auto b) { return std::max(a, b); });
  MotionDetector detector;
  detector.find(before);
  const auto boxes = detector.find(after);
  ASSERT_EQ(boxes.size(), 2U);
  EXPECT_GE(boxes[0].left, 382U);
  EXPECT_NEAR(boxes[0].width, 120, 36);
  EXPECT_NEAR(boxes[1].width, 48, 36);
}

TEST(Motion, AStillPictureHasNone) {
  MotionDetector detector;
  const Image image = picture_with_square(100, 100, 80);
  detector.find(image);
  EXPECT_TRUE(detector.find(image).empty());
}

TEST(Motion, ACutIsNotMotion) {
  MotionDetector detector;
  Image dark = picture_with_square(0, 0, 0), bright = dark;
  std::fill(bright.data.begin(), bright.data.end(), std::uint8_t{200});
  detector.find(dark);
  EXPECT_TRUE(detector.find(bright).empty());
}

TEST(Motion, AnImageShorterThanItSaysIsRefused) {
  Image image = picture_with_square(0, 0, 0);
  image.data.pop_back();
  EXPECT_THROW(MotionDetector().find(image), std::invalid_argument);
}

/// A floor that rises by `slope` along x, a point every 10 cm.
std::vector<Point> floor(float slope) {
  std::vector<Point> points;
  for (float x = -10; x < 10; x += 0.1F) {
    for (float y = -10; y < 10; y += 0.1F) points.push_back({x, y, slope * x - 1, 0});
  }
  return points;
}

void add_box(std::vector<Point>& points, float x, float y, float z, float size) {
  for (float dx = 0; dx < size; dx += 0.1F) {
    for (float dy = 0; dy < size; dy += 0.1F) {
      for (float dz = 0; dz < size; dz += 0.1F) points.push_back({x + dx, y + dy, z + dz, 0});
    }
  }
}

TEST(FindObstacles, BoxesOnTheFloorAreFoundWhereTheyStand) {
  auto points = floor(0);
  add_box(points, 3, 2, -1, 1);
  add_box(points, -6, -4, -1, 0.8F);
  const auto found = find_obstacles(points);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_GT(found[0].points, found[1].points);
  EXPECT_NEAR(found[0].low[0], 3, 0.25);
  EXPECT_NEAR(found[0].high[0], 4, 0.25);
  EXPECT_NEAR(found[0].low[1], 2, 0.25);
  EXPECT_NEAR(found[0].high[2], 0, 0.25);
  EXPECT_NEAR(found[1].low[0], -6, 0.25);
}

TEST(FindObstacles, AFloorAloneHasNoneEvenWhenItSlopes) {
  EXPECT_TRUE(find_obstacles(floor(0)).empty());
  EXPECT_TRUE(find_obstacles(floor(0.15F)).empty());
}

TEST(FindObstacles, WhatHangsHighAboveIsNoObstacle) {
  auto points = floor(0);
  add_box(points, 3, 2, 2, 1);
  EXPECT_TRUE(find_obstacles(points).empty());
}

TEST(FindObstacles, ReturnsFromNowhereAreLeftOut) {
  auto points = floor(0);
  points.insert(points.end(), 1000, Point{});
  const float nan = std::nanf("");
  points.insert(points.end(), 1000, Point{nan, nan, nan, 0});
  points.insert(points.end(), 1000, Point{1000, 1000, 0, 0});
  EXPECT_TRUE(find_obstacles(points).empty());
  EXPECT_TRUE(find_obstacles({}).empty());
}

Obstacle obstacle_at(float x, float y) {
  return {{x, y, 0}, {x, y, 0}, 50};
}

TEST(Fuse, ObstaclesComeNearestFirstInTheFrameOfTheRoom) {
  State state;
  state.position = {1, 2, 3};
  state.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};  // a quarter turn to the left
  World world;
  fuse(state, {{}, {obstacle_at(4, 0), obstacle_at(2, 0)}}, {}, world);
  ASSERT_EQ(world.obstacles.size(), 2U);
  EXPECT_NEAR(world.obstacles[0].distance, 2, 1e-9);
  EXPECT_NEAR(world.obstacles[0].centre[0], 1, 1e-9);
  EXPECT_NEAR(world.obstacles[0].centre[1], 4, 1e-9);
  EXPECT_NEAR(world.obstacles[0].centre[2], 3, 1e-9);
}

TEST(Fuse, FlyingTowardsAnObstacleAdvisesToSlowDown) {
  State state;
  state.orientation = {1, 0, 0, 0};
  state.velocity = {2, 0, 0};
  World world;
  fuse(state, {{}, {obstacle_at(3, 0)}}, {}, world);
  EXPECT_NEAR(world.obstacles.at(0).closing_speed, 2, 1e-9);
  EXPECT_EQ(world.advice.find("slow down"), 0U) << world.advice;
  World away;
  fuse(state, {{}, {obstacle_at(-3, 0)}}, {}, away);
  EXPECT_EQ(away.advice.find("go on"), 0U) << away.advice;
}

TEST(Fuse, AnObstacleBehindABoxOfMotionMoves) {
  State state;
  state.orientation = {1, 0, 0, 0};
  Motion motion{{}, 1000, 600, {{700, 0, 100, 600}}};  // half way to the right edge: 26.6 degrees to the right
  World world;
  fuse(state, {{}, {obstacle_at(4, -2), obstacle_at(5, 2.5F), obstacle_at(-6, 3)}}, motion, world);
  ASSERT_EQ(world.obstacles.size(), 3U);
  EXPECT_TRUE(world.obstacles[0].moving);
  EXPECT_FALSE(world.obstacles[1].moving) << "on the other side";
  EXPECT_FALSE(world.obstacles[2].moving) << "behind the camera";
}

TEST(Fuse, NothingAroundIsClear) {
  World world;
  fuse({}, {}, {}, world);
  EXPECT_EQ(world.advice, "clear");
}

}  // namespace
}  // namespace demo
