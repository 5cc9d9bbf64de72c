// What is said of peers that are not connected.
#include "session/qos/incompatible_peers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace sinew::session {
namespace {

TEST(IncompatiblePeers, of_very_many_some_are_said_and_all_are_counted) {
  IncompatiblePeers peers("image", "camera", {.depth = 8});
  testing::internal::CaptureStderr();
  for (std::uint64_t number = 1; number <= 1000; ++number) {
    peers.add({.id = 1,
               .you_publish = true,
               .peer = "viewer" + std::to_string(number),
               .qos = {.depth = 8, .reliable = true},
               .identity = number});
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(std::ranges::count(said, '\n'), 65) << said;
  EXPECT_NE(said.find("for a minute no more is said"), said.npos) << said;
  EXPECT_EQ(peers.count(), 1000U);
  EXPECT_EQ(peers.last().node, "viewer1000");
}

}  // namespace
}  // namespace sinew::session
