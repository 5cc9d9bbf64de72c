// On which threads callbacks run, and that callbacks of one execution thread never overlap.
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <csignal>
#include <latch>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "os/fault.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class Executors : public Domain {
 protected:
  static std::shared_ptr<Executor> by_caller() { return Executor::create({.by_caller = true}); }
};

SubscriberOptions on_thread(ThreadId id) {
  SubscriberOptions options;
  options.execution_thread = id;
  return options;
}

/// The text of the Error that `call` throws; empty when it throws none.
template <class Call>
std::string refusal_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    return error.what();
  }
  return {};
}

bool is_readable(int fd, std::chrono::milliseconds patience = 0ms) {
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(patience.count())) == 1;
}

TEST_F(Executors, CallbacksOnOneThreadNeverOverlap) {
  auto node = Node::create("node"), other = Node::create("other", {.executor = node->executor()});
  std::atomic<int> inside{0}, overlaps{0}, calls{0};
  const auto callback = [&] {
    if (inside.fetch_add(1) > 0) ++overlaps;
    std::this_thread::yield();
    --inside;
    ++calls;
  };
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  SubscriberOptions eventful = on_thread(7);
  eventful.events.matched = [&](const MatchedEvent&) { callback(); };
  auto one = node->create_subscriber<Sample>("topic", [&](const Sample&) { callback(); }, lossless(), eventful);
  auto two = other->create_subscriber<Sample>("topic", [&](const Sample&) { callback(); }, lossless(), on_thread(7));
  auto timer = node->create_timer(50us, callback, {.execution_thread = 7});
  for (int i = 0; i < 500; ++i) publisher->publish(sample_of(1, 1, 10));
  EXPECT_TRUE(eventually([&] { return calls > 1100; }));
  EXPECT_EQ(overlaps, 0);
}

TEST_F(Executors, CallbacksOfDifferentThreadsRunSideBySide) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::latch together(2);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  const auto meet = [&](const Sample&) {
    {
      const std::lock_guard lock(mutex);
      threads.insert(std::this_thread::get_id());
    }
    together.arrive_and_wait();
  };
  auto one = node->create_subscriber<Sample>("topic", meet, Qos{}, on_thread(1));
  auto two = node->create_subscriber<Sample>("topic", meet, Qos{}, on_thread(2));
  publisher->publish(sample_of(1, 1, 10));
  together.wait();
  EXPECT_EQ(threads.size(), 2U);
}

TEST_F(Executors, NodesThatShareAnExecutorShareItsThreads) {
  const auto shared = Executor::create();
  auto one = Node::create("one", {.executor = shared}), two = Node::create("two", {.executor = shared}), apart = Node::create("apart");
  auto publisher = one->create_publisher<Sample>("topic");
  std::array<std::atomic<std::thread::id>, 3> ran_in{};
  const auto note = [&](std::size_t which) { return [&, which](const Sample&) { ran_in[which] = std::this_thread::get_id(); }; };
  auto first = one->create_subscriber<Sample>("topic", note(0));
  auto second = two->create_subscriber<Sample>("topic", note(1));
  auto third = apart->create_subscriber<Sample>("topic", note(2));
  publisher->publish(sample_of(1, 1, 10));
  ASSERT_TRUE(eventually([&] { return std::ranges::none_of(ran_in, [](const auto& id) { return id.load() == std::thread::id{}; }); }));
  EXPECT_EQ(ran_in[0].load(), ran_in[1].load());
  EXPECT_NE(ran_in[0].load(), ran_in[2].load());
  second.reset();
  two.reset();  // the others go on
  ran_in[0] = std::thread::id{};
  publisher->publish(sample_of(1, 2, 10));
  EXPECT_TRUE(eventually([&] { return ran_in[0].load() != std::thread::id{}; }));
}

