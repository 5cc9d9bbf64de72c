// What the tests of the C interface have in common.
#pragma once

#include <cstdint>
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

}  // namespace sinew::system
