// How values of a type stand in a CDR stream (spec/cdr.md), as the steps that writing or reading one takes. Compiled once per type, so that a message costs a
// few steps with memcpy between them, not a visit of every field.
#pragma once

#include <cstdint>
#include <vector>

#include "sinew/msg/type.hpp"

namespace sinew::msg::cdr {

struct Step {
  enum class Action : std::uint8_t {
    numbers,    ///< `size` bytes that stand in memory as in the stream, or in swapped order numbers of `alignment` bytes each
    text,       ///< a string
    bits,       ///< a vector of bool
    sequence,   ///< a vector; `body`: of an element
    repeat,     ///< an array of `count` elements of `body`
    optional,   ///< none or one of `body`
    text_view,  ///< a string, into a view
    view,       ///< a vector, into a span; `body`: of an element
    variant,    ///< one of several; `body`: which
    map,        ///< a map; `body`: of an entry
  };
  Action action;
  std::uint8_t alignment;  ///< numbers: in the stream
  std::uint32_t body;      ///< index of a plan
  std::uint64_t offset;    ///< in the object
  std::uint64_t size;      ///< numbers: bytes; others with a body: of an element in memory
  std::uint64_t count;
  const Type* type;
};

struct Plan {
  std::vector<Step> steps;
  std::vector<std::uint32_t> alternatives;  ///< of a variant, and nothing else: index of a plan for each
  struct Flags {
    std::uint64_t offset, count;
  };
  std::vector<Flags> flags;  ///< the bools in the object itself: what a reader has to check, besides containers
  std::uint64_t size = 0;    ///< of the object
  std::uint64_t least = 0;   ///< bytes in the stream, at least
  std::uint8_t first = 1;    ///< alignment of the first number in the stream
  std::uint8_t widest = 1;   ///< the largest alignment of all
  bool plain =
      false;  ///< the object's bytes are the stream's, for any number of objects side by side, when they begin at a multiple of `widest`
  bool only_numbers = false;  ///< no step but numbers: every value takes `least` bytes and its padding
};

/// Of a value that begins at a multiple of 8 in the stream: plans[0]. The others are of elements and begin anywhere.
/// `swapped`: the stream has the byte order that this machine has not.
std::vector<Plan> compile(const Type& type, bool swapped);

}  // namespace sinew::msg::cdr
