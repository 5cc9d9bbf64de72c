// Programs that are written for rclcpp: ending, time, log lines.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

// --- ending ----------------------------------------------------------------------------------------------------------------------------

/// Says when it spins.
class Ready : public rclcpp::Node {
 public:
  explicit Ready(std::function<void()> then = [] {}) : Node("ready") {
    timer_ = create_wall_timer(1ms, [this, then] {
      timer_->cancel();
      say("ready");
      then();
    });
  }

 private:
  rclcpp::TimerBase::SharedPtr timer_;
};

ROLE(spinning) {
  begin({}, rclcpp::SignalHandlerOptions::All);
  rclcpp::spin(std::make_shared<Ready>());
  say(rclcpp::ok() ? "ok" : "over");
  rclcpp::shutdown();
}
ROLE(busy) {
  begin({}, rclcpp::SignalHandlerOptions::All);
  rclcpp::spin(std::make_shared<Ready>([] {
    while (rclcpp::ok()) std::this_thread::yield();
    say("asked to end");
    for (;;) std::this_thread::yield();
  }));
}
ROLE(sleeping) {
  begin({}, rclcpp::SignalHandlerOptions::All);
  rclcpp::Rate rate(std::chrono::hours(1));
  say("ready");
  say(rate.sleep() ? "slept" : "over");
}
ROLE(waiting) {
  begin({}, rclcpp::SignalHandlerOptions::All);
  const auto node = std::make_shared<rclcpp::Node>("waiting");
  const auto client = node->create_client<AddTwoInts>("nobody");
  say("ready");
  say(client->wait_for_service(std::chrono::hours(1)) ? "found" : "over");
}

class Ending : public Domain {};

TEST_F(Ending, SignalsEndSpinSleepAndWaiting) {
  for (const auto* const role : {"spinning", "sleeping", "waiting"}) {
    for (const int signal : {SIGINT, SIGTERM}) {
      Child child(role);
      child.expect("ready");
      child.signal(signal);
      child.expect("over");
      EXPECT_EQ(child.wait(), 0) << role << child.errors();
    }
  }
}

// As a program does that slows its motors down when spin() has returned.
TEST_F(Ending, WhoKnowsThatItIsOverSleepsItsWholeTime) {
  const auto sleeps = [](auto sleep) {
    const auto before = std::chrono::steady_clock::now();
    EXPECT_FALSE(sleep());
    return std::chrono::steady_clock::now() - before;
  };
  EXPECT_GE(sleeps([] { return rclcpp::sleep_for(20ms); }), 20ms) << "before init()";
  begin({}, rclcpp::SignalHandlerOptions::All);
  std::thread([] { rclcpp::shutdown(); }).join();
  EXPECT_FALSE(rclcpp::sleep_for(std::chrono::hours(1))) << "it has yet to be told";
  EXPECT_GE(sleeps([] { return rclcpp::sleep_for(20ms); }), 20ms);
  EXPECT_GE(sleeps([] {
              rclcpp::Rate rate(20ms);
              return rate.sleep(), rate.sleep();
            }),
            20ms);
  begin({}, rclcpp::SignalHandlerOptions::All);
  const auto node = std::make_shared<rclcpp::Node>("node");
  std::thread([] { rclcpp::shutdown(); }).join();
  rclcpp::spin_some(node);
  EXPECT_FALSE(rclcpp::sleep_for(std::chrono::hours(1))) << "spin_some() says nothing of it";
  begin({}, rclcpp::SignalHandlerOptions::All);
  std::atomic<bool> spins{false};
  const auto timer = node->create_wall_timer(1ms, [&] { spins = true; });
  std::thread other([&] {
    eventually([&] { return spins.load(); });
    rclcpp::shutdown();
  });
  rclcpp::spin(node);
  other.join();
  EXPECT_GE(sleeps([] { return rclcpp::sleep_for(20ms); }), 20ms);
}

