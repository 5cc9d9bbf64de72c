// What Autoware does with the scans of a lidar before they are put together, after Agnocast, section V.D and figures 12 and 13.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "driver.hpp"
#include "work.hpp"

namespace sinew::bench::peers {

namespace {

struct Point {
  float x, y, z, intensity;
  float time;  // within the turn, in s
  std::uint32_t ring;
  float azimuth, distance;
};
static_assert(sizeof(Point) == 32);  // of a PointCloud2 of Autoware

using Cloud = std::vector<Point>;

constexpr std::uint32_t rings = 64;
constexpr float turn_s = 0.1f;

/// Points of a lidar with so many rings, in the order in which it sees them: what PLY keeps of them has none.
Cloud read_scan(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string line;
  std::size_t count = 0;
  while (std::getline(file, line) && !line.starts_with("end_header")) {
    if (line.starts_with("element vertex ")) count = std::stoul(line.substr(15));
  }
  Cloud cloud(count);
  for (Point& point : cloud) {
    std::array<float, 4> values{};
    if (!file.read(reinterpret_cast<char*>(values.data()), sizeof values))
      throw std::runtime_error(path + " is no scan: make demo fetches it");
    const auto [x, y, z, intensity] = values;
    const float distance = std::hypot(x, y), azimuth = std::atan2(y, x);
    const float pitch = std::clamp((std::atan2(z, distance) + 0.45f) / 0.6f, 0.f, 0.999f);
    point = {.x = x,
             .y = y,
             .z = z,
             .intensity = intensity,
             .time = turn_s * (azimuth + std::numbers::pi_v<float>) / (2 * std::numbers::pi_v<float>),
             .ring = static_cast<std::uint32_t>(pitch * rings),
             .azimuth = azimuth,
             .distance = std::hypot(distance, z)};
  }
  if (cloud.empty()) throw std::runtime_error(path + " is not there: make demo fetches it");
  std::ranges::sort(cloud, {}, [](const Point& point) { return std::pair(point.azimuth, point.ring); });
  return cloud;
}

struct Box {
  float from_x, to_x, from_y, to_y, from_z, to_z;

  bool holds(const Point& point) const {
    return point.x > from_x && point.x < to_x && point.y > from_y && point.y < to_y && point.z > from_z && point.z < to_z;
  }
};
constexpr Box vehicle{-1.5f, 3.8f, -1.1f, 1.1f, -0.5f, 2.5f}, mirrors{2.0f, 3.0f, -1.6f, 1.6f, 0.2f, 1.4f};

/// Without the points that the vehicle itself reflects.
Cloud crop(const Cloud& cloud, const Box& box) {
  Cloud kept;
  kept.reserve(cloud.size());
  std::ranges::copy_if(cloud, std::back_inserter(kept), [&](const Point& point) { return !box.holds(point); });
  return kept;
}

/// Each point as it would have been seen at the beginning of the turn, from a vehicle that drives a bend.
Cloud undistort(const Cloud& cloud) {
  constexpr float speed = 10, yaw_rate = 0.3f;
  Cloud made = cloud;
  for (Point& point : made) {
    const float yaw = yaw_rate * point.time, sine = std::sin(yaw), cosine = std::cos(yaw);
    const float x = point.x * cosine - point.y * sine + speed * point.time, y = point.x * sine + point.y * cosine;
    point.x = x;
    point.y = y;
  }
  return made;
}

/// Which points belong to something: where the beam of a ring comes to something else, there is a new object, and those of fewer than four points are rain or dust.
std::vector<bool> without_outliers(const Cloud& cloud) {
  constexpr float ratio = 1.03f;
  constexpr std::size_t least = 4;
  std::vector<bool> kept(cloud.size(), false);
  std::array<std::vector<std::size_t>, rings> objects;
  for (std::size_t at = 0; at < cloud.size(); ++at) {
    std::vector<std::size_t>& object = objects[cloud[at].ring];
    if (!object.empty()) {
      const auto [near, far] = std::minmax(cloud[object.back()].distance, cloud[at].distance);
      if (far > ratio * near) object.clear();
    }
    object.push_back(at);
    if (object.size() == least) {
      for (const std::size_t each : object) kept[each] = true;
    } else if (object.size() > least) {
      kept[at] = true;
    }
  }
  return kept;
}

class Lidar final : public Work {
 public:
  explicit Lidar(const std::string& data) : scan_(read_scan(data + "/source.ply")) {
    for (std::size_t at = 0; at < scan_.size(); at += 16) side_.push_back(scan_[at]);
  }

  std::size_t prepare(std::uint64_t) override {
    undistorted_ = undistort(crop(crop(scan_, vehicle), mirrors));
    kept_ = without_outliers(undistorted_);
    return sizeof(Point) * static_cast<std::size_t>(std::ranges::count(kept_, true));
  }

  using Work::fill;
  /// The last filter writes its output where the message is.
  void fill(const Header&, std::span<std::uint8_t> payload) override {
    std::uint8_t* at = payload.data();
    for (std::size_t index = 0; index < kept_.size(); ++index) {
      if (!kept_[index]) continue;
      std::memcpy(at, &undistorted_[index], sizeof(Point));
      at += sizeof(Point);
    }
  }

  bool use(const Header&, std::span<const std::uint8_t> payload) override {
    // From the place of the lidar into that of the vehicle, with what the lidars at its sides have seen.
    whole_.clear();
    whole_.reserve(payload.size() / sizeof(Point) + 2 * side_.size());
    for (std::size_t at = 0; at + sizeof(Point) <= payload.size(); at += sizeof(Point)) {
      Point point;
      std::memcpy(&point, payload.data() + at, sizeof point);
      point.z += 1.9f;
      whole_.push_back(point);
    }
    for (const float side : {-1.f, 1.f}) {
      for (Point point : side_) {
        point.y += side;
        whole_.push_back(point);
      }
    }
    return payload.size() % sizeof(Point) == 0 && whole_.size() > scan_.size() / 2;
  }

 private:
  const Cloud scan_;
  Cloud side_, undistorted_, whole_;
  std::vector<bool> kept_;
};

}  // namespace

std::unique_ptr<Work> lidar_work(const std::string& data) {
  return std::make_unique<Lidar>(data);
}

}  // namespace sinew::bench::peers