TEST_F(Executors, WhereTheCallerRunsCallbacksNothingRunsUntilHeDispatches) {
  auto node = Node::create("node", {.executor = by_caller()});
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  int received = 0, ticks = 0;  // unguarded: all of it is this thread's
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; }, lossless());
  auto timer = node->create_timer(100ms, [&] { ++ticks; });
  publisher->publish(sample_of(1, 1, 10));
  publisher->publish(sample_of(1, 2, 10));
  std::this_thread::sleep_for(410ms);
  EXPECT_EQ(received, 0);
  EXPECT_EQ(ticks, 0);
  node->dispatch();
  EXPECT_EQ(ticks, 1);
  EXPECT_GE(timer->missed(), 3U);
  EXPECT_GE(received, 1);
  // On a busy machine a round may end before the second one.
  EXPECT_TRUE(eventually([&] {
    node->dispatch();
    return received == 2;
  }));
}

TEST_F(Executors, TheDescriptorIsReadableWhileThereIsSomethingToDispatch) {
  auto node = Node::create("node", {.executor = by_caller()});
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  Child elsewhere("sample_publisher");
  int received = 0;
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; }, lossless());
  const auto dispatch_until = [&](const auto& condition) {
    while (!condition() && is_readable(node->fd(), 60s)) node->dispatch();
    return condition();
  };
  const auto settle = [&] {
    while (is_readable(node->fd(), 50ms)) node->dispatch();
  };
  settle();
  publisher->publish(sample_of(1, 1, 10));
  EXPECT_TRUE(is_readable(node->fd()));
  EXPECT_TRUE(dispatch_until([&] { return received == 1; }));
  // More than is dispatched at a time.
  for (int i = 0; i < 200; ++i) publisher->publish(sample_of(1, 1, 10));
  EXPECT_TRUE(dispatch_until([&] { return received == 201; }));
  elsewhere.order("publish");
  EXPECT_TRUE(dispatch_until([&] { return received == 202; }));
  settle();
  EXPECT_FALSE(is_readable(node->fd()));
  int ticks = 0;
  auto timer = node->create_timer(1ms, [&] { ++ticks; });
  EXPECT_TRUE(dispatch_until([&] { return ticks == 3; }));
  timer->cancel();
  settle();
  EXPECT_FALSE(is_readable(node->fd(), 5ms));
  timer->reset();
  EXPECT_TRUE(dispatch_until([&] { return ticks > 3; }));
  elsewhere.end();
}

ROLE(sample_publisher) {
  auto node = Node::create("elsewhere");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  next_order();
  await_subscribers(*publisher, 1);
  publisher->publish(sample_of(1, 1, 10));
  until_finished();
}

TEST_F(Executors, SpinRunsCallbacksInTheCallersThreadUntilItIsStopped) {
  auto node = Node::create("node", {.executor = by_caller()});
  auto publisher = node->create_publisher<Sample>("topic");
  std::thread::id ran_in;
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) {
    ran_in = std::this_thread::get_id();
    node->executor()->stop();
  });
  std::thread sender([&] { publisher->publish(sample_of(1, 1, 10)); });
  node->spin();
  EXPECT_EQ(ran_in, std::this_thread::get_id());
  sender.join();
  // Stopped before it begins, it ends at once; and then begins anew.
  node->executor()->stop();
  node->spin();
  auto timer = node->create_timer(1ms, [&] { node->executor()->stop(); });
  node->spin();
}

TEST_F(Executors, SpinEndsWithTheCallbackThatStopsItAndTheRestIsDispatchedAfterwards) {
  auto node = Node::create("node", {.executor = Executor::create({.threads = {{0, {.spin = 1ms}}}, .by_caller = true})});
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  int received = 0;
  const auto callback = [&](const Sample&) {
    ++received;
    node->executor()->stop();
  };
  auto subscriber = node->create_subscriber<Sample>("topic", callback, lossless());
  const int fd = node->fd();
  for (int i = 0; i < 10; ++i) publisher->publish(sample_of(1, 1, 10));
  node->spin();
  EXPECT_EQ(received, 1);
  EXPECT_TRUE(is_readable(fd));
  while (is_readable(fd)) node->dispatch();
  EXPECT_EQ(received, 10);
}