TEST_F(Ending, TheSecondCtrlCKillsAProgramThatDoesNotListen) {
  Child child("busy");
  child.expect("ready");
  child.signal(SIGINT);
  child.expect("asked to end");
  child.signal(SIGINT);
  EXPECT_EQ(child.wait(), -SIGINT);
}

TEST_F(Rclcpp, ShutdownEndsSpinInCallbacksAndElsewhere) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto timer = node->create_wall_timer(1ms, [] { rclcpp::shutdown(); });
  rclcpp::spin(node);
  EXPECT_FALSE(rclcpp::ok());
  rclcpp::spin(node);  // at once, now that it is over
  rclcpp::spin_some(node);

  begin();
  timer->cancel();
  std::atomic<bool> spins{false};
  const auto other = node->create_wall_timer(1ms, [&] { spins = true; });
  std::thread spinning([&] { rclcpp::spin(node); });
  EXPECT_TRUE(eventually([&] { return spins.load(); }));
  rclcpp::shutdown();
  spinning.join();
}

TEST_F(Ending, AChildProcessThatIsAskedToEndDoesNotEndItsParent) {
  begin({}, rclcpp::SignalHandlerOptions::All);
  const auto node = std::make_shared<rclcpp::Node>("node");
  const pid_t child = ::fork();
  if (child == 0) {
    ::raise(SIGTERM);
    ::_exit(rclcpp::ok() ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(rclcpp::ok());
  const auto before = std::chrono::steady_clock::now();
  EXPECT_TRUE(rclcpp::sleep_for(20ms));
  EXPECT_GE(std::chrono::steady_clock::now() - before, 20ms);
  rclcpp::shutdown();
}

/// Forks while a thread has to do with a timer, as spin() has; the child uses and destroys what it has inherited.
ROLE(forks_beside_a_timer) {
  const auto node = Node::create("node");
  const auto timer = std::make_shared<rclcpp::TimerBase>();
  auto handle = rclcpp::TimerBase::handle(timer);
  std::atomic<bool> is_inside{false}, is_to_end{false};
  std::thread other([&] {
    timer->set([&] {
      is_inside = true;
      require(eventually([&] { return is_to_end.load(); }), "the child does not end");
      return node->create_timer(1s, [] {});
    });
  });
  require(eventually([&] { return is_inside.load(); }), "the thread does not begin");
  const pid_t child = ::fork();
  if (child == 0) {
    handle->cancel();
    handle->reset();
    const bool is_cancelled = handle->is_canceled();
    handle.reset();
    ::_exit(is_cancelled ? 0 : 1);
  }
  int status = 0;
  const bool has_ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!has_ended) ::kill(child, SIGKILL);
  is_to_end = true;
  other.join();
  require(has_ended && status == 0, "the child did not end well");
}

TEST_F(Rclcpp, AForkedChildMayUseAndDestroyATimerThatWasInUse) {
  Child("forks_beside_a_timer").end();
}

// --- time ------------------------------------------------------------------------------------------------------------------------------

TEST(RclcppTime, ConvertsToAndFromMessages) {
  const rclcpp::Time time(3, 500);
  const Time message = time;
  EXPECT_EQ(message.sec, 3);
  EXPECT_EQ(message.nanosec, 500U);
  EXPECT_EQ(rclcpp::Time(message).nanoseconds(), 3'000'000'500);
  Image image;
  image.header.stamp = time;
  image.header.stamp = rclcpp::Clock().now();
  EXPECT_EQ(rclcpp::Time(image.header.stamp) - rclcpp::Time(image.header.stamp), rclcpp::Duration(0, 0));
  const builtin_interfaces::msg::Duration before = rclcpp::Duration::from_nanoseconds(-1);
  EXPECT_EQ(before.sec, -1);
  EXPECT_EQ(before.nanosec, 999'999'999U);
  EXPECT_EQ(rclcpp::Duration(before).nanoseconds(), -1);
}

TEST(RclcppTime, IsCountedWith) {
  const rclcpp::Time begin(10, 0), end(12, 500'000'000);
  EXPECT_EQ((end - begin).seconds(), 2.5);
  EXPECT_TRUE(begin < end && begin != end && end >= begin);
  EXPECT_EQ(begin + rclcpp::Duration::from_seconds(2.5), end);
  EXPECT_EQ(end - rclcpp::Duration(2s), rclcpp::Time(10, 500'000'000));
  EXPECT_TRUE(rclcpp::Duration(1s) * 2.0 == rclcpp::Duration(2, 0) && rclcpp::Duration(1ms) < 1s);
  // No double has so many digits.
  const auto long_one = rclcpp::Duration::from_nanoseconds(1'700'000'000'123'456'789);
  EXPECT_EQ(long_one * 1.0, long_one);
  EXPECT_EQ(rclcpp::Duration(0, 1001) * 3.0, rclcpp::Duration(0, 3003));
  EXPECT_EQ(rclcpp::Duration(1500ms).to_chrono<std::chrono::milliseconds>(), 1500ms);
  EXPECT_EQ(rclcpp::Clock(RCL_STEADY_TIME).now().get_clock_type(), RCL_STEADY_TIME);
  EXPECT_NE(sentence_of([&] { (void)(begin < rclcpp::Clock(RCL_STEADY_TIME).now()); }).find("times of different clocks"),
            std::string::npos);
  EXPECT_NE(sentence_of([&] { rclcpp::Rate rate(0.0); }).find("give one above 0"), std::string::npos);
  EXPECT_NE(sentence_of([&] { rclcpp::Rate rate(rclcpp::Duration(-1s)); }).find("give one above 0"), std::string::npos);
}

TEST(RclcppTime, EndsWithTheLastThatThereIs) {
  constexpr auto longest = rclcpp::Duration::max();
  const rclcpp::Time now(10, 0);
  EXPECT_TRUE(now + longest > now && longest + longest == longest && -longest - longest < -longest && longest * 2.0 == longest);
  EXPECT_EQ(rclcpp::Duration::from_seconds(1e300), longest);
  EXPECT_EQ(static_cast<builtin_interfaces::msg::Duration>(longest).sec, INT32_MAX);
  EXPECT_EQ(static_cast<builtin_interfaces::msg::Duration>(-longest).sec, INT32_MIN);
}

TEST_F(Rclcpp, ARateSleepsUntilThePeriodIsOver) {
  rclcpp::WallRate rate(100.0);
  EXPECT_EQ(rate.period(), 10ms);
  // On a loaded machine the period may be over before it sleeps: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    const auto begin = std::chrono::steady_clock::now();
    rate.reset();
    const bool slept = rate.sleep();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 10ms);
    return slept;
  }));
  std::this_thread::sleep_for(11ms);
  EXPECT_FALSE(rate.sleep());
}

