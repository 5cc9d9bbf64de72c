#include "session/callbacks/callback_slot.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace sinew::session {
namespace {

using Slot = CallbackSlot<std::function<void()>>;

/// What the callback keeps, and by whom it was let go of.
std::shared_ptr<void> kept_until(std::atomic<std::thread::id>& let_go_by) {
  return {nullptr, [&](void*) { let_go_by = std::this_thread::get_id(); }};
}

TEST(CallbackSlot, whoever_closes_it_from_outside_finds_what_it_kept_gone) {
  std::atomic<std::thread::id> let_go_by{};
  Slot slot;
  std::atomic<bool> runs{false};
  slot.before_use() = [&, kept = kept_until(let_go_by)] {
    runs = true;
    while (!slot.is_closed()) std::this_thread::yield();
  };
  std::thread runner([&] { slot.run([](const auto& callback) { callback(); }); });
  while (!runs) std::this_thread::yield();
  slot.close();
  EXPECT_EQ(let_go_by.load(), std::this_thread::get_id());
  runner.join();
  EXPECT_EQ(let_go_by.load(), std::this_thread::get_id());
}

TEST(CallbackSlot, what_it_kept_goes_with_the_end_of_the_run_that_closes_it) {
  std::atomic<std::thread::id> let_go_by{};
  Slot slot;
  bool was_there = false;
  slot.before_use() = [&, kept = kept_until(let_go_by)] {
    slot.close();
    was_there = let_go_by.load() == std::thread::id{};
  };
  EXPECT_FALSE(slot.run([](const auto& callback) { callback(); }));
  EXPECT_TRUE(was_there);
  EXPECT_EQ(let_go_by.load(), std::this_thread::get_id());
}

}  // namespace
}  // namespace sinew::session