TEST_F(Executors, AHandlerThatStopsSpinIsTheLastOfItsSubscriberAsWell) {
  auto node = Node::create("node", {.executor = by_caller()}), other = Node::create("other");
  auto fits = other->create_publisher<Sample>("topic", lossless());
  auto misfits = other->create_publisher<Sample>("topic", Qos{}.best_effort());
  int calls = 0;
  SubscriberOptions options;
  options.events.matched = [&](const MatchedEvent&) {
    ++calls;
    node->executor()->stop();
  };
  options.events.incompatible_qos = [&](const IncompatibleQosEvent&) { ++calls; };
  auto subscriber = node->create_subscriber<Sample>("topic", lossless(), options);
  ASSERT_TRUE(eventually([&] { return subscriber->statistics().publishers == 1 && subscriber->statistics().incompatible == 1; }));
  node->spin();
  EXPECT_EQ(calls, 1);
  node->dispatch();
  EXPECT_EQ(calls, 2);
}

/// Who was called back, in order: 's' is slow.
class Turns : public Executors {
 protected:
  static constexpr int slow_ones = 64;
  // Of those that wait.
  static constexpr int few = 4;

  void slow() {
    order += 's';
    if (++slow_calls == slow_ones) node->executor()->stop();
    std::this_thread::sleep_for(10ms);
  }
  /// Messages, until the slow ones have all been called.
  void spin_with(const std::vector<std::string>& topics) {
    for (const std::string& topic : topics) {
      publishers.push_back(other->create_publisher<Sample>(topic, lossless()));
      for (int i = 0; i < slow_ones; ++i) publishers.back()->publish(sample_of(1, 1, 10));
    }
    node->spin();
  }
  /// How many slow ones came without the other in between, at most.
  int longest_wait_of(char which) const {
    int longest = 0, now = 0;
    for (const char each : order) {
      if (each == which) now = 0;
      if (each == 's') longest = std::max(longest, ++now);
    }
    return longest;
  }
  void TearDown() override {
    publishers.clear();
    other.reset();
    node.reset();
    Executors::TearDown();
  }

  std::shared_ptr<Node> node, other;
  std::vector<std::shared_ptr<Publisher<Sample>>> publishers;
  std::string order;
  int slow_calls = 0;

  void SetUp() override {
    Executors::SetUp();
    node = Node::create("node", {.executor = by_caller()});
    other = Node::create("other");
  }
};

TEST_F(Turns, TimersAndOtherSubscribersHaveTheirTurnBesideASlowOne) {
  auto slowly = node->create_subscriber<Sample>("slow", [&](const Sample&) { slow(); }, lossless());
  auto quickly = node->create_subscriber<Sample>("quick", [&](const Sample&) { order += 'q'; }, lossless());
  auto timer = node->create_timer(20ms, [&] { order += 't'; });
  spin_with({"slow", "quick"});
  EXPECT_LE(longest_wait_of('t'), few) << order;
  EXPECT_LE(order.find('q'), static_cast<std::size_t>(few)) << order;
}

TEST_F(Turns, ATimerHasItsTurnBesideManySlowSubscribers) {
  std::vector<std::shared_ptr<Subscriber<Sample>>> subscribers;
  for (int i = 0; i < 16; ++i) subscribers.push_back(node->create_subscriber<Sample>("slow", [&](const Sample&) { slow(); }, lossless()));
  auto timer = node->create_timer(20ms, [&] { order += 't'; });
  spin_with({"slow"});
  EXPECT_LE(longest_wait_of('t'), few) << order;
}

TEST_F(Turns, ATimerHasItsTurnBesideASlowServiceProvider) {
  auto provider = node->create_service_provider<int, int>("slow", [&](const int& request) {
    slow();
    return request;
  });
  auto client = other->create_service_client<int, int>("slow");
  auto timer = node->create_timer(20ms, [&] { order += 't'; });
  for (int i = 0; i < slow_ones; ++i) client->call(i, [](std::shared_ptr<const int>, const ServiceError*) {});
  node->spin();
  EXPECT_LE(longest_wait_of('t'), few) << order;
}

std::shared_ptr<Executor> interrupted;