void work_until(std::chrono::steady_clock::time_point end) {
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
}

TEST_F(Rclcpp, ARateThatIsLateKeepsItsTimesUntilItMissesAWholePeriod) {
  constexpr auto period = 20ms;
  // On a loaded machine it may miss more than is meant: then it is tried again.
  EXPECT_TRUE(eventually([&] {
    rclcpp::Rate rate(period);
    const auto begin = std::chrono::steady_clock::now();
    work_until(begin + period + period / 2);
    rate.sleep();
    rate.sleep();
    return std::chrono::steady_clock::now() < begin + 2 * period + period / 2;
  }));
  rclcpp::Rate rate(period);
  const auto begin = std::chrono::steady_clock::now();
  work_until(begin + 2 * period + period / 2);
  EXPECT_FALSE(rate.sleep());
  rate.sleep();
  EXPECT_GE(std::chrono::steady_clock::now(), begin + 3 * period + period / 2);
}

// --- log lines -------------------------------------------------------------------------------------------------------------------------

ROLE(logging) {
  const auto logger = rclcpp::get_logger("logging");
  RCLCPP_INFO(logger, "plain");
  RCLCPP_WARN(logger, "%d of %s", 3, "four");
  RCLCPP_DEBUG(logger, "not %s", "logged");
  RCLCPP_ERROR_STREAM(logger, "stream " << 5);
  for (int i = 0; i < 3; ++i) {
    RCLCPP_FATAL_ONCE(logger, "once %d", i);
    RCLCPP_INFO_STREAM_ONCE(logger, "stream once " << i);
    const rclcpp::Clock clock;
    RCLCPP_WARN_THROTTLE(logger, clock, 3'600'000, "seldom %d", i);
    RCLCPP_WARN_STREAM_THROTTLE(logger, clock, 0, "often " << i);
  }
  const auto child = logger.get_child("child");
  for (const auto level : {rclcpp::Logger::Level::Info, rclcpp::Logger::Level::Debug}) {
    logger.set_level(level);
    RCLCPP_DEBUG_ONCE(logger, "the first that is logged");
    RCLCPP_DEBUG_THROTTLE(logger, rclcpp::Clock(), 3'600'000, "likewise");
  }
  RCLCPP_DEBUG(child, "now");
  child.set_level(rclcpp::Logger::Level::Error);
  RCLCPP_WARN(child, "not any more");
  RCLCPP_WARN(logger, "%s", std::string(500, 'x').c_str());
}

