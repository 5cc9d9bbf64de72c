// Reading what a caller has filled in, who may know another version of a structure.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "bindings/c/sinew.h"
#include "sinew/error.hpp"
#include "sinew/events.hpp"
#include "sinew/ghost.hpp"
#include "sinew/qos.hpp"

namespace sinew::c {

/// As this library knows the structure; what the caller does not know is 0. Throws Error(invalid_argument) when the caller asks for something that this library does not know.
template <class Options>
Options read(const Options* options, const char* name) {
  Options known{};
  if (options == nullptr) return known;
  const std::size_t size = options->struct_size;
  if (size < sizeof options->struct_size) {
    throw Error(ErrorKind::invalid_argument,
                std::string(name) + ".struct_size is " + std::to_string(size) + ": set it to sizeof(" + name + ")");
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(options);
  for (std::size_t i = sizeof known; i < size; ++i) {
    if (bytes[i] != std::byte{0}) {
      throw Error(ErrorKind::invalid_argument,
                  std::string("an option in ") + name + " is newer than this library: leave it 0, or use a newer sinew");
    }
  }
  std::memcpy(&known, options, size < sizeof known ? size : sizeof known);
  return known;
}

/// Of functions that wait: less than 0 is for ever.
constexpr std::chrono::nanoseconds timeout_of(std::int64_t ns) noexcept {
  return ns < 0 ? std::chrono::nanoseconds::max() : std::chrono::nanoseconds(ns);
}

/// Keeps what a caller's callbacks are given; `release` is called with the last copy, also when this throws std::bad_alloc.
std::shared_ptr<void> kept(void* context, void (*release)(void* context));

/// Throws Error(invalid_argument), which may name the topic.
Qos qos_of(const sinew_qos* qos, const char* topic);

/// Throws Error(invalid_argument).
Ghost ghost_of(std::uint8_t given);

/// Who is told of events, by one callback for all kinds that it asks for. Throws Error(invalid_argument) when the kinds are none.
struct EventSink {
  sinew_event_callback call = nullptr;
  std::shared_ptr<void> context;
  std::uint32_t kinds = 0;
};
PublisherEvents publisher_events(const EventSink& sink);
SubscriberEvents subscriber_events(const EventSink& sink);

}  // namespace sinew::c
