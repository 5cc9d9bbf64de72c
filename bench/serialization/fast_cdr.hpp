// By Fast CDR, as rmw_fastrtps uses it: functions as fastddsgen generates them, and the size asked for before a message is written.
#pragma once

#include <fastcdr/Cdr.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serialization/messages.hpp"

namespace sinew::bench {

using eprosima::fastcdr::Cdr;

inline void write_fields(Cdr& cdr, const Header& header) {
  cdr << header.seconds << header.nanoseconds << header.frame;
}
inline void read_fields(Cdr& cdr, Header& header) {
  cdr >> header.seconds >> header.nanoseconds >> header.frame;
}

inline void write_fields(Cdr& cdr, const Image& image) {
  write_fields(cdr, image.header);
  cdr << image.height << image.width << image.encoding << image.is_bigendian << image.step << image.data;
}
inline void read_fields(Cdr& cdr, Image& image) {
  read_fields(cdr, image.header);
  cdr >> image.height >> image.width >> image.encoding >> image.is_bigendian >> image.step >> image.data;
}

inline void write_fields(Cdr& cdr, const PointField& field) {
  cdr << field.name << field.offset << field.datatype << field.count;
}
inline void read_fields(Cdr& cdr, PointField& field) {
  cdr >> field.name >> field.offset >> field.datatype >> field.count;
}

inline void write_fields(Cdr& cdr, const Cloud& cloud) {
  write_fields(cdr, cloud.header);
  cdr << cloud.height << cloud.width << static_cast<std::uint32_t>(cloud.fields.size());
  for (const PointField& field : cloud.fields) write_fields(cdr, field);
  cdr << cloud.is_bigendian << cloud.point_step << cloud.row_step << cloud.data << cloud.is_dense;
}
inline void read_fields(Cdr& cdr, Cloud& cloud) {
  std::uint32_t fields = 0;
  read_fields(cdr, cloud.header);
  cdr >> cloud.height >> cloud.width >> fields;
  cloud.fields.resize(fields);
  for (PointField& field : cloud.fields) read_fields(cdr, field);
  cdr >> cloud.is_bigendian >> cloud.point_step >> cloud.row_step >> cloud.data >> cloud.is_dense;
}

inline void write_fields(Cdr& cdr, const Vector3& vector) {
  cdr << vector.x << vector.y << vector.z;
}
inline void read_fields(Cdr& cdr, Vector3& vector) {
  cdr >> vector.x >> vector.y >> vector.z;
}

inline void write_fields(Cdr& cdr, const Quaternion& quaternion) {
  cdr << quaternion.x << quaternion.y << quaternion.z << quaternion.w;
}
inline void read_fields(Cdr& cdr, Quaternion& quaternion) {
  cdr >> quaternion.x >> quaternion.y >> quaternion.z >> quaternion.w;
}

inline void write_fields(Cdr& cdr, const Imu& imu) {
  write_fields(cdr, imu.header);
  write_fields(cdr, imu.orientation);
  cdr << imu.orientation_covariance;
  write_fields(cdr, imu.angular_velocity);
  cdr << imu.angular_velocity_covariance;
  write_fields(cdr, imu.linear_acceleration);
  cdr << imu.linear_acceleration_covariance;
}
inline void read_fields(Cdr& cdr, Imu& imu) {
  read_fields(cdr, imu.header);
  read_fields(cdr, imu.orientation);
  cdr >> imu.orientation_covariance;
  read_fields(cdr, imu.angular_velocity);
  cdr >> imu.angular_velocity_covariance;
  read_fields(cdr, imu.linear_acceleration);
  cdr >> imu.linear_acceleration_covariance;
}

inline void write_fields(Cdr& cdr, const TextMap& map) {
  cdr << map.entries;
}
inline void read_fields(Cdr& cdr, TextMap& map) {
  cdr >> map.entries;
}

/// Where something of `size` bytes ends that follows on what ends at `at`.
inline std::size_t behind(std::size_t at, std::size_t size, std::size_t alignment) {
  return at + Cdr::alignment(at, alignment) + size;
}
inline std::size_t behind_text(std::size_t at, const std::string& text) {
  return behind(at, sizeof(std::uint32_t), sizeof(std::uint32_t)) + text.size() + 1;
}
inline std::size_t behind_bytes(std::size_t at, const std::vector<std::uint8_t>& bytes) {
  return behind(at, sizeof(std::uint32_t), sizeof(std::uint32_t)) + bytes.size();
}

inline std::size_t size_of(const Header& header) {
  return behind_text(2 * sizeof(std::uint32_t), header.frame);
}
inline std::size_t size_of(const Image& image) {
  const std::size_t dimensions = behind(size_of(image.header), 2 * sizeof(std::uint32_t), sizeof(std::uint32_t));
  const std::size_t flag = behind_text(dimensions, image.encoding) + 1;
  return behind_bytes(behind(flag, sizeof image.step, sizeof image.step), image.data);
}
inline std::size_t size_of(const Cloud& cloud) {
  std::size_t at = behind(size_of(cloud.header), 3 * sizeof(std::uint32_t), sizeof(std::uint32_t));
  for (const PointField& field : cloud.fields) {
    const std::size_t datatype = behind(behind_text(at, field.name), sizeof field.offset, sizeof field.offset) + 1;
    at = behind(datatype, sizeof field.count, sizeof field.count);
  }
  return behind_bytes(behind(at + 1, 2 * sizeof(std::uint32_t), sizeof(std::uint32_t)), cloud.data) + 1;
}
inline std::size_t size_of(const Imu& imu) {
  return behind(size_of(imu.header), sizeof(Quaternion) + 2 * sizeof(Vector3) + 3 * sizeof(Covariance), sizeof(double));
}
inline std::size_t size_of(const TextMap& map) {
  std::size_t at = sizeof(std::uint32_t);
  for (const auto& [key, value] : map.entries) at = behind_text(behind_text(at, key), value);
  return at;
}

/// One message, which must outlive it and not change, as its writer and its reader have it.
template <class T>
class FastCdr {
 public:
  static constexpr std::string_view name = "fastcdr";

  explicit FastCdr(const T& message) : message_(message) { write(); }

  /// Into the same buffer each time.
  void write() {
    bytes_.resize(encapsulation + size_of(message_));
    write_fast(message_, bytes_);
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

  /// Makes an object in raw memory.
  void read(T* raw) { read_fast(bytes_, *std::construct_at(raw)); }

 private:
  static constexpr std::size_t encapsulation = 4;

  const T& message_;
  std::vector<char> bytes_;
};

}  // namespace sinew::bench
