// The messages that are walked and serialized, and Fast CDR for two of them.
#pragma once

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sinew::bench {

struct Header {
  std::int32_t seconds = 7;
  std::uint32_t nanoseconds = 8;
  std::string frame = "camera_front_optical_frame";
  bool operator==(const Header&) const = default;
};

struct Image {
  Header header;
  std::uint32_t height = 0, width = 0;
  std::string encoding = "rgb8";
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 0;
  std::vector<std::uint8_t> data;
  bool operator==(const Image&) const = default;
};

struct PointField {
  std::string name;
  std::uint32_t offset = 0;
  std::uint8_t datatype = 7;
  std::uint32_t count = 1;
  bool operator==(const PointField&) const = default;
};

struct Cloud {
  Header header;
  std::uint32_t height = 1, width = 0;
  std::vector<PointField> fields;
  bool is_bigendian = false;
  std::uint32_t point_step = 0, row_step = 0;
  std::vector<std::uint8_t> data;
  bool is_dense = true;
  bool operator==(const Cloud&) const = default;
};

struct Texts {
  std::vector<std::string> texts;
};

struct State {
  bool enabled = true;
  std::uint8_t mode = 3;
  std::int16_t temperature = -5;
  std::uint32_t sequence = 7;
  std::int64_t stamp = 8;
  double x = 1, y = 2, z = 3;
  double qx = 0, qy = 0, qz = 0, qw = 1;
  float vx = 1, vy = 2, vz = 3;
  std::uint16_t voltage = 24'000;
  bool charging = false;
  std::int32_t left = 10, right = 11;
  std::uint64_t faults = 0;
};

/// 5.5 MB.
inline Image make_image() {
  Image image{.header = {}, .height = 1100, .width = 1250, .encoding = "rgba8", .is_bigendian = 0, .step = 5000, .data = {}};
  image.data.assign(std::size_t{image.height} * image.step, 1);
  return image;
}

/// 16 MB.
inline Cloud make_cloud() {
  Cloud cloud;
  for (const char* const name : {"x", "y", "z", "intensity"}) {
    cloud.fields.push_back({name, static_cast<std::uint32_t>(4 * cloud.fields.size()), 7, 1});
  }
  cloud.width = 1'000'000;
  cloud.point_step = 16;
  cloud.row_step = cloud.width * cloud.point_step;
  cloud.data.assign(cloud.row_step, 1);
  return cloud;
}

/// 10,000 strings, each with a block of its own.
inline Texts make_texts() {
  Texts message;
  for (int i = 0; i < 10'000; ++i) message.texts.push_back("a text of some length " + std::to_string(i));
  return message;
}

/// The fields in order, for operator<< and operator>> alike.
template <class State, class Use>
void each_field(State& s, Use use) {
  use(s.enabled), use(s.mode), use(s.temperature), use(s.sequence), use(s.stamp), use(s.x), use(s.y), use(s.z), use(s.qx), use(s.qy);
  use(s.qz), use(s.qw), use(s.vx), use(s.vy), use(s.vz), use(s.voltage), use(s.charging), use(s.left), use(s.right), use(s.faults);
}

inline void write_fields(eprosima::fastcdr::Cdr& cdr, const State& message) {
  each_field(message, [&](const auto& field) { cdr << field; });
}
inline void read_fields(eprosima::fastcdr::Cdr& cdr, State& message) {
  each_field(message, [&](auto& field) { cdr >> field; });
}
inline void write_fields(eprosima::fastcdr::Cdr& cdr, const Texts& message) {
  cdr << message.texts;
}
inline void read_fields(eprosima::fastcdr::Cdr& cdr, Texts& message) {
  cdr >> message.texts;
}

/// Returns the size of the stream.
template <class T>
std::size_t write_fast(const T& message, std::vector<char>& into) {
  eprosima::fastcdr::FastBuffer buffer(into.data(), into.size());
  eprosima::fastcdr::Cdr cdr(buffer, eprosima::fastcdr::Cdr::LITTLE_ENDIANNESS, eprosima::fastcdr::Cdr::DDS_CDR);
  cdr.serialize_encapsulation();
  write_fields(cdr, message);
  return cdr.getSerializedDataLength();
}

template <class T>
void read_fast(std::vector<char>& from, T& message) {
  eprosima::fastcdr::FastBuffer buffer(from.data(), from.size());
  eprosima::fastcdr::Cdr cdr(buffer, eprosima::fastcdr::Cdr::LITTLE_ENDIANNESS, eprosima::fastcdr::Cdr::DDS_CDR);
  cdr.read_encapsulation();
  read_fields(cdr, message);
}

}  // namespace sinew::bench
