// The recorded inputs are read as they are, and nothing else is taken for one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "recording.hpp"

namespace demo {
namespace {

class File {
 public:
  explicit File(std::string_view content) { std::ofstream(path_, std::ios::binary) << content; }
  ~File() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_ = std::filesystem::path(testing::TempDir()) / ("demo_recording_" + std::to_string(::getpid()) + "_" +
                                                                             testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string ply(const std::string& properties, std::string_view body) {
  return "ply\nformat binary_little_endian 1.0\ncomment property of nobody\nelement vertex 2\n" + properties + "end_header\n" +
         std::string(body);
}

constexpr std::array<float, 8> two_points{1, 2, 3, 4, 5, 6, 7, 8};
const std::string_view body(reinterpret_cast<const char*>(two_points.data()), sizeof two_points);
const std::string four_floats = "property float x\nproperty float y\nproperty float z\nproperty float intensity\n";

TEST(Recording, AScanIsReadPointByPoint) {
  const File file(ply(four_floats, body));
  const auto points = read_scan(file.path());
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].z, 3);
  EXPECT_EQ(points[1].intensity, 8);
}

TEST(Recording, AScanThatEndsEarlyIsRefused) {
  const File file(ply(four_floats, body.substr(1)));
  EXPECT_THROW(read_scan(file.path()), std::runtime_error);
}

TEST(Recording, AScanOfOtherPropertiesIsRefused) {
  const File file(ply("property double x\nproperty float y\nproperty float z\nproperty float w\n", body));
  EXPECT_THROW(read_scan(file.path()), std::runtime_error);
}

TEST(Recording, AMissingFileIsNamedInTheError) {
  try {
    read_scan("/nowhere/source.ply");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/source.ply"), std::string::npos);
  }
}

TEST(Recording, AFlightIsReadStateByState) {
  const File file("#timestamp, ...\n100,1,2,3,1,0,0,0,4,5,6,7,8,9,-1,-2,-3.5\n200,1,2,3,1,0,0,0,4,5,6,7,8,9,-1,-2,-3\n");
  const auto states = read_flight(file.path());
  ASSERT_EQ(states.size(), 2U);
  EXPECT_EQ(states[0].header.stamp_ns, 100U);
  EXPECT_EQ(states[0].position[2], 3);
  EXPECT_EQ(states[0].velocity[0], 4);
  EXPECT_EQ(states[0].accel_bias[2], -3.5);
}

TEST(Recording, AFlightWithAShortLineIsRefusedWithTheLine) {
  const File file("100,1,2,3,1,0,0,0,4,5,6,7,8,9,-1,-2,-3\n200,1,2\n");
  try {
    read_flight(file.path());
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("line 2"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace demo
