// What std::atomic is for src/shm while its memory orders are tried: every access becomes a step of an execution graph. It knows where in the source it stands, so that the order at one place
// can be weakened.
#pragma once

#include <source_location>

#include "explore.hpp"

namespace checked {

using Place = std::source_location;

template <class T>
class atomic {
 public:
  static constexpr bool is_always_lock_free = true;
  using Kind = Step::Kind;
  using Change = Step::Change;

  atomic(T value = T()) : initial_(static_cast<std::uint64_t>(value)) {}
  atomic(const atomic&) = delete;
  atomic& operator=(const atomic&) = delete;

  T load(std::memory_order order, Place at = Place::current()) const { return perform({.kind = Kind::load}, order, at); }
  void store(T value, std::memory_order order, Place at = Place::current()) {
    perform({.kind = Kind::store, .operand = of(value)}, order, at);
  }
  T exchange(T value, std::memory_order order, Place at = Place::current()) {
    return perform({.kind = Kind::change, .operand = of(value)}, order, at);
  }
  T fetch_add(T value, std::memory_order order, Place at = Place::current()) {
    return perform({.kind = Kind::change, .operand = of(value), .change = Change::add}, order, at);
  }
  T fetch_and(T value, std::memory_order order, Place at = Place::current()) {
    return perform({.kind = Kind::change, .operand = of(value), .change = Change::clear}, order, at);
  }
  T fetch_or(T value, std::memory_order order, Place at = Place::current()) {
    return perform({.kind = Kind::change, .operand = of(value), .change = Change::set}, order, at);
  }
  /// Gets what is not zero, and leaves zero; waits for it.
  T take(Place at = Place::current()) { return perform({.kind = Kind::change, .waits = true}, std::memory_order_acq_rel, at); }

 private:
  static std::uint64_t of(T value) { return static_cast<std::uint64_t>(value); }
  T perform(Step step, std::memory_order order, const Place& at) const {
    step.place = this;
    return static_cast<T>(checked::perform(step, order, at, initial_));
  }

  mutable std::uint64_t initial_;
};

/// A variable that is no atomic: a race for it is a failure.
class plain {
 public:
  explicit plain(std::uint64_t value = 0) : initial_(value) {}
  plain(const plain&) = delete;
  plain& operator=(const plain&) = delete;

  /// As words of the C++ that is tried are used.
  operator std::uint64_t() const { return read(); }
  plain& operator=(std::uint64_t value) {
    write(value);
    return *this;
  }

  std::uint64_t read(Place at = Place::current()) const { return perform({.kind = Step::Kind::read, .place = this}, {}, at, initial_); }
  void write(std::uint64_t value, Place at = Place::current()) {
    perform({.kind = Step::Kind::write, .place = this, .operand = value}, {}, at, initial_);
  }

 private:
  mutable std::uint64_t initial_;
};

inline void fence(std::memory_order order, Place at = Place::current()) {
  std::uint64_t none = 0;
  perform({.kind = Step::Kind::fence}, order, at, none);
}

}  // namespace checked
