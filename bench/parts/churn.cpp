#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "parts/loopback.hpp"
#include "parts/outside.hpp"
#include "parts/raw.hpp"
#include "parts/timing.hpp"
#include "private_domain.hpp"
#include "proc.hpp"

namespace sinew::bench {

struct Churned {
  std::vector<RawByte> data;
};

namespace {

constexpr std::uint64_t first_cycles = 1000;  // after which the memory of the process is to stay as it is
constexpr std::uint64_t looks = 100;

}  // namespace

Outcome measure_churn(std::uint64_t count) {
  const PrivateDomain domain;
  const auto node = Node::create("bench_churn", {.domain = domain.name()});
  const Loopback<Churned> loop(*node, "bench", 1);
  std::mt19937_64 random(20'260'101);
  std::uniform_real_distribution<double> doublings(4, 16);  // 16 B to 64 KiB, every size of block as often
  auto cycle = [&] {
    const auto size = static_cast<std::size_t>(std::exp2(doublings(random)));
    loop.publish([size](Churned& message) { message.data.resize(size); });
    loop.take();
  };
  Outcome outcome;
  outcome.sinew.reserve(looks);
  time_of(std::min(first_cycles, count), cycle);
  const double first = resident_kib_of("self");
  double last = first, most = first;
  for (std::uint64_t i = 0; i < looks && count > first_cycles; ++i) {
    outcome.sinew.push_back(time_of(std::max<std::uint64_t>((count - first_cycles) / looks, 1), cycle));
    last = resident_kib_of("self");
    most = std::max(most, last);
  }
  outcome.extra = {{"resident_first_kib", first},
                   {"resident_last_kib", last},
                   {"resident_most_kib", most},
                   {"resident_change", std::abs(last / first - 1)}};
  return outcome;
}

}  // namespace sinew::bench
