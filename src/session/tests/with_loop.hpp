// A loop that runs, for tests of what it runs.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>

#include "session/io/io_loop.hpp"

namespace sinew::session {

inline constexpr std::int64_t ms = 1'000'000;

class WithLoop : public ::testing::Test {
 protected:
  WithLoop() { loop_.start("test"); }
  /// Before the test's members go, which tasks use.
  void TearDown() override { loop_.stop(); }

  IoLoop loop_;
};

}  // namespace sinew::session
