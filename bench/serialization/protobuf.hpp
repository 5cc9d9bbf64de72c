// By Protocol Buffers: messages of its own, whose memory is used again as its documentation advises, are filled from the user's objects and
// read into them.
#pragma once

#include <google/protobuf/arena.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "messages.pb.h"
#include "serialization/messages.hpp"

namespace sinew::bench {

namespace as_protobuf {

inline void fill(Header& to, const bench::Header& from) {
  to.set_seconds(from.seconds);
  to.set_nanoseconds(from.nanoseconds);
  to.set_frame(from.frame);
}

inline void fill(Image& to, const bench::Image& from) {
  fill(*to.mutable_header(), from.header);
  to.set_height(from.height);
  to.set_width(from.width);
  to.set_encoding(from.encoding);
  to.set_is_bigendian(from.is_bigendian);
  to.set_step(from.step);
  to.set_data(from.data.data(), from.data.size());
}

inline void fill(Cloud& to, const bench::Cloud& from) {
  fill(*to.mutable_header(), from.header);
  to.set_height(from.height);
  to.set_width(from.width);
  for (const bench::PointField& each : from.fields) {
    PointField& field = *to.add_fields();
    field.set_name(each.name);
    field.set_offset(each.offset);
    field.set_datatype(each.datatype);
    field.set_count(each.count);
  }
  to.set_is_bigendian(from.is_bigendian);
  to.set_point_step(from.point_step);
  to.set_row_step(from.row_step);
  to.set_data(from.data.data(), from.data.size());
  to.set_is_dense(from.is_dense);
}

inline void fill(Vector3& to, const bench::Vector3& from) {
  to.set_x(from.x);
  to.set_y(from.y);
  to.set_z(from.z);
}

inline void fill(Imu& to, const bench::Imu& from) {
  Quaternion& orientation = *to.mutable_orientation();
  fill(*to.mutable_header(), from.header);
  orientation.set_x(from.orientation.x);
  orientation.set_y(from.orientation.y);
  orientation.set_z(from.orientation.z);
  orientation.set_w(from.orientation.w);
  to.mutable_orientation_covariance()->Add(from.orientation_covariance.begin(), from.orientation_covariance.end());
  fill(*to.mutable_angular_velocity(), from.angular_velocity);
  to.mutable_angular_velocity_covariance()->Add(from.angular_velocity_covariance.begin(), from.angular_velocity_covariance.end());
  fill(*to.mutable_linear_acceleration(), from.linear_acceleration);
  to.mutable_linear_acceleration_covariance()->Add(from.linear_acceleration_covariance.begin(), from.linear_acceleration_covariance.end());
}

inline void fill(TextMap& to, const bench::TextMap& from) {
  auto& entries = *to.mutable_entries();
  for (const auto& [key, value] : from.entries) entries[key] = value;
}

/// As bytes of the vector's own type, which are copied in one go.
inline void read(const std::string& from, std::vector<std::uint8_t>& to) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(from.data());
  to.assign(first, first + from.size());
}

inline void read(const Header& from, bench::Header& to) {
  to.seconds = from.seconds();
  to.nanoseconds = from.nanoseconds();
  to.frame = from.frame();
}

inline void read(const Image& from, bench::Image& to) {
  read(from.header(), to.header);
  to.height = from.height();
  to.width = from.width();
  to.encoding = from.encoding();
  to.is_bigendian = static_cast<std::uint8_t>(from.is_bigendian());
  to.step = from.step();
  read(from.data(), to.data);
}

inline void read(const Cloud& from, bench::Cloud& to) {
  read(from.header(), to.header);
  to.height = from.height();
  to.width = from.width();
  to.fields.reserve(static_cast<std::size_t>(from.fields_size()));
  for (const PointField& field : from.fields()) {
    to.fields.push_back({field.name(), field.offset(), static_cast<std::uint8_t>(field.datatype()), field.count()});
  }
  to.is_bigendian = from.is_bigendian();
  to.point_step = from.point_step();
  to.row_step = from.row_step();
  read(from.data(), to.data);
  to.is_dense = from.is_dense();
}

inline bench::Vector3 value(const Vector3& from) {
  return {from.x(), from.y(), from.z()};
}

inline void read(const google::protobuf::RepeatedField<double>& from, Covariance& to) {
  if (static_cast<std::size_t>(from.size()) != to.size()) throw std::runtime_error("a covariance of another size");
  std::copy(from.begin(), from.end(), to.begin());
}

inline void read(const Imu& from, bench::Imu& to) {
  const Quaternion& orientation = from.orientation();
  read(from.header(), to.header);
  to.orientation = {orientation.x(), orientation.y(), orientation.z(), orientation.w()};
  read(from.orientation_covariance(), to.orientation_covariance);
  to.angular_velocity = value(from.angular_velocity());
  read(from.angular_velocity_covariance(), to.angular_velocity_covariance);
  to.linear_acceleration = value(from.linear_acceleration());
  read(from.linear_acceleration_covariance(), to.linear_acceleration_covariance);
}

/// Values are moved: nobody needs them any more.
inline void read(TextMap& from, bench::TextMap& to) {
  for (auto& [key, value] : *from.mutable_entries()) to.entries.emplace(key, std::move(value));
}

template <class T>
struct TypeOf;
template <>
struct TypeOf<bench::Image> : std::type_identity<Image> {};
template <>
struct TypeOf<bench::Cloud> : std::type_identity<Cloud> {};
template <>
struct TypeOf<bench::Imu> : std::type_identity<Imu> {};
template <>
struct TypeOf<bench::TextMap> : std::type_identity<TextMap> {};

/// A message that is cleared, and keeps what it has allocated.
template <class Type>
class Cleared {
 public:
  Type& fresh() {
    message_.Clear();
    return message_;
  }

