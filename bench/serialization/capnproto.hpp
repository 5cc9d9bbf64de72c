// By Cap'n Proto: built in one segment that is used again, so that the bytes of the message are whole where they were built; read with the
// limits that it has by default, which none of the messages reaches.
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "messages.capnp.h"
#include "serialization/messages.hpp"

namespace sinew::bench {

namespace as_capnproto {

inline void fill(Header::Builder to, const bench::Header& from) {
  to.setSeconds(from.seconds);
  to.setNanoseconds(from.nanoseconds);
  to.setFrame(from.frame);
}

inline void fill(Image::Builder to, const bench::Image& from) {
  fill(to.initHeader(), from.header);
  to.setHeight(from.height);
  to.setWidth(from.width);
  to.setEncoding(from.encoding);
  to.setIsBigendian(from.is_bigendian);
  to.setStep(from.step);
  to.setData({from.data.data(), from.data.size()});
}

inline void fill(Cloud::Builder to, const bench::Cloud& from) {
  fill(to.initHeader(), from.header);
  to.setHeight(from.height);
  to.setWidth(from.width);
  auto fields = to.initFields(static_cast<unsigned>(from.fields.size()));
  for (unsigned i = 0; i < fields.size(); ++i) {
    PointField::Builder field = fields[i];
    field.setName(from.fields[i].name);
    field.setOffset(from.fields[i].offset);
    field.setDatatype(from.fields[i].datatype);
    field.setCount(from.fields[i].count);
  }
  to.setIsBigendian(from.is_bigendian);
  to.setPointStep(from.point_step);
  to.setRowStep(from.row_step);
  to.setData({from.data.data(), from.data.size()});
  to.setIsDense(from.is_dense);
}

inline void fill(Vector3::Builder to, const bench::Vector3& from) {
  to.setX(from.x);
  to.setY(from.y);
  to.setZ(from.z);
}

inline void fill(Quaternion::Builder to, const bench::Quaternion& from) {
  to.setX(from.x);
  to.setY(from.y);
  to.setZ(from.z);
  to.setW(from.w);
}

inline void fill(capnp::List<double>::Builder to, const Covariance& from) {
  for (unsigned i = 0; i < from.size(); ++i) to.set(i, from[i]);
}

inline void fill(Imu::Builder to, const bench::Imu& from) {
  constexpr auto size = static_cast<unsigned>(std::tuple_size_v<Covariance>);
  fill(to.initHeader(), from.header);
  fill(to.initOrientation(), from.orientation);
  fill(to.initOrientationCovariance(size), from.orientation_covariance);
  fill(to.initAngularVelocity(), from.angular_velocity);
  fill(to.initAngularVelocityCovariance(size), from.angular_velocity_covariance);
  fill(to.initLinearAcceleration(), from.linear_acceleration);
  fill(to.initLinearAccelerationCovariance(size), from.linear_acceleration_covariance);
}

inline void fill(TextMap::Builder to, const bench::TextMap& from) {
  auto entries = to.initEntries(static_cast<unsigned>(from.entries.size()));
  unsigned next = 0;
  for (const auto& [key, value] : from.entries) {
    TextEntry::Builder entry = entries[next++];
    entry.setKey(key);
    entry.setValue(value);
  }
}

inline std::string text(capnp::Text::Reader from) {
  return {from.begin(), from.size()};
}

inline void read(Header::Reader from, bench::Header& to) {
  to.seconds = from.getSeconds();
  to.nanoseconds = from.getNanoseconds();
  to.frame = text(from.getFrame());
}

inline void read(Image::Reader from, bench::Image& to) {
  read(from.getHeader(), to.header);
  to.height = from.getHeight();
  to.width = from.getWidth();
  to.encoding = text(from.getEncoding());
  to.is_bigendian = from.getIsBigendian();
  to.step = from.getStep();
  const capnp::Data::Reader data = from.getData();
  to.data.assign(data.begin(), data.end());
}

inline void read(Cloud::Reader from, bench::Cloud& to) {
  read(from.getHeader(), to.header);
  to.height = from.getHeight();
  to.width = from.getWidth();
  const auto fields = from.getFields();
  to.fields.reserve(fields.size());
  for (const PointField::Reader field : fields) {
    to.fields.push_back({text(field.getName()), field.getOffset(), field.getDatatype(), field.getCount()});
  }
  to.is_bigendian = from.getIsBigendian();
  to.point_step = from.getPointStep();
  to.row_step = from.getRowStep();
  const capnp::Data::Reader data = from.getData();
  to.data.assign(data.begin(), data.end());
  to.is_dense = from.getIsDense();
}

inline bench::Vector3 value(Vector3::Reader from) {
  return {from.getX(), from.getY(), from.getZ()};
}
inline bench::Quaternion value(Quaternion::Reader from) {
  return {from.getX(), from.getY(), from.getZ(), from.getW()};
}

/// The length is the sender's: nothing but this looks at it.
inline capnp::List<double>::Reader checked(capnp::List<double>::Reader from) {
  if (from.size() != std::tuple_size_v<Covariance>) throw std::runtime_error("a covariance of another size");
  return from;
}
inline void read(capnp::List<double>::Reader from, Covariance& to) {
  checked(from);
  for (unsigned i = 0; i < to.size(); ++i) to[i] = from[i];
}

inline void read(Imu::Reader from, bench::Imu& to) {
  read(from.getHeader(), to.header);
  to.orientation = value(from.getOrientation());
  read(from.getOrientationCovariance(), to.orientation_covariance);
  to.angular_velocity = value(from.getAngularVelocity());
  read(from.getAngularVelocityCovariance(), to.angular_velocity_covariance);
  to.linear_acceleration = value(from.getLinearAcceleration());
  read(from.getLinearAccelerationCovariance(), to.linear_acceleration_covariance);
}

/// They come in order, as the map that was written had them.
inline void read(TextMap::Reader from, bench::TextMap& to) {
  for (const TextEntry::Reader entry : from.getEntries())
    to.entries.emplace_hint(to.entries.end(), text(entry.getKey()), text(entry.getValue()));
}

inline Touched touch(Image::Reader image) {
  Touched touched;
  touched.text(image.getHeader().getFrame());
  touched.text(image.getEncoding());
  touched.array(image.getData());
  return touched;
}

inline Touched touch(Cloud::Reader cloud) {
  Touched touched;
  touched.text(cloud.getHeader().getFrame());
  for (const PointField::Reader field : cloud.getFields()) touched.text(field.getName());
  touched.array(cloud.getData());
  return touched;
}

inline Touched touch(Imu::Reader imu) {
  Touched touched;
  touched.text(imu.getHeader().getFrame());
  touched.array(checked(imu.getOrientationCovariance()));
  touched.array(checked(imu.getAngularVelocityCovariance()));
  touched.array(checked(imu.getLinearAccelerationCovariance()));
  return touched;
}

inline Touched touch(TextMap::Reader map) {
  Touched touched;
  for (const TextEntry::Reader entry : map.getEntries()) {
    touched.text(entry.getKey());
    touched.text(entry.getValue());
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

}  // namespace as_capnproto

/// One message, which must outlive it and not change, as its writer and its reader have it.
template <class T>
class CapnProto {
 public:
  static constexpr std::string_view name = "capnproto";

  explicit CapnProto(const T& message) : message_(message) {
    capnp::MallocMessageBuilder first;
    as_capnproto::fill(first.initRoot<Type>(), message);
    words_.resize(capnp::computeSerializedSizeInWords(first));
    write();
  }

  /// Into the same buffer each time. It must be zeros before anything is built in it, to which the builder before this one sees when it
  /// goes.
  void write() {
    builder_.reset();
    builder_.emplace(kj::arrayPtr(reinterpret_cast<capnp::word*>(words_.data() + 1), words_.size() - 1));
    as_capnproto::fill(builder_->template initRoot<Type>(), message_);
    const auto segments = builder_->getSegmentsForOutput();
    if (segments.size() != 1) throw std::runtime_error("the message did not fit into its buffer");
    // What goes before one segment: how many follow on it, and its length.
    words_[0] = std::uint64_t{segments[0].size()} << 32;
    used_ = 1 + segments[0].size();
  }
  std::span<const std::byte> bytes() const { return std::as_bytes(std::span(words_).first(used_)); }

  /// Makes an object in raw memory.
  void read(T* raw) const {
    capnp::FlatArrayMessageReader reader(words());
    as_capnproto::read(reader.getRoot<Type>(), *std::construct_at(raw));
  }

  /// Cap'n Proto checks what is looked at.
  Touched open() const {
    capnp::FlatArrayMessageReader reader(words());
    return as_capnproto::touch(reader.getRoot<Type>());
  }
  std::size_t bytes_opened() const { return bytes().size(); }

 private:
  using Type = typename as_capnproto::TypeOf<T>::type;

  kj::ArrayPtr<const capnp::word> words() const { return kj::arrayPtr(reinterpret_cast<const capnp::word*>(words_.data()), used_); }

  const T& message_;
  std::vector<std::uint64_t> words_;
  std::size_t used_ = 0;
  std::optional<capnp::MallocMessageBuilder> builder_;
};

}  // namespace sinew::bench
