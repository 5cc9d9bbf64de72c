#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <sinew/sinew.hpp>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "cores.hpp"
#include "parts/outside.hpp"
#include "parts/timing.hpp"
#include "private_domain.hpp"
#include "signal.hpp"

namespace sinew::bench {

struct Order {
  std::uint64_t bytes = 0;
};
struct Delivered {
  std::vector<std::uint8_t> bytes;
};

namespace {

constexpr std::chrono::microseconds pause{300};  // long enough for both sides to be asleep again

std::uint8_t value_of(std::int64_t round) {
  return static_cast<std::uint8_t>(round);
}

/// Another process, on the other core, that does `work` until this is destroyed. REQUIRES: no threads yet.
class OtherProcess {
 public:
  template <class Work>
  OtherProcess(int core, Work work) : pid_(::fork()) {
    if (pid_ < 0) throw std::runtime_error("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    stay_on_core(core);
    work();
    ::_exit(0);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;
  ~OtherProcess() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  const pid_t pid_;
};

/// Two wake-ups, before which each side fills its bytes, always the same ones.
class Floor {
 public:
  Floor(int core, std::size_t there, std::size_t here)
      : other_(core,
               [this, there] {
                 std::vector<std::uint8_t> bytes(there, 1);
                 for (std::int64_t round = 0;; ++round) {
                   asked_.await();
                   fill(bytes, round);
                   answered_.ring();
                 }
               }),
        bytes_(here, 1) {}
  void call(std::int64_t round) {
    fill(bytes_, round);
    asked_.ring();
    answered_.await();
  }

 private:
  static void fill(std::vector<std::uint8_t>& bytes, std::int64_t round) {
    std::ranges::fill(bytes, value_of(round));
    look_at(bytes.data());
  }
  const Signal asked_, answered_;
  const OtherProcess other_;
  std::vector<std::uint8_t> bytes_;
};

/// Each asleep before, one after the other.
template <class Call>
Outcome measure_calls(std::uint64_t count, Floor& floor, Call call) {
  Outcome outcome;
  for (std::uint64_t i = 0; i < warm_ups(count) + count; ++i) {
    for (const bool of_sinew : {i % 2 == 0, i % 2 != 0}) {
      std::this_thread::sleep_for(pause);
      const std::int64_t before = now_ns();
      if (of_sinew) {
        call(static_cast<std::int64_t>(i));
      } else {
        floor.call(static_cast<std::int64_t>(i));
      }
      const auto time = static_cast<double>(now_ns() - before);
      if (i >= warm_ups(count)) (of_sinew ? outcome.sinew : outcome.floor).push_back(time);
    }
  }
  return outcome;
}

/// One for either side.
std::vector<int> two_cores() {
  const std::vector<int> cores = allowed_cores();
  if (cores.size() < 2) throw std::runtime_error("it takes two cores");
  stay_on_core(cores[0]);
  return cores;
}

/// The provider fills its response with so many bytes.
Outcome measure_responses(std::uint64_t count, std::size_t size) {
  const std::vector<int> cores = two_cores();
  Floor floor(cores[1], size, 0);
  const PrivateDomain domain;
  const OtherProcess provider(cores[1], [&] {
    const auto node = Node::create("provider", {.domain = domain.name()});
    std::int64_t round = 0;
    const auto service = node->create_service_provider<Order, Delivered>("bench", [&](const Order& order, ServiceCall<Delivered>& call) {
      call.build([&](Delivered& delivered) { delivered.bytes.assign(order.bytes, value_of(++round)); });
    });
    for (;;) ::pause();
  });
  const auto node = Node::create("client", {.domain = domain.name()});
  const auto client = node->create_service_client<Order, Delivered>("bench");
  return measure_calls(count, floor, [&](std::int64_t) {
    if (client->call_and_wait({.bytes = size})->bytes.size() != size) throw std::runtime_error("a response is not whole");
  });
}

/// The client fills its request with so many bytes.
Outcome measure_requests(std::uint64_t count, std::size_t size) {
  const std::vector<int> cores = two_cores();
  Floor floor(cores[1], 0, size);
  const PrivateDomain domain;
  const OtherProcess provider(cores[1], [&] {
    const auto node = Node::create("provider", {.domain = domain.name()});
    const auto service = node->create_service_provider<Delivered, Order>(
        "bench", [&](const Delivered& delivered) { return Order{.bytes = delivered.bytes.size()}; });
    for (;;) ::pause();
  });
  const auto node = Node::create("client", {.domain = domain.name()});
  const auto client = node->create_service_client<Delivered, Order>("bench");
  return measure_calls(count, floor, [&](std::int64_t round) {
    RequestLoan<Delivered> loan = client->loan();
    loan->bytes.assign(size, value_of(round));
    if (client->call_and_wait(std::move(loan))->bytes != size) throw std::runtime_error("a request is not whole");
  });
}

}  // namespace

Outcome measure_service_small(std::uint64_t count) {
  return measure_responses(count, 128);
}
Outcome measure_service_large(std::uint64_t count) {
  return measure_responses(count, 10'000'000);
}
Outcome measure_request_large(std::uint64_t count) {
  return measure_requests(count, 10'000'000);
}

}  // namespace sinew::bench
