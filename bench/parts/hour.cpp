#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "parts/loopback.hpp"
#include "parts/outside.hpp"
#include "parts/raw.hpp"
#include "private_domain.hpp"

namespace sinew::bench {

struct Mixed {
  std::string frame;
  std::vector<RawByte> data;
};

namespace {

// What a robot publishes: so many bytes, at least and at most, every so many milliseconds.
struct Topic {
  std::size_t least, most;
  std::uint64_t period_ms;
};
constexpr Topic topics[] = {
    {5'500'000, 5'500'000, 33},  // two cameras
    {900'000, 900'000, 33},
    {200'000, 4'000'000, 100},  // a lidar
    {100, 20'000, 10},          // found objects, as many as there are
    {500, 5'000, 10},           // a plan
    {300, 300, 5},              // pose
    {64, 1'000, 2},             // transforms
    {320, 320, 2},              // inertial unit
    {50, 400, 1},               // joints
};
constexpr unsigned subscribers = 3;
constexpr std::size_t most_held = 4;  // by each subscriber, of each topic
constexpr double shortest_hold_ms = 1, longest_hold_ms = 10'000;

class Robot {
 public:
  explicit Robot(bool one_window) : one_window_(one_window) {
    for (std::size_t i = 0; i < (one_window ? 1 : std::size(topics)); ++i) {
      loops_.push_back(std::make_unique<Loopback<Mixed>>(*node_, "bench_" + std::to_string(i), subscribers));
    }
  }

  Outcome live(std::uint64_t seconds) {
    std::size_t most_in_use = 0, mapped = 0, most_mapped = 0;
    for (now_ = 0; now_ < seconds * 1000; ++now_) {
      for (std::size_t topic = 0; topic < std::size(topics); ++topic) {
        if ((now_ + topic) % topics[topic].period_ms == 0) publish(topic);
      }
      std::size_t in_use = 0;
      mapped = 0;
      for (const auto& loop : loops_) {
        const PublisherStatistics statistics = loop->publisher().statistics();
        in_use += statistics.memory_in_use;
        mapped += statistics.memory_mapped;
      }
      most_in_use = std::max(most_in_use, in_use);
      most_mapped = std::max(most_mapped, mapped);
    }
    const auto to_most_in_use = [&](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(most_in_use); };
    Outcome outcome;
    outcome.extra = {{"in_use_most_mb", static_cast<double>(most_in_use) * 1e-6},
                     {"mapped_last_mb", static_cast<double>(mapped) * 1e-6},
                     {"mapped_most_mb", static_cast<double>(most_mapped) * 1e-6},
                     {"mapped_last_ratio", to_most_in_use(mapped)},
                     {"mapped_most_ratio", to_most_in_use(most_mapped)}};
    return outcome;
  }

 private:
  struct Held {
    std::uint64_t until;
    std::shared_ptr<const Mixed> message;
  };

  void publish(std::size_t topic) {
    const Loopback<Mixed>& loop = *loops_[one_window_ ? 0 : topic];
    const std::size_t size = std::uniform_int_distribution(topics[topic].least, topics[topic].most)(random_);
    loop.publish([size](Mixed& message) {
      message.frame = "a_name_that_is_not_inside_the_string";
      message.data.resize(size);
    });
    for (unsigned subscriber = 0; subscriber < subscribers; ++subscriber) {
      auto& held = held_[subscriber][topic];
      std::erase_if(held, [&](const Held& each) { return each.until <= now_; });
      auto message = loop.take(subscriber);
      if (held.size() < most_held && random_() % 8 == 0) held.push_back({now_ + draw_hold(), std::move(message)});
    }
  }

  // As many short ones as long ones, by their logarithm.
  std::uint64_t draw_hold() {
    std::uniform_real_distribution<double> exponent(std::log(shortest_hold_ms), std::log(longest_hold_ms));
    return static_cast<std::uint64_t>(std::exp(exponent(random_)));
  }

  const bool one_window_;
  const PrivateDomain domain_;
  const std::shared_ptr<Node> node_ = Node::create("bench_robot", {.domain = domain_.name()});
  std::vector<std::unique_ptr<Loopback<Mixed>>> loops_;
  std::vector<Held> held_[subscribers][std::size(topics)];
  std::mt19937_64 random_{20'260'101};
  std::uint64_t now_ = 0;  // ms of simulated time
};

}  // namespace

Outcome measure_hour(std::uint64_t count) {
  return Robot(false).live(count);
}

Outcome measure_hour_one_window(std::uint64_t count) {
  return Robot(true).live(count);
}

}  // namespace sinew::bench
