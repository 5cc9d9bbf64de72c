// What the processes of the demo say to each other: plain structs of standard types, the same over either transport.
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace demo {

/// Begins every message.
struct Header {
  std::uint64_t stamp_ns = 0;      ///< When the sensor saw it; what is derived from a message repeats its stamp.
  std::uint64_t published_ns = 0;  ///< Set by the link as publishing begins, so that latency means the same over every transport.
  std::uint64_t copied_by_publisher =
      0;  ///< Set by the link: bytes its publisher had copied until then, so that the monitor can show it live.
};

struct Image {
  Header header;
  std::uint32_t height = 0, width = 0;
  std::string encoding;
  std::vector<std::uint8_t> data;
};

struct Point {
  float x = 0, y = 0, z = 0, intensity = 0;
};

struct Cloud {
  Header header;
  std::vector<Point> points;
};

/// A drone's pose in the room, and what its inertial sensor gets wrong.
struct State {
  Header header;
  std::array<double, 3> position{};     ///< m
  std::array<double, 4> orientation{};  ///< unit quaternion w, x, y, z
  std::array<double, 3> velocity{};     ///< m/s
  std::array<double, 3> gyro_bias{};    ///< rad/s
  std::array<double, 3> accel_bias{};   ///< m/s^2
};

/// Pixels of the image it was found in.
struct Box {
  std::uint32_t left = 0, top = 0, width = 0, height = 0;
};

struct Motion {
  Header header;
  std::uint32_t image_width = 0, image_height = 0;
  std::vector<Box> boxes;
};

/// An axis-aligned box around points that stand on the ground. Metres, in the lidar's frame.
struct Obstacle {
  std::array<float, 3> low{}, high{};
  std::uint32_t points = 0;
};

struct Obstacles {
  Header header;
  std::vector<Obstacle> obstacles;
};

/// An obstacle after fusion: where it is in the room, and whether the camera saw something move in its direction.
struct Tracked {
  std::array<double, 3> centre{};  ///< m
  double distance = 0;             ///< m from the drone
  double closing_speed = 0;        ///< m/s, positive when the drone approaches it
  bool moving = false;
};

struct World {
  Header header;
  std::array<double, 3> position{};
  std::vector<Tracked> obstacles;  ///< nearest first
  std::string advice;              ///< for the pilot
};

// The members of each message in order, for the transport that has to serialize them. (sinew needs no such list.)
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, Image>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.height), f(m.width), f(m.encoding), f(m.data);
}
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, Cloud>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.points);
}
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, State>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.position), f(m.orientation), f(m.velocity), f(m.gyro_bias), f(m.accel_bias);
}
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, Motion>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.image_width), f(m.image_height), f(m.boxes);
}
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, Obstacles>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.obstacles);
}
template <class M, class F>
  requires std::same_as<std::remove_const_t<M>, World>
void visit_members(M& m, F&& f) {
  f(m.header), f(m.position), f(m.obstacles), f(m.advice);
}

}  // namespace demo
