// What the systems of sinew-bench-serialization make of the messages, and what the program prints.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "serialization/systems.hpp"
#include "tests/program.hpp"

namespace {

using namespace sinew::bench;

template <class T, class System>
T read_by(System& system) {
  alignas(T) std::array<std::byte, sizeof(T)> place;
  T* const object = reinterpret_cast<T*>(place.data());
  system.read(object);
  T read = std::move(*object);
  std::destroy_at(object);
  return read;
}

template <class T>
void expect_that_all_read(const T& message) {
  each_system<T>([&]<class System>() {
    SCOPED_TRACE(System::name);
    System system(message);
    for (int time = 0; time < 3; ++time) {  // buffers are used again
      if (time > 0) system.write();
      EXPECT_TRUE(read_by<T>(system) == message);
      if constexpr (Opens<System>) {
        EXPECT_EQ(system.open(), touch(message));
        EXPECT_GT(system.bytes_opened(), 0);
      }
    }
  });
}

// Of a message that differs from the other, and from a new object, wherever the other does not. Else a system that reads nothing would
// pass.
template <class T>
void expect_that_all_tell_apart(const T& message, const T& other) {
  expect_that_all_read(other);
  each_system<T>([&]<class System>() {
    SCOPED_TRACE(System::name);
    System system(other);
    EXPECT_FALSE(read_by<T>(system) == message);
    if constexpr (Opens<System>) {
      EXPECT_NE(system.open(), touch(message));
    }
  });
}

template <class T>
void expect_the_same_cdr(const T& message) {
  const Sinew<T> sinew(message);
  const FastCdr<T> fast(message);
  EXPECT_TRUE(std::ranges::equal(sinew.bytes(), fast.bytes()));
}

TEST(Serialization, an_image_is_read_as_it_was_written) {
  const Image image = make_full_hd();
  EXPECT_EQ(image.data.size(), 1920 * 1080 * 3);
  expect_that_all_read(image);
  Image other = image;
  other.is_bigendian = 1;
  other.data.back() = 1;
  expect_that_all_tell_apart(image, other);
}

TEST(Serialization, a_point_cloud_is_read_as_it_was_written) {
  const Cloud cloud = make_turn();
  EXPECT_EQ(cloud.data.size(), 100'000 * 32);
  expect_that_all_read(cloud);
  Cloud other = cloud;
  other.height = 2;
  other.fields[3].name = "reflectivity";
  other.fields[3].count = 3;
  other.is_bigendian = true;
  other.is_dense = false;
  expect_that_all_tell_apart(cloud, other);
}

TEST(Serialization, an_imu_is_read_as_it_was_written) {
  const Imu imu = make_imu();
  expect_that_all_read(imu);
  Imu other = imu;
  other.linear_acceleration_covariance.back() = 10;
  expect_that_all_tell_apart(imu, other);
}

TEST(Serialization, a_map_is_read_as_it_was_written) {
  const TextMap map = make_map();
  EXPECT_EQ(map.entries.size(), 10'000);
  expect_that_all_read(map);
  TextMap other = map;
  other.entries.rbegin()->second = "else";
  expect_that_all_tell_apart(map, other);
}

TEST(Serialization, both_cdr_codecs_write_the_same) {
  expect_the_same_cdr(make_full_hd());
  expect_the_same_cdr(make_turn());
  expect_the_same_cdr(make_imu());
  expect_the_same_cdr(make_map());
}

TEST(Serialization, the_program_prints_a_row_for_each_operation_of_each_system) {
  const Outcome outcome = run(SINEW_BENCH_SERIALIZATION " --rounds 2");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  using Key = std::tuple<std::string, std::string, std::string>;
  std::set<Key> expected, printed;
  for (const char* message : {"image", "cloud", "imu", "map"}) {
    each_system<TextMap>([&]<class System>() {
      for (const char* operation : {"write", "read"}) expected.emplace(message, System::name, operation);
      if (Opens<System>) expected.emplace(message, System::name, "open");
    });
  }
  std::istringstream lines(outcome.output);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json row = nlohmann::json::parse(line);
    EXPECT_EQ(row["experiment"], "serialization");
    EXPECT_EQ(row["count"], 2);
    EXPECT_GT(row["bytes"], 0);
    EXPECT_LE(row["p50_us"], row["p99_us"]);
    EXPECT_TRUE(printed.emplace(row["message"], row["system"], row["operation"]).second) << line;
  }
  EXPECT_EQ(printed, expected);
}

TEST(Serialization, the_program_measures_only_what_it_is_asked_for) {
  const Outcome outcome = run(SINEW_BENCH_SERIALIZATION " --rounds 1 --message imu --system fastcdr");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(std::ranges::count(outcome.output, '\n'), 2) << outcome.output;
  EXPECT_EQ(outcome.output.find("sinew"), std::string::npos) << outcome.output;
}

TEST(Serialization, the_program_says_what_it_can_measure_when_asked_for_something_else) {
  const Outcome outcome = run(SINEW_BENCH_SERIALIZATION " --system morse");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.output.find("fastcdr"), std::string::npos) << outcome.output;
}

}  // namespace