TEST_F(Executors, SpinCanBeStoppedByTheHandlerOfASignal) {
  interrupted = by_caller();
  auto node = Node::create("node", {.executor = interrupted});
  const auto before = std::signal(SIGUSR1, [](int) { interrupted->stop(); });
  const pthread_t spins = ::pthread_self();
  std::thread interrupter([&] { ::pthread_kill(spins, SIGUSR1); });
  node->spin();
  interrupter.join();
  std::signal(SIGUSR1, before);
  interrupted.reset();
}

TEST_F(Executors, EachCallOfStopEndsASpinAlsoOneThatWaitsForItsTurn) {
  auto node = Node::create("node", {.executor = by_caller()});
  std::atomic<bool> runs{false}, goes_on{false};
  auto timer = node->create_timer(1ms, [&] {
    runs = true;
    goes_on.wait(false);
  });
  std::atomic<int> ended{0};
  const auto spin = [&] {
    node->spin();
    ++ended;
  };
  std::thread one(spin), another(spin);
  ASSERT_TRUE(eventually([&] { return runs.load(); }));
  node->executor()->stop();
  node->executor()->stop();
  goes_on = true;
  goes_on.notify_all();
  EXPECT_TRUE(eventually([&] { return ended == 2; }));
  if (HasFailure()) node->executor()->stop();
  one.join();
  another.join();
}

TEST_F(Executors, ACallbackMayDestroyItsNodeAndSpinGoesOnWithTheOthers) {
  const auto executor = by_caller();
  auto one = Node::create("one", {.executor = executor}), two = Node::create("two", {.executor = executor});
  int ticks = 0;
  std::shared_ptr<Timer> first, second;
  first = one->create_timer(1ms, [&] { one.reset(); });
  second = two->create_timer(1ms, [&] {
    if (!one && ++ticks == 3) executor->stop();
  });
  two->spin();
  EXPECT_EQ(ticks, 3);
  EXPECT_FALSE(one);
}

