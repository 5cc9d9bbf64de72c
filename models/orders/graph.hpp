// One execution of a few threads, as RC11 has it ("Repairing Sequential Consistency in C/C++11", Lahav, Vafeiadis, Kang, Hur and Dreyer, PLDI 2017; release sequences are those of
// C++20): what each thread has done, which store each load has read from, and in which order the stores of each word have come.
#pragma once

#include <atomic>
#include <bitset>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace checked {

/// What a thread does next.
struct Step {
  enum class Kind : std::uint8_t { load, store, change, fence, read, write };  ///< the last two are of plain variables
  enum class Change : std::uint8_t { exchange, add, clear, set };              ///< to the operand; by it; but its bits; and its bits

  Kind kind = Kind::fence;
  std::memory_order order = std::memory_order_relaxed;
  const void* place = nullptr;
  std::uint64_t initial = 0;  ///< value of the place before the threads began
  std::uint64_t operand = 0;
  Change change = Change::exchange;
  bool waits = false;  ///< it can be done only when it reads another value than zero

  bool reads_word() const { return kind == Kind::load || kind == Kind::change; }
  bool writes_word() const { return kind == Kind::store || kind == Kind::change; }
  bool is_plain() const { return kind == Kind::read || kind == Kind::write; }
  bool is_sc() const { return order == std::memory_order_seq_cst && !is_plain(); }
  /// What a change makes of `value`, or a store.
  std::uint64_t changed(std::uint64_t value) const;
  bool acquires() const;
  bool releases() const;
};

class Graph {
 public:
  static constexpr std::size_t most_events = 192;
  using Events = std::bitset<most_events>;

  explicit Graph(std::size_t threads) : threads_(threads) {}

  /// The graphs that one more step of a thread can lead to: one for each store that it may read from, and each place in the order of stores that it may have.
  /// None, where it waits. REQUIRES: all steps of others that read nothing were made first, or stores are missing that could be read from.
  std::vector<Graph> after(std::size_t thread, const Step& step) const;
  /// What a thread has read and written, in its order: it does the same each time when it is given this.
  const std::vector<std::uint64_t>& results(std::size_t thread) const { return threads_[thread].results; }
  /// Two graphs with the same key go on in the same ways.
  std::string key() const;
  /// Plain accesses that race, in words.
  const std::string& race() const { return race_; }

 private:
  static constexpr int initial = -1;  // instead of an event: the value from before the threads began
  struct Event {
    Step step;
    std::size_t thread = 0;
    std::size_t index = 0;    // in its thread
    int from = initial;       // of what reads
    std::uint64_t value = 0;  // after it
    Events before{};          // what happens before it
    Events carried{};         // of what writes: what then happens before whoever acquires from it
  };
  struct Thread {
    std::vector<std::uint64_t> results;
    std::vector<int> events;
    Events before;   // its next event
    Events fenced;   // carried by each of its stores: its last release fence, and what happens before that
    Events pending;  // happens before the next acquire fence
  };
  using Order = std::vector<int>;  // the stores of a word

  std::optional<Graph> with(std::size_t thread, const Step& step, int from, std::size_t place_in_order) const;
  std::size_t earliest(const Order& order, const void* place, const Events& before) const;
  void look_for_races(const Event& event);
  bool is_consistent() const;

  std::vector<Event> events_;
  std::vector<Thread> threads_;
  std::map<const void*, Order> orders_;
  std::string race_;
};

}  // namespace checked
