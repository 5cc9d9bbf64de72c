// By FlatBuffers: built by a builder that is used again and keeps its memory, and verified before it is looked at, as one does with bytes
// of others.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "messages_generated.h"
#include "serialization/messages.hpp"

namespace sinew::bench {

namespace as_flatbuffers {

using Builder = ::flatbuffers::FlatBufferBuilder;
template <class Table>
using Offset = ::flatbuffers::Offset<Table>;

inline Offset<Header> build(Builder& builder, const bench::Header& from) {
  return CreateHeader(builder, from.seconds, from.nanoseconds, builder.CreateString(from.frame));
}

inline Offset<Image> build(Builder& builder, const bench::Image& from) {
  const auto header = build(builder, from.header);
  const auto encoding = builder.CreateString(from.encoding);
  const auto data = builder.CreateVector(from.data);
  return CreateImage(builder, header, from.height, from.width, encoding, from.is_bigendian, from.step, data);
}

inline Offset<Cloud> build(Builder& builder, const bench::Cloud& from) {
  const auto header = build(builder, from.header);
  std::vector<Offset<PointField>> fields;
  fields.reserve(from.fields.size());
  for (const bench::PointField& field : from.fields) {
    fields.push_back(CreatePointField(builder, builder.CreateString(field.name), field.offset, field.datatype, field.count));
  }
  const auto fields_at = builder.CreateVector(fields);
  const auto data = builder.CreateVector(from.data);
  return CreateCloud(builder, header, from.height, from.width, fields_at, from.is_bigendian, from.point_step, from.row_step, data,
                     from.is_dense);
}

inline Offset<Imu> build(Builder& builder, const bench::Imu& from) {
  const auto vector = [](const bench::Vector3& value) { return Vector3(value.x, value.y, value.z); };
  const auto header = build(builder, from.header);
  const Quaternion orientation(from.orientation.x, from.orientation.y, from.orientation.z, from.orientation.w);
  const Vector3 angular_velocity = vector(from.angular_velocity);
  const Vector3 linear_acceleration = vector(from.linear_acceleration);
  const Covariance of_orientation(from.orientation_covariance);
  const Covariance of_velocity(from.angular_velocity_covariance);
  const Covariance of_acceleration(from.linear_acceleration_covariance);
  return CreateImu(builder, header, &orientation, &of_orientation, &angular_velocity, &of_velocity, &linear_acceleration, &of_acceleration);
}

inline Offset<TextMap> build(Builder& builder, const bench::TextMap& from) {
  std::vector<Offset<TextEntry>> entries;
  entries.reserve(from.entries.size());
  for (const auto& [key, value] : from.entries) {
    const auto key_at = builder.CreateString(key);
    entries.push_back(CreateTextEntry(builder, key_at, builder.CreateString(value)));
  }
  return CreateTextMap(builder, builder.CreateVector(entries));
}

inline std::string text(const ::flatbuffers::String& from) {
  return from.str();
}

/// Not by the vector's own iterators, which convert each element.
inline void read(const ::flatbuffers::Vector<std::uint8_t>& from, std::vector<std::uint8_t>& to) {
  to.assign(from.data(), from.data() + from.size());
}

inline void read(const Header& from, bench::Header& to) {
  to.seconds = from.seconds();
  to.nanoseconds = from.nanoseconds();
  to.frame = text(*from.frame());
}

inline void read(const Image& from, bench::Image& to) {
  read(*from.header(), to.header);
  to.height = from.height();
  to.width = from.width();
  to.encoding = text(*from.encoding());
  to.is_bigendian = from.is_bigendian();
  to.step = from.step();
  read(*from.data(), to.data);
}

inline void read(const Cloud& from, bench::Cloud& to) {
  read(*from.header(), to.header);
  to.height = from.height();
  to.width = from.width();
  to.fields.reserve(from.fields()->size());
  for (const PointField* const field : *from.fields()) {
    to.fields.push_back({text(*field->name()), field->offset(), field->datatype(), field->count()});
  }
  to.is_bigendian = from.is_bigendian();
  to.point_step = from.point_step();
  to.row_step = from.row_step();
  read(*from.data(), to.data);
  to.is_dense = from.is_dense();
}

inline bench::Vector3 value(const Vector3& from) {
  return {from.x(), from.y(), from.z()};
}

inline void read(const Covariance& from, bench::Covariance& to) {
  std::copy_n(from.values()->data(), to.size(), to.begin());
}

inline void read(const Imu& from, bench::Imu& to) {
  const Quaternion& orientation = *from.orientation();
  read(*from.header(), to.header);
  to.orientation = {orientation.x(), orientation.y(), orientation.z(), orientation.w()};
  read(*from.orientation_covariance(), to.orientation_covariance);
  to.angular_velocity = value(*from.angular_velocity());
  read(*from.angular_velocity_covariance(), to.angular_velocity_covariance);
  to.linear_acceleration = value(*from.linear_acceleration());
  read(*from.linear_acceleration_covariance(), to.linear_acceleration_covariance);
}

/// They come in order, as the map that was written had them.
inline void read(const TextMap& from, bench::TextMap& to) {
  for (const TextEntry* const entry : *from.entries())
    to.entries.emplace_hint(to.entries.end(), text(*entry->key()), text(*entry->value()));
}

inline Touched touch(const Image& image) {
  Touched touched;
  touched.text(*image.header()->frame());
  touched.text(*image.encoding());
  touched.array(*image.data());
  return touched;
}

inline Touched touch(const Cloud& cloud) {
  Touched touched;
  touched.text(*cloud.header()->frame());
  for (const PointField* const field : *cloud.fields()) touched.text(*field->name());
  touched.array(*cloud.data());
  return touched;
}

inline Touched touch(const Imu& imu) {
  Touched touched;
  touched.text(*imu.header()->frame());
  touched.array(*imu.orientation_covariance()->values());
  touched.array(*imu.angular_velocity_covariance()->values());
  touched.array(*imu.linear_acceleration_covariance()->values());
  return touched;
}

inline Touched touch(const TextMap& map) {
  Touched touched;
  for (const TextEntry* const entry : *map.entries()) {
    touched.text(*entry->key());
    touched.text(*entry->value());
  }
  return touched;
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

}  // namespace as_flatbuffers

/// One message, which must outlive it and not change, as its writer and its reader have it.
template <class T>
class FlatBuffers {
 public:
  static constexpr std::string_view name = "flatbuffers";

  explicit FlatBuffers(const T& message) : message_(message) { write(); }

  /// Into the same buffer each time.
  void write() {
    builder_.Clear();
    builder_.Finish(as_flatbuffers::build(builder_, message_));
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(builder_.GetBufferPointer(), builder_.GetSize())); }

  /// Makes an object in raw memory.
  void read(T* raw) const { as_flatbuffers::read(verified(), *std::construct_at(raw)); }

  Touched open() const { return as_flatbuffers::touch(verified()); }
  std::size_t bytes_opened() const { return bytes().size(); }

 private:
  using Type = typename as_flatbuffers::TypeOf<T>::type;

  const Type& verified() const {
    ::flatbuffers::Verifier verifier(builder_.GetBufferPointer(), builder_.GetSize());
    if (!verifier.VerifyBuffer<Type>(nullptr)) throw std::runtime_error("no such message");
    return *::flatbuffers::GetRoot<Type>(builder_.GetBufferPointer());
  }

  const T& message_;
  as_flatbuffers::Builder builder_;
};

}  // namespace sinew::bench
