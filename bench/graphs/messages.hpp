// The messages of the graphs: those of the iRobot benchmark (README.md) as plain structs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

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

/// Looks at three elements of the payload, and whether all of it has come.
template <class T>
bool is_whole(const T& message) {
  using Element = typename decltype(T::data)::value_type;
  const std::span<const Element> data(message.data);
  const auto value = static_cast<Element>(message.header.tracking_number & 0x7f);
  return data.size_bytes() == message.header.size &&
         (data.empty() || (data.front() == value && data[data.size() / 2] == value && data.back() == value));
}

}  // namespace sinew::bench::graphs