TEST_F(Executors, ACallerThatNeverDispatchesAgainKeepsNothingOfWhatIsGone) {
  auto node = Node::create("node", {.executor = by_caller()});
  auto publisher = node->create_publisher<Sample>("topic");
  const auto kept = std::make_shared<int>();
  auto subscriber = node->create_subscriber<Sample>("topic", [kept](const Sample&) {});
  auto timer = node->create_timer(1h, [kept] {});
  publisher->publish(sample_of(1, 1, 10));
  node->dispatch();
  subscriber.reset();
  timer.reset();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(Executors, WhoMayNotRunCallbacksIsTold) {
  auto node = Node::create("node");
  for (const auto& call : {std::function<void()>([&] { node->spin(); }), std::function<void()>([&] { node->dispatch(); }),
                           std::function<void()>([&] { node->fd(); })}) {
    EXPECT_NE(refusal_of(call).find("NodeOptions{.executor = Executor::create({.by_caller = true})}"), std::string::npos);
  }
  auto callers = Node::create("callers", {.executor = by_caller()});
  std::string refusal;
  auto timer = callers->create_timer(1ms, [&] {
    refusal = refusal_of([&] { callers->dispatch(); });
    callers->executor()->stop();
  });
  callers->spin();
  EXPECT_EQ(refusal, "this is called from a callback of the same executor");
}

TEST_F(Executors, OptionsThatMakeNoSenseAreRefused) {
  const auto refused = [](const ExecutorOptions& options) { return refusal_of([&] { (void)Executor::create(options); }); };
  EXPECT_EQ(refused({.threads = {{1024, {}}}}), "execution thread 1024: ids go from 0 to 1023");
  EXPECT_EQ(refused({.threads = {{2, {.name = "a name that is long"}}}}),
            "execution thread 2: the name 'a name that is long' has 19 bytes; the system keeps 15");
  EXPECT_EQ(refused({.threads = {{0, {.priority = 3}}}}), "execution thread 0: priority 3 needs Scheduling::fifo or round_robin");
  EXPECT_EQ(refused({.threads = {{0, {.scheduling = Scheduling::fifo, .priority = 100}}}}),
            "execution thread 0: priority 100 is out of range, 1 to 99");
  EXPECT_EQ(refused({.threads = {{0, {.cpus = {0, 1024}}}}}), "execution thread 0: core 1024 is out of range, 0 to 1023");
  EXPECT_EQ(refused({.threads = {{0, {.spin = -1ns}}}}), "execution thread 0: a spin time of -1 ns is out of range, 0 or more");
  EXPECT_EQ(refused({.threads = {{0, {.name = "mine"}}}, .by_caller = true}),
            "execution thread 0: it is the caller's own, who names it and schedules it; only its spin time can be given");
  auto node = Node::create("node");
  EXPECT_EQ(refusal_of([&] { (void)node->create_subscriber<Sample>("topic", [](const Sample&) {}, Qos{}, on_thread(5000)); }),
            "execution thread 5000: ids go from 0 to 1023");
  EXPECT_EQ(refusal_of([&] { (void)node->create_timer(0ns, [] {}); }),
            "node 'node': a timer's period of 0 ns is out of range, 1 ns or more");
  EXPECT_EQ(refusal_of([&] { (void)node->create_timer(1ms, nullptr); }), "node 'node': a timer needs a callback");
}

/// How the thread is run that calls this.
struct Circumstances {
  std::array<char, 16> name{};
  int policy = -1, priority = -1, cpus = -1;
  bool on_first = false;

  static Circumstances here() {
    Circumstances now;
    ::pthread_getname_np(::pthread_self(), now.name.data(), now.name.size());
    now.policy = ::sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
    sched_param parameters{};
    ::sched_getparam(0, &parameters);
    now.priority = parameters.sched_priority;
    cpu_set_t set;
    ::sched_getaffinity(0, sizeof set, &set);
    now.cpus = CPU_COUNT(&set);
    now.on_first = CPU_ISSET(0, &set);
    return now;
  }
};

Circumstances circumstances_of(Node& node, ThreadId id) {
  std::mutex mutex;
  std::optional<Circumstances> found;
  auto timer = node.create_timer(1ms,
                                 [&] {
                                   const std::lock_guard lock(mutex);
                                   found = Circumstances::here();
                                 },
                                 {.execution_thread = id});
  eventually([&] {
    const std::lock_guard lock(mutex);
    return found.has_value();
  });
  timer.reset();
  return found.value_or(Circumstances{});
}

TEST_F(Executors, AThreadIsNamedScheduledAndKeptOnItsCoresAsAsked) {
  sched_param lowest{.sched_priority = 1};
  const bool may = ::sched_setscheduler(0, SCHED_FIFO, &lowest) == 0;
  lowest.sched_priority = 0;
  const auto executor =
      Executor::create({.threads = {{3, {.name = "planner", .cpus = {0}}}, {4, {.scheduling = Scheduling::round_robin, .priority = 2}}}});
  auto node = Node::create("node", {.executor = executor});
  // Also when it is made by a thread that is none.
  const Circumstances third = circumstances_of(*node, 3), fourth = circumstances_of(*node, 4), usual = circumstances_of(*node, 0);
  if (may) ::sched_setscheduler(0, SCHED_OTHER, &lowest);
  EXPECT_STREQ(third.name.data(), "planner");
  EXPECT_EQ(third.cpus, 1);
  EXPECT_TRUE(third.on_first);
  EXPECT_STREQ(usual.name.data(), "sinew-run");
  EXPECT_EQ(usual.policy, SCHED_OTHER);
  EXPECT_EQ(fourth.policy, may ? SCHED_RR : SCHED_OTHER);
  EXPECT_EQ(fourth.priority, may ? 2 : 0);
}

TEST_F(Executors, WithoutTheRightAThreadRunsAsAnOrdinaryOne) {
  const auto executor = Executor::create({.threads = {{0, {.scheduling = Scheduling::fifo, .priority = 1}}}});
  auto node = Node::create("node", {.executor = executor});
  os::fault::arm(os::fault::Call::schedule, 1, EPERM);
  const Circumstances ordinary = circumstances_of(*node, 0);
  os::fault::disarm();
  EXPECT_EQ(ordinary.policy, SCHED_OTHER);
}

}  // namespace
}  // namespace sinew::system