/// Without the times, which must be there.
std::string without_times(std::string lines) {
  for (std::size_t at = 0; (at = lines.find("] [", at)) != std::string::npos;) {
    const std::size_t end = lines.find(']', at + 1);
    const std::string time = lines.substr(at + 3, end - at - 3);
    const bool is_time = time.size() > 10 && time[time.size() - 10] == '.' && time.find_first_not_of("0123456789.") == std::string::npos;
    if (is_time) {
      lines.erase(at, end - at);
    } else {
      at += 3;
    }
  }
  return lines;
}

TEST_F(Ending, LogLinesAreWrittenToStandardErrorAsOfRclcpp) {
  Child child("logging");
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(without_times(child.errors()),
            "[INFO] [logging]: plain\n[WARN] [logging]: 3 of four\n[ERROR] [logging]: stream 5\n"
            "[FATAL] [logging]: once 0\n[INFO] [logging]: stream once 0\n[WARN] [logging]: seldom 0\n[WARN] [logging]: often 0\n"
            "[WARN] [logging]: often 1\n[WARN] [logging]: often 2\n[DEBUG] [logging]: the first that is logged\n[DEBUG] [logging]: "
            "likewise\n[DEBUG] [logging.child]: now\n[WARN] [logging]: " +
                std::string(500, 'x') + "\n");
}

TEST_F(Ending, LogLinesAreColouredOnATerminal) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  ::grantpt(terminal);
  ::unlockpt(terminal);
  const int kept = ::dup(STDERR_FILENO), there = ::open(::ptsname(terminal), O_RDWR | O_NOCTTY);
  ::dup2(there, STDERR_FILENO);
  RCLCPP_ERROR(rclcpp::get_logger("logger"), "red");
  RCLCPP_INFO(rclcpp::get_logger("logger"), "plain");
  ::dup2(kept, STDERR_FILENO);
  std::string lines;
  while (lines.find("plain\r\n") == std::string::npos) {
    char more[1000];
    const ssize_t size = ::read(terminal, more, sizeof more);
    ASSERT_GT(size, 0);
    lines.append(more, static_cast<std::size_t>(size));
  }
  for (const int fd : {terminal, kept, there}) ::close(fd);
  EXPECT_EQ(without_times(lines), "\033[31m[ERROR] [logger]: red\033[0m\r\n[INFO] [logger]: plain\r\n");
}

}  // namespace
}  // namespace sinew::system
