// Storage that nobody fills.
#pragma once

#include <cstdint>
#include <sinew/message.hpp>

namespace sinew::bench {

/// A byte of any value: a vector of these takes its memory, counts with its full size, and is not written to. Where only memory is measured an hour of images would
/// else take minutes to fill. Memory of a publisher is populated when it is mapped, hence resident whether somebody writes to it or not.
class RawByte {
 public:
  RawByte() noexcept {}  // NOLINT(modernize-use-equals-default): that one would be trivial, and vectors fill those with zeros
  SINEW_MESSAGE(RawByte, byte_);

 private:
  std::uint8_t byte_;
};

}  // namespace sinew::bench
