#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "cores.hpp"
#include "parts/outside.hpp"
#include "parts/timing.hpp"
#include "private_domain.hpp"
#include "signal.hpp"

namespace sinew::bench {

struct Payload {
  std::int64_t stamp = 0;
  std::vector<std::uint8_t> data;
};

namespace {

constexpr std::chrono::microseconds pause{300};  // long enough for a blocking thread to be asleep again

/// Where the other thread puts what it has measured, and the message for the next time. A line of its own.
struct alignas(64) Answer {
  std::atomic<std::int64_t> latency{0};
  std::unique_ptr<Payload> message;  // before `latency`

  std::int64_t await() {
    std::int64_t measured = 0;
    while ((measured = latency.exchange(0)) == 0) spin_hint();
    return measured;
  }
};

/// The least that tells another thread of something: a word on which it spins, or an eventfd in which it sleeps.
class Floor {
 public:
  explicit Floor(bool spins) : spins_(spins), thread_([this] { run(); }) {}
  ~Floor() {
    send(-1);
    thread_.join();
  }
  Floor(const Floor&) = delete;
  Floor& operator=(const Floor&) = delete;

  std::int64_t measure() {
    send(now_ns());
    return answer_.await();
  }

 private:
  void send(std::int64_t stamp) {
    stamp_.store(stamp, std::memory_order_seq_cst);
    if (!spins_) signal_.ring();
  }
  void run() {
    for (;;) {
      if (!spins_) signal_.await();
      std::int64_t stamp = 0;
      while ((stamp = stamp_.load(std::memory_order_seq_cst)) == 0) spin_hint();
      const std::int64_t now = now_ns();
      if (stamp < 0) return;
      stamp_.store(0);
      answer_.latency = now - stamp;
    }
  }

  const bool spins_;
  const Signal signal_;
  alignas(64) std::atomic<std::int64_t> stamp_{0};
  Answer answer_;
  std::thread thread_;
};

// A message goes to the execution thread and comes back by the Answer, so that nothing is allocated in between.
Outcome measure_by_pointer(std::uint64_t count, bool spins, std::size_t size) {
  const std::vector<int> cores = allowed_cores();
  if (cores.size() < 2) throw std::runtime_error("it takes two cores");
  const PrivateDomain domain;
  Answer answer;
  answer.message = std::make_unique<Payload>();
  answer.message->data.resize(size, 1);
  Outcome outcome;
  const std::uint64_t messages = warm_ups(count) + count;
  // Threads run where the one that starts them ran. Who spins would be in the other's way: one after the other.
  const auto measure = [&](auto send, std::vector<double>& into) {
    for (std::uint64_t i = 0; i < messages; ++i) {
      if (!spins) std::this_thread::sleep_for(pause);
      const auto latency = static_cast<double>(send());
      if (i >= warm_ups(count)) into.push_back(latency);
    }
  };
  const auto other_core = [&](auto start) {
    stay_on_core(cores[1]);
    auto started = start();
    stay_on_core(cores[0]);
    return started;
  };
  {
    const auto node = other_core([&] {
      return Node::create("bench_pointer", {.domain = domain.name(),
                                            .executor = Executor::create({.threads = {{0, {.spin = std::chrono::hours(spins ? 1 : 0)}}}})});
    });
    const auto subscriber = other_core([&] {
      return node->create_subscriber<Payload>("bench", [&](std::unique_ptr<Payload> message) {
        const std::int64_t latency = now_ns() - message->stamp;
        answer.message = std::move(message);
        answer.latency = latency;
      });
    });
    const auto publisher = node->create_publisher<Payload>("bench");
    measure(
        [&] {
          std::unique_ptr<Payload> message = std::move(answer.message);
          // Who publishes has just written the message: its memory is in this core's cache, not any more in that of the callback, which had it before.
          message->stamp = 0;
          std::atomic_thread_fence(std::memory_order_seq_cst);
          message->stamp = now_ns();
          if (publisher->publish(std::move(message)) != PublishResult::published) throw std::runtime_error("a message was not published");
          return answer.await();
        },
        outcome.sinew);
  }
  const auto floor = other_core([&] { return std::make_unique<Floor>(spins); });
  measure([&] { return floor->measure(); }, outcome.floor);
  return outcome;
}

constexpr std::size_t small = 128, large = 16'000'000;

}  // namespace

Outcome measure_pointer_spin_small(std::uint64_t count) {
  return measure_by_pointer(count, true, small);
}
Outcome measure_pointer_spin_large(std::uint64_t count) {
  return measure_by_pointer(count, true, large);
}
Outcome measure_pointer_block_small(std::uint64_t count) {
  return measure_by_pointer(count, false, small);
}
Outcome measure_pointer_block_large(std::uint64_t count) {
  return measure_by_pointer(count, false, large);
}

}  // namespace sinew::bench
