// What the tests of the C interface have in common.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bindings/c/sinew.h"
#include "tests/system/harness.hpp"

namespace sinew::system {

using Stream = std::vector<std::uint8_t>;

inline Stream joined(const sinew_frame* frame) {
  Stream stream;
  for (std::size_t i = 0; i < sinew_frame_extent_count(frame); ++i) {
    const sinew_extent extent = sinew_frame_extent(frame, i);
    stream.insert(stream.end(), extent.data, extent.data + extent.size);
  }
  return stream;
}

template <class Options>
Options sized() {
  Options options{};
  options.struct_size = sizeof options;
  return options;
}

inline bool is_matched(const sinew_publisher* publisher, std::uint64_t subscribers = 1) {
  return eventually([&] {
    sinew_publisher_statistics statistics;
    return sinew_publisher_get_statistics(publisher, &statistics) == SINEW_OK && statistics.subscribers == subscribers;
  });
}

/// Each test has a node.
class InC : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    create_node();
  }
  void create_node() { ASSERT_EQ(sinew_node_create("node", nullptr, &node), SINEW_OK) << sinew_last_error(); }
  void TearDown() override {
    sinew_node_destroy(node);
    Domain::TearDown();
  }
  sinew_node* node = nullptr;
};

inline constexpr const char* number_type = "test/Number{value:uint32;}";

inline Stream stream_of(std::uint32_t number) {
  Stream stream{0, 1, 0, 0, 0, 0, 0, 0};
  std::memcpy(&stream[4], &number, sizeof number);
  return stream;
}

inline sinew_status publish(sinew_publisher* publisher, const Stream& stream) {
  const std::array<sinew_extent, 2> extents{sinew_extent{stream.data(), 4}, sinew_extent{stream.data() + 4, stream.size() - 4}};
  return sinew_publisher_publish(publisher, extents.data(), extents.size());
}

/// With topics of numbers.
class NumbersInC : public InC {
 protected:
  sinew_publisher* publisher_of(const char* topic, const sinew_qos* qos = nullptr) {
    sinew_publisher* publisher = nullptr;
    require(sinew_publisher_create(node, topic, number_type, qos, nullptr, &publisher) == SINEW_OK, sinew_last_error());
    return publisher;
  }
  sinew_subscriber* subscriber_of(const char* topic, const sinew_qos* qos = nullptr, const sinew_subscriber_options* options = nullptr) {
    sinew_subscriber* subscriber = nullptr;
    require(sinew_subscriber_create(node, topic, number_type, qos, options, &subscriber) == SINEW_OK, sinew_last_error());
    return subscriber;
  }
};

}  // namespace sinew::system
