// What is written and read: four messages, as users have them, and what is looked at in one that was opened.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parts/inside/messages.hpp"

namespace sinew::bench {

struct Vector3 {
  double x = 0, y = 0, z = 0;
  bool operator==(const Vector3&) const = default;
};

struct Quaternion {
  double x = 0, y = 0, z = 0, w = 1;
  bool operator==(const Quaternion&) const = default;
};

using Covariance = std::array<double, 9>;

struct Imu {
  Header header;
  Quaternion orientation;
  Covariance orientation_covariance{};
  Vector3 angular_velocity;
  Covariance angular_velocity_covariance{};
  Vector3 linear_acceleration;
  Covariance linear_acceleration_covariance{};
  bool operator==(const Imu&) const = default;
};

struct TextMap {
  std::map<std::string, std::string> entries;
  bool operator==(const TextMap&) const = default;
};

inline Header make_header(const char* frame) {
  return {.seconds = 1'700'000'000, .nanoseconds = 123'456'789, .frame = frame};
}

/// 1920 x 1080 of three bytes.
inline Image make_full_hd() {
  Image image{.header = make_header("camera_front_optical_frame"),
              .height = 1080,
              .width = 1920,
              .encoding = "rgb8",
              .is_bigendian = 0,
              .step = 5760,
              .data = {}};
  image.data.resize(std::size_t{image.height} * image.step);
  for (std::size_t i = 0; i < image.data.size(); ++i) image.data[i] = static_cast<std::uint8_t>(i % 251);
  return image;
}

/// A turn of a lidar: 100,000 points of 32 bytes.
inline Cloud make_turn() {
  Cloud cloud;
  cloud.header = make_header("lidar_top");
  cloud.fields = {{"x", 0, 7, 1}, {"y", 4, 7, 1}, {"z", 8, 7, 1}, {"intensity", 12, 7, 1}, {"ring", 16, 4, 1}, {"time", 24, 8, 1}};
  cloud.width = 100'000;
  cloud.point_step = 32;
  cloud.row_step = cloud.width * cloud.point_step;
  cloud.data.resize(cloud.row_step);
  for (std::size_t i = 0; i < cloud.data.size(); ++i) cloud.data[i] = static_cast<std::uint8_t>(i % 253);
  return cloud;
}

inline Imu make_imu() {
  return {.header = make_header("imu_link"),
          .orientation = {0.1, 0.2, 0.3, 0.9},
          .orientation_covariance = {1, 0, 0, 0, 2, 0, 0, 0, 3},
          .angular_velocity = {0.01, -0.02, 0.5},
          .angular_velocity_covariance = {4, 0, 0, 0, 5, 0, 0, 0, 6},
          .linear_acceleration = {0.2, 0.1, 9.8},
          .linear_acceleration_covariance = {7, 0, 0, 0, 8, 0, 0, 0, 9}};
}

/// 10,000 entries, whose keys and values have about 25 characters each.
inline TextMap make_map() {
  TextMap map;
  for (int i = 0; i < 10'000; ++i)
    map.entries["name/of/a/parameter/" + std::to_string(10'000 + i)] = "a value of some length " + std::to_string(i);
  return map;
}

/// What was looked at in an opened message, so that the compiler can leave none of it out.
struct Touched {
  std::uint64_t bytes = 0;
  double numbers = 0;
  bool operator==(const Touched&) const = default;

  /// Its first byte.
  template <class Text>
  void text(const Text& text) {
    bytes += static_cast<unsigned char>(text[0]);
  }
  /// Its first and its last element.
  template <class Array>
  void array(const Array& array) {
    element(array[0]);
    element(array[static_cast<decltype(array.size())>(array.size() - 1)]);
  }

 private:
  void element(std::uint8_t value) { bytes += value; }
  void element(double value) { numbers += value; }
};

inline Touched touch(const Image& image) {
  Touched touched;
  touched.text(image.header.frame);
  touched.text(image.encoding);
  touched.array(image.data);
  return touched;
}

inline Touched touch(const Cloud& cloud) {
  Touched touched;
  touched.text(cloud.header.frame);
  for (const PointField& field : cloud.fields) touched.text(field.name);
  touched.array(cloud.data);
  return touched;
}

inline Touched touch(const Imu& imu) {
  Touched touched;
  touched.text(imu.header.frame);
  touched.array(imu.orientation_covariance);
  touched.array(imu.angular_velocity_covariance);
  touched.array(imu.linear_acceleration_covariance);
  return touched;
}

/// Of any list of keys and values as the standard library has them.
template <class Entries>
Touched touch_entries(const Entries& entries) {
  Touched touched;
  for (const auto& [key, value] : entries) {
    touched.text(key);
    touched.text(value);
  }
  return touched;
}

inline Touched touch(const TextMap& map) {
  return touch_entries(map.entries);
}

}  // namespace sinew::bench
