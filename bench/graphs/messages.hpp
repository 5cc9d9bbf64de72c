// The messages of the graphs: those of the iRobot benchmark (README.md) as plain structs; and what nodes do with them, whatever carries them.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "board.hpp"
#include "clock.hpp"
#include "sinew/message.hpp"
#include "topology.hpp"

namespace sinew::bench::graphs {

struct Header {
  std::int32_t sec;  ///< CLOCK_MONOTONIC just before publish
  std::uint32_t nanosec;
  std::uint32_t tracking_number;
  float frequency;
  std::uint32_t size;
};

template <class Element, std::size_t count>
struct Stamped {
  Header header;
  std::array<Element, count> data;
};

using StampedInt64 = Stamped<std::int64_t, 1>;
using Stamped4Int32 = Stamped<std::int32_t, 4>;
using Stamped3Float32 = Stamped<float, 3>;
using Stamped4Float32 = Stamped<float, 4>;
using Stamped9Float32 = Stamped<float, 9>;
using Stamped12Float32 = Stamped<float, 12>;
using Stamped100b = Stamped<std::uint8_t, 100>;
using Stamped1kb = Stamped<std::uint8_t, 1024>;
using Stamped250kb = Stamped<std::uint8_t, 256'000>;
struct StampedVector {
  Header header;
  std::vector<std::uint8_t> data;
};
/// What is relayed: 320 x 240 pixels of three colors, as in the pipeline of ROS 2's intra_process_demo.
using Image = StampedVector;

template <class... T>
struct TypeList {};
using Types = TypeList<StampedInt64, Stamped4Int32, Stamped3Float32, Stamped4Float32, Stamped9Float32, Stamped12Float32, Stamped100b,
                       Stamped1kb, Stamped250kb, StampedVector>;

}  // namespace sinew::bench::graphs

// The names in topology files, behind the slash.
SINEW_NAME(sinew::bench::graphs::StampedInt64, "irobot/stamped_int64");
SINEW_NAME(sinew::bench::graphs::Stamped4Int32, "irobot/stamped4_int32");
SINEW_NAME(sinew::bench::graphs::Stamped3Float32, "irobot/stamped3_float32");
SINEW_NAME(sinew::bench::graphs::Stamped4Float32, "irobot/stamped4_float32");
SINEW_NAME(sinew::bench::graphs::Stamped9Float32, "irobot/stamped9_float32");
SINEW_NAME(sinew::bench::graphs::Stamped12Float32, "irobot/stamped12_float32");
SINEW_NAME(sinew::bench::graphs::Stamped100b, "irobot/stamped100b");
SINEW_NAME(sinew::bench::graphs::Stamped1kb, "irobot/stamped1kb");
SINEW_NAME(sinew::bench::graphs::Stamped250kb, "irobot/stamped250kb");
SINEW_NAME(sinew::bench::graphs::StampedVector, "irobot/stamped_vector");

namespace sinew::bench::graphs {

template <class T>
constexpr std::string_view topology_name() {
  const std::string_view name = msg::explicit_name<T>;
  return name.substr(name.find('/') + 1);
}

/// Calls `use.template operator()<T>()` with the type that topology files call `name`.
template <class Use>
void with_type(std::string_view name, Use use) {
  [&]<class... T>(TypeList<T...>) {
    static_cast<void>(((name == topology_name<T>() ? (use.template operator()<T>(), true) : false) || ...));
  }(Types{});
}

/// Fills the whole payload, which a robot would compute, and takes the time last. Returns it.
template <class T>
std::int64_t fill(T& message, const Publication& publication, std::uint32_t number) {
  using Element = typename decltype(T::data)::value_type;
  const auto value = static_cast<Element>(number & 0x7f);
  if constexpr (requires { message.data.resize(0); }) {
    message.data.assign(publication.size, value);
  } else {
    message.data.fill(value);
  }
  const std::int64_t stamp = now_ns();
  message.header = {.sec = static_cast<std::int32_t>(stamp / 1'000'000'000),
                    .nanosec = static_cast<std::uint32_t>(stamp % 1'000'000'000),
                    .tracking_number = number,
                    .frequency = 1e9F / static_cast<float>(publication.period_ns),
                    .size = static_cast<std::uint32_t>(publication.size)};
  return stamp;
}

inline std::int64_t stamp_of(const Header& header) {
  return std::int64_t{header.sec} * 1'000'000'000 + header.nanosec;
}

/// Where a node that relays images draws, and what: a bar as large as a line of text. No payload is filled with that.
namespace mark {
inline constexpr std::size_t image_row = 320 * 3, first_row = 40, rows = 16, first_byte = 20 * 3, bytes = 200 * 3;
inline constexpr std::size_t begin = first_row * image_row + first_byte, end = begin + (rows - 1) * image_row + bytes;
inline constexpr std::uint8_t color = 0xff;
}  // namespace mark

inline void draw_mark(Image& image) {
  if (image.data.size() < mark::end) return;  // damaged, and taken down as that
  for (std::size_t row = 0; row < mark::rows; ++row) {
    std::fill_n(image.data.begin() + static_cast<std::ptrdiff_t>(mark::begin + row * mark::image_row), mark::bytes, mark::color);
  }
}

template <class T>
bool has_mark(const T& message) {
  if constexpr (std::same_as<T, Image>) {
    const auto& data = message.data;
    return data.size() >= mark::end && data[mark::begin] == mark::color && data[mark::end - 1] == mark::color;
  } else {
    return false;
  }
}

/// Looks at three elements of the payload, and whether all of it has come.
template <class T>
bool is_whole(const T& message) {
  using Element = typename decltype(T::data)::value_type;
  const std::span<const Element> data(message.data);
  const auto value = static_cast<Element>(message.header.tracking_number & 0x7f);
  return data.size_bytes() == message.header.size &&
         (data.empty() || (data.front() == value && data[data.size() / 2] == value && data.back() == value));
}

/// The first thing in a callback.
template <class T>
void take_down(const T& message, Tally& tally) {
  const std::int64_t now = now_ns();
  tally.add(now, stamp_of(message.header), is_whole(message) && has_mark(message) == tally.is_changed());
}

}  // namespace sinew::bench::graphs
