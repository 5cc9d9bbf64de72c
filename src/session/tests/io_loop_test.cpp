#include "session/io/io_loop.hpp"

#include <sys/resource.h>

#include <atomic>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "os/clock.hpp"
#include "session/tests/with_loop.hpp"

namespace sinew::session {
namespace {

class Timers : public WithLoop {
 protected:
  /// Ends when every timer up to `when` has run.
  void await(std::int64_t when) {
    std::promise<void> over;
    loop_.at(when, [&] { over.set_value(); });
    over.get_future().get();
  }
};

TEST_F(Timers, A_task_runs_on_the_loops_thread_once_and_not_before_its_time) {
  std::thread::id loops;
  loop_.run([&] { loops = std::this_thread::get_id(); });
  const std::int64_t when = os::now_ns() + 20 * ms;
  std::int64_t ran_at = 0;
  int times = 0;
  std::thread::id runner;
  loop_.at(when, [&] {
    ran_at = os::now_ns();
    runner = std::this_thread::get_id();
    ++times;
  });
  await(when + 20 * ms);
  EXPECT_EQ(times, 1);
  EXPECT_GE(ran_at, when);
  EXPECT_EQ(runner, loops);
}

TEST_F(Timers, Tasks_run_in_the_order_of_their_times_and_of_their_arming) {
  const std::int64_t when = os::now_ns() + 50 * ms;
  std::string order;
  loop_.run([&] {  // so that none of them runs before all are armed
    loop_.at(when + 2, [&] { order += 'd'; });
    loop_.at(when, [&] { order += 'a'; });
    loop_.at(when + 1, [&] { order += 'b'; });
    loop_.at(when + 1, [&] { order += 'c'; });
    loop_.at(0, [&] { order += '0'; });
  });
  await(when + 3);
  EXPECT_EQ(order, "0abcd");
}

TEST_F(Timers, A_cancelled_task_does_not_run_and_is_let_go_at_once) {
  const std::int64_t when = os::now_ns() + 20 * ms;
  const auto kept = std::make_shared<bool>(false);
  loop_.run([&] {  // so that it is not run before it is cancelled
    const auto timer = loop_.at(when, [kept] { *kept = true; });
    EXPECT_EQ(kept.use_count(), 2);
    loop_.cancel(timer);
    EXPECT_EQ(kept.use_count(), 1);
    loop_.cancel(timer);
  });
  await(when + 1);
  EXPECT_FALSE(*kept);
}

TEST_F(Timers, A_task_may_cancel_another_one_that_is_due_as_well_and_arm_new_ones) {
  const std::int64_t now = os::now_ns();
  bool cancelled_ran = false, armed_ran = false;
  loop_.run([&] {  // so that both are due in the same round
    const auto other = loop_.at(now + 1, [&] { cancelled_ran = true; });
    loop_.at(now, [&, other] {
      loop_.cancel(other);
      loop_.at(now + 2, [&] { armed_ran = true; });
    });
  });
  await(os::now_ns() + ms);
  EXPECT_FALSE(cancelled_ran);
  EXPECT_TRUE(armed_ran);
}

TEST_F(Timers, A_task_that_is_moved_runs_at_its_new_time_only_also_when_it_was_moved_while_it_ran) {
  std::vector<std::int64_t> due;
  const std::int64_t now = os::now_ns();
  IoLoop::TimerId timer;
  const auto kept = std::make_shared<bool>();
  loop_.run([&, kept] {
    timer = loop_.at(IoLoop::never, [&, kept] {
      EXPECT_GE(os::now_ns(), timer.when);
      due.push_back(timer.when);
      if (due.size() < 3) timer = loop_.move(timer, timer.when + 5 * ms);
    });
    timer = loop_.move(timer, now + 10 * ms);
    timer = loop_.move(timer, now + 5 * ms);
  });
  await(now + 20 * ms);
  EXPECT_EQ(due, (std::vector{now + 5 * ms, now + 10 * ms, now + 15 * ms}));
  loop_.move(timer, 0);
  await(os::now_ns() + ms);
  EXPECT_EQ(due.size(), 3U) << "it is over";
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(Timers, A_task_that_is_moved_while_it_runs_can_still_be_cancelled) {
  int times = 0;
  loop_.run([&] {
    const auto timer = std::make_shared<IoLoop::TimerId>();
    *timer = loop_.at(0, [&, timer] {
      ++times;
      loop_.cancel(loop_.move(*timer, 0));
    });
  });
  await(os::now_ns() + ms);
  EXPECT_EQ(times, 1);
}

TEST_F(Timers, A_task_that_throws_ends_nothing) {
  loop_.at(0, [] { throw std::runtime_error("on purpose"); });
  await(os::now_ns() + ms);
}

TEST_F(Timers, Only_what_the_loop_runs_is_inside_of_it) {
  bool inside = false, also_in_a_timer = false;
  loop_.run([&] { inside = loop_.is_inside(); });
  const std::int64_t when = os::now_ns();
  loop_.at(when, [&] { also_in_a_timer = loop_.is_inside(); });
  await(when + 1);
  EXPECT_TRUE(inside);
  EXPECT_TRUE(also_in_a_timer);
  EXPECT_FALSE(loop_.is_inside());
  loop_.stop();
  loop_.run([&] { inside = loop_.is_inside(); });
  EXPECT_FALSE(inside) << "whose thread has ended";
}

TEST_F(Timers, What_still_waits_is_dropped_with_the_loop) {
  const auto kept = std::make_shared<bool>(false);
  loop_.at(os::now_ns() + 1'000'000 * ms, [kept] { *kept = true; });
  loop_.stop();
  EXPECT_EQ(kept.use_count(), 1);
  loop_.at(0, [kept] { *kept = true; });
  EXPECT_EQ(kept.use_count(), 1);
  EXPECT_FALSE(*kept);
}

TEST_F(Timers, Every_task_is_run_while_another_thread_stops_the_loop) {
  std::atomic<bool> begun{false};
  int times = 0;
  std::thread runner([&] {
    for (int i = 0; i < 1000; ++i) {
      loop_.run([&] { ++times; });
      begun = true;
    }
  });
  while (!begun) std::this_thread::yield();
  loop_.stop();
  runner.join();
  EXPECT_EQ(times, 1000);
}

TEST_F(Timers, A_loop_without_timers_and_one_whose_timers_are_over_are_never_woken) {
  await(os::now_ns() + ms);
  rusage before{}, after{};
  loop_.run([&] { ::getrusage(RUSAGE_THREAD, &before); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  loop_.run([&] { ::getrusage(RUSAGE_THREAD, &after); });
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 2) << "it slept once, and was woken to be asked";
}

}  // namespace
}  // namespace sinew::session
