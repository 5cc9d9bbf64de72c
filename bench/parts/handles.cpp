#include <array>
#include <vector>

#include "parts/loopback.hpp"
#include "parts/outside.hpp"
#include "parts/timing.hpp"
#include "private_domain.hpp"

namespace sinew::bench {

// 128 bytes as one block, and as the payload of a vector, which has to be looked at when it is received.
struct Plain128 {
  std::int64_t stamp;
  std::array<std::uint8_t, 120> data;
};
static_assert(sizeof(Plain128) == 128);
struct Vector128 {
  std::int64_t stamp;
  std::vector<std::uint8_t> data;
};

namespace {

void fill(Plain128& message) {
  message.stamp = 1;
}
void fill(Vector128& message) {
  message.stamp = 1;
  message.data.resize(128);
}

// What every owner of a message does with it: one more owner, a look at the message, one owner less.
void share(const std::shared_ptr<const Plain128>& message) {
  const std::shared_ptr<const Plain128> copy = message;  // NOLINT(performance-unnecessary-copy-initialization): it is what is measured
  look_at(copy.get());
  const std::int64_t stamp = copy->stamp;
  look_at(&stamp);
}

// Of batches of messages that are published, and then taken, one of the two is what is measured.
enum class Half { publish, take };

template <class T>
Outcome measure_half(Half half, std::uint64_t count) {
  const std::uint64_t messages = marks() != nullptr ? marked_operations : 256;
  const PrivateDomain domain;
  const auto node = Node::create("bench_halves", {.domain = domain.name()});
  const Loopback<T> loop(*node, "bench", 1, Qos{}.keep_last(static_cast<unsigned>(2 * messages)));
  Outcome outcome;
  for (std::uint64_t done = 0; outcome.sinew.size() < count; ++done) {
    auto publish = [&] { loop.publish([](T& message) { fill(message); }); };
    std::uint64_t taken = 0;
    auto take = [&] {
      const auto message = loop.subscriber().take();
      taken += message ? 1 : 0;
      look_at(message.get());
    };
    double time = 0;
    if (half == Half::publish) {
      time = time_of(messages, publish);
    } else {
      for (std::uint64_t i = 0; i < messages; ++i) publish();
      time = time_of(messages, take);
      if (taken < messages && done > warm_ups(count)) throw std::runtime_error("a published message could not be taken");
    }
    for (; taken < messages; ++taken) loop.take();  // at first chunks come in, and are mapped by another thread
    if (done >= warm_ups(count)) outcome.sinew.push_back(time);
  }
  return outcome;
}

}  // namespace

Outcome measure_handle(std::uint64_t count) {
  const PrivateDomain domain;
  const auto node = Node::create("bench_handle", {.domain = domain.name()});
  const Loopback<Plain128> loop(*node, "bench", 1);
  loop.publish([](Plain128& message) { fill(message); });
  const std::shared_ptr<const Plain128> received = loop.take();
  const std::shared_ptr<const Plain128> made = std::make_shared<const Plain128>();
  return side_by_side(count, 10'000, [&] { share(received); }, [&] { share(made); });
}

Outcome measure_publish(std::uint64_t count) {
  return measure_half<Plain128>(Half::publish, count);
}

Outcome measure_publish_vector(std::uint64_t count) {
  return measure_half<Vector128>(Half::publish, count);
}

// Each is read before the next is published, which therefore finds its memory again.
Outcome measure_life(std::uint64_t count) {
  const PrivateDomain domain;
  const auto node = Node::create("bench_life", {.domain = domain.name()});
  const Loopback<Plain128> loop(*node, "bench", 1);
  return alone(count, 1000, [&] {
    loop.publish([](Plain128& message) { fill(message); });
    look_at(loop.take().get());
  });
}

Outcome measure_take(std::uint64_t count) {
  return measure_half<Plain128>(Half::take, count);
}

Outcome measure_take_vector(std::uint64_t count) {
  return measure_half<Vector128>(Half::take, count);
}

}  // namespace sinew::bench
