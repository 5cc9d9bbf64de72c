// A stream that is being written: small values one behind the other, and big arrays where they lie.
#pragma once

#include <sinew.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {

/// Under the GIL, also when it goes away. Numbers are written in the order of this machine.
class Writer {
 public:
  Writer();
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// Of the body, behind what was written.
  std::uint64_t offset() const { return control_.size() - encapsulation + referred_; }

  void align(std::uint64_t to);
  void put(const void* bytes, std::size_t size);
  void zeros(std::uint64_t count) { control_.resize(control_.size() + count); }
  template <typename Number>
  void number(Number value) {
    align(sizeof value);
    put(&value, sizeof value);
  }
  /// The first `size` bytes of a buffer of Python, which is released with the writer, and must stay as it is until then. Those of small ones are copied.
  void refer(Py_buffer& buffer, std::uint64_t size);
  /// Memory that stays as it is until the writer goes away.
  void refer(std::uint8_t* data, std::uint64_t size);

  /// To take back what was written since.
  struct Mark {
    std::size_t control;
    std::size_t cuts;
    std::uint64_t referred;
  };
  Mark mark() const { return {control_.size(), cuts_.size(), referred_}; }
  void take_back(const Mark& mark);

  /// Copies what was referred to: from now on it may change.
  void own();

  /// What was written. Valid until more is.
  std::vector<sinew_extent> extents() const;

 private:
  static constexpr std::size_t encapsulation = 4;

  struct Cut {
    std::size_t control;  // where in it the bytes of the buffer stand
    Py_buffer buffer;
    std::uint64_t size;
  };

  std::vector<std::uint8_t> control_;
  std::vector<Cut> cuts_;
  std::uint64_t referred_ = 0;
};

}  // namespace sinew::python