 private:
  Type message_;
};

/// A message in an arena, which keeps its memory. For a map, which does not keep its nodes when it is cleared; that takes a third longer.
template <class Type>
class InArena {
 public:
  Type& fresh() {
    arena_.Reset();
    return *google::protobuf::Arena::CreateMessage<Type>(&arena_);
  }

 private:
  static google::protobuf::ArenaOptions in(std::vector<char>& block) {
    google::protobuf::ArenaOptions options;
    options.initial_block = block.data();
    options.initial_block_size = block.size();
    return options;
  }

  std::vector<char> block_ = std::vector<char>(4 << 20);
  google::protobuf::Arena arena_{in(block_)};
};

template <class Type>
using Reused = std::conditional_t<std::is_same_v<Type, TextMap>, InArena<Type>, Cleared<Type>>;

}  // namespace as_protobuf

/// One message, which must outlive it and not change, as its writer and its reader have it.
template <class T>
class Protobuf {
 public:
  static constexpr std::string_view name = "protobuf";

  explicit Protobuf(const T& message) : message_(message) { write(); }

  /// Into the same buffer each time.
  void write() {
    Type& filled = written_.fresh();
    as_protobuf::fill(filled, message_);
    bytes_.resize(filled.ByteSizeLong());
    filled.SerializeWithCachedSizesToArray(bytes_.data());
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(bytes_)); }

  /// Makes an object in raw memory.
  void read(T* raw) {
    Type& parsed = read_.fresh();
    if (!parsed.ParseFromArray(bytes_.data(), static_cast<int>(bytes_.size()))) throw std::runtime_error("no such message");
    as_protobuf::read(parsed, *std::construct_at(raw));
  }

 private:
  using Type = typename as_protobuf::TypeOf<T>::type;

  const T& message_;
  std::vector<std::uint8_t> bytes_;
  as_protobuf::Reused<Type> written_, read_;
};

}  // namespace sinew::bench
