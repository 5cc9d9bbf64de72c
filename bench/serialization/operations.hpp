// Timing what all systems do with one message, in turns.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string_view>
#include <vector>

#include "parts/timing.hpp"
#include "serialization/systems.hpp"

namespace sinew::bench {

/// What one system does.
struct Operation {
  std::string_view system, name;
  std::size_t bytes;              ///< What the message has in its form.
  std::function<double()> batch;  ///< Does it some times. Returns nanoseconds of one.
  std::vector<double> times = {};
};

/// How often it is done in a batch: so often that reading the clock does not show.
struct Batches {
  std::uint64_t of_whole;   ///< Of what goes through the whole message.
  std::uint64_t of_opened;  ///< Of what looks at some of it.
};

/// Adds those of a system. `message` must outlive them.
template <class System, class T>
void add_operations(const T& message, const Batches& batches, std::vector<Operation>& to) {
  const auto system = std::make_shared<System>(message);
  const auto add = [&](std::string_view name, std::size_t bytes, std::uint64_t count, auto work) {
    to.push_back(
        {System::name, name, bytes, [count, work]() mutable {
           work();  // so that it finds heap and caches as it leaves them itself: who allocates next pays for what others have freed
           return time_of(count, work);
         }});
  };
  add("write", system->bytes().size(), batches.of_whole, [system, &message] {
    look_at(&message);
    system->write();
    look_at(system.get());
  });
  add("read", system->bytes().size(), batches.of_whole, [system] {
    alignas(T) std::array<std::byte, sizeof(T)> place;
    T* const object = reinterpret_cast<T*>(place.data());
    look_at(system.get());
    system->read(object);
    look_at(object);
    std::destroy_at(object);
  });
  if constexpr (Opens<System>) {
    add("open", system->bytes_opened(), batches.of_opened, [system] {
      look_at(system.get());
      const Touched touched = system->open();
      look_at(&touched);
    });
  }
}

/// A batch of each in every round, in an order of its own, so that a drift of the machine, and what comes before, meets all alike.
inline void time_in_turns(std::vector<Operation>& all, std::uint64_t rounds) {
  std::mt19937 random(std::random_device{}());
  std::vector<Operation*> order;
  order.reserve(all.size());
  for (Operation& operation : all) order.push_back(&operation);
  for (std::uint64_t round = 0; round < warm_ups(rounds) + rounds; ++round) {
    std::ranges::shuffle(order, random);
    for (Operation* const operation : order) {
      const double time = operation->batch();
      if (round >= warm_ups(rounds)) operation->times.push_back(time);
    }
  }
}

}  // namespace sinew::bench
