#include "floor.hpp"

#include <sched.h>

#include <cstring>
#include <vector>

#include "clock.hpp"
#include "shared_slots.hpp"
#include "signal.hpp"

namespace sinew::bench {

namespace {

class FloorSource final : public Source {
 public:
  FloorSource(const SharedSlots& slots, std::vector<std::unique_ptr<Signal>>& signals) : slots_(slots), signals_(signals) {
    slots.touch(true);
  }

  void fill(std::uint8_t value) override {
    while (!slots_.free_for(next_)) sched_yield();
    const std::span<std::uint8_t> payload = slots_.payload(next_);
    std::memset(payload.data(), value, payload.size());
  }
  void send(std::int64_t stamp) override {
    slots_.stamp(next_) = stamp;
    slots_.head().store(++next_, std::memory_order_release);
    for (const auto& signal : signals_) signal->ring();
  }
  std::uint64_t bytes_copied() const override { return 0; }

 private:
  const SharedSlots& slots_;
  std::vector<std::unique_ptr<Signal>>& signals_;
  std::uint64_t next_ = 0;
};

class FloorSink final : public Sink {
 public:
  FloorSink(const std::vector<SharedSlots>& slots, Signal* signal, unsigned reader, Arrivals& arrivals)
      : slots_(slots), signal_(signal), reader_(reader), arrivals_(arrivals), next_(slots.size(), 0) {
    for (const SharedSlots& each : slots) each.touch(false);
  }

  // Nothing is lost here, so this ends by itself.
  void receive(int /*stop*/) override {
    while (!arrivals_.complete()) {
      if (signal_ == nullptr) {
        spin_hint();
      } else {
        signal_->await();
      }
      read_all();
    }
  }
  std::uint64_t bytes_copied() const override { return 0; }

 private:
  void read_all() {
    for (std::size_t publisher = 0; publisher < slots_.size(); ++publisher) {
      const SharedSlots& slots = slots_[publisher];
      std::uint64_t& next = next_[publisher];
      while (next < slots.head().load(std::memory_order_acquire)) {
        arrivals_.add(slots.stamp(next), slots.payload(next));
        slots.cursor(reader_).store(++next, std::memory_order_release);
      }
    }
  }

  const std::vector<SharedSlots>& slots_;
  Signal* const signal_;  // none: this sink spins
  const unsigned reader_;
  Arrivals& arrivals_;
  std::vector<std::uint64_t> next_;
};

class Floor final : public Transport {
 public:
  explicit Floor(const Cell& cell) {
    for (unsigned publisher = 0; publisher < cell.publishers; ++publisher) slots_.emplace_back(cell.size, cell.subscribers);
    for (unsigned i = 0; i < cell.subscribers && !cell.spin; ++i) signals_.push_back(std::make_unique<Signal>());
  }
  std::unique_ptr<Source> open_source(unsigned publisher) override { return std::make_unique<FloorSource>(slots_[publisher], signals_); }
  std::unique_ptr<Sink> open_sink(unsigned subscriber, Arrivals& arrivals) override {
    Signal* const signal = signals_.empty() ? nullptr : signals_[subscriber].get();
    return std::make_unique<FloorSink>(slots_, signal, subscriber, arrivals);
  }

 private:
  std::vector<SharedSlots> slots_;
  std::vector<std::unique_ptr<Signal>> signals_;
};

}  // namespace

std::unique_ptr<Transport> make_floor(const Cell& cell) {
  return std::make_unique<Floor>(cell);
}

}  // namespace sinew::bench
