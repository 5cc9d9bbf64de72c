#include "session/io/loop_timer.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <new>
#include <thread>

#include "base/tests/heap.hpp"
#include "os/clock.hpp"
#include "session/tests/with_loop.hpp"

namespace sinew::session {
namespace {

class TimerOfALoop : public WithLoop {
 protected:
  void await(int count) {
    while (times_ < count) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::atomic<int> times_{0};
};

TEST_F(TimerOfALoop, runs_when_it_has_said_and_no_more_when_it_has_said_never) {
  std::atomic<std::int64_t> due{0};
  std::atomic<bool> early{false};
  const auto timer = LoopTimer::create(loop_, [&] {
    const std::int64_t now = os::now_ns();
    early = early || now < due;
    due = now + 5 * ms;
    return ++times_ == 3 ? LoopTimer::never : due.load();
  });
  timer->set(0);
  await(3);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(times_, 3);
  EXPECT_FALSE(early);
}

TEST_F(TimerOfALoop, may_be_set_earlier_but_not_later_and_is_over_when_stopped) {
  const auto timer = LoopTimer::create(loop_, [&] {
    ++times_;
    return LoopTimer::never;
  });
  timer->set(os::now_ns() + 3'600'000 * ms);
  timer->set(0);
  timer->set(os::now_ns() + 7'200'000 * ms);
  await(1);
  loop_.run([&] {  // so that it does not run before it is stopped
    timer->set(os::now_ns() + 10 * ms);
    timer->stop();
  });
  timer->set(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(times_, 1);
}

TEST_F(TimerOfALoop, who_wants_to_run_all_the_time_does_not_keep_the_loop_from_its_work) {
  const auto timer = LoopTimer::create(loop_, [&] {
    ++times_;
    return std::int64_t{0};
  });
  const std::int64_t begin = os::now_ns();
  timer->set(0);
  await(3);
  timer->stop();
  const int count = times_;
  EXPECT_LE(count - 1, (os::now_ns() - begin) / ms) << "once in a millisecond";
}

TEST_F(TimerOfALoop, goes_on_when_there_was_no_memory) {
  const auto timer = LoopTimer::create(loop_, [&]() -> std::int64_t {
    if (++times_ == 1) throw std::bad_alloc();
    return LoopTimer::never;
  });
  timer->set(0);
  await(2);
}

TEST_F(TimerOfALoop, needs_no_memory_to_be_set_again) {
  const auto timer = LoopTimer::create(loop_, [&]() -> std::int64_t {
    fail_all_allocations();  // also when the task is over
    return ++times_ == 3 ? LoopTimer::never : 0;
  });
  timer->set(0);
  await(3);
  timer->set(0);
  await(4);
  timer->stop();
  loop_.run([&] { fail_no_allocation(); });
}

TEST_F(TimerOfALoop, lets_go_of_what_it_keeps_when_it_is_gone) {
  auto timer = LoopTimer::create(loop_, [] { return LoopTimer::never; });
  const std::weak_ptr<LoopTimer> weak = timer;
  timer->set(os::now_ns() + 3'600'000 * ms);
  timer.reset();
  EXPECT_TRUE(weak.expired());
}

}  // namespace
}  // namespace sinew::session
