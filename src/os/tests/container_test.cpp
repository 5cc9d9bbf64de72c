#include "os/container.hpp"

#include <gtest/gtest.h>

#include "os/process.hpp"

namespace sinew::os {
namespace {

const std::string id = "3f2504e04f8941d39a0c0305e82c3301aa11bb22cc33dd44ee55ff6600778899";

TEST(Containers, AreKnownByTheFirstDigitsOfTheirIds) {
  EXPECT_EQ(container_in("0::/system.slice/docker-" + id + ".scope\n"), "3f2504e04f89");
  EXPECT_EQ(container_in("12:cpu:/docker/" + id + "\n0::/\n"), "3f2504e04f89");
  EXPECT_EQ(container_in("0::/user.slice/user-1000.slice/libpod-" + id + ".scope/container\n"), "3f2504e04f89");
  EXPECT_EQ(container_in("0::/kubepods/burstable/pod1234/" + id + "\n"), "3f2504e04f89");
}

TEST(Containers, OfLxcAndSystemdAreKnownByTheirNames) {
  EXPECT_EQ(container_in("0::/lxc/robot/init.scope\n"), "robot");
  EXPECT_EQ(container_in("0::/lxc.payload.robot/init.scope\n"), "robot");
  EXPECT_EQ(container_in("0::/machine.slice/machine-robot.scope/payload\n"), "robot");
}

TEST(Containers, AreNotSeenWhereThereAreNone) {
  EXPECT_EQ(container_in(""), "");
  EXPECT_EQ(container_in("0::/\n"), "");
  EXPECT_EQ(container_in("0::/user.slice/user-1000.slice/session-3.scope\n1:name=systemd:/\n"), "");
  EXPECT_EQ(container_in("0::/lxc\n1:cpu:/\n"), "");
}

TEST(Containers, OfTheCallersOwnProcessAndOfOnesThatAreGoneAreNone) {
  EXPECT_EQ(container_of(this_process()), "");
  EXPECT_EQ(container_of(0), "");
}

}  // namespace
}  // namespace sinew::os
