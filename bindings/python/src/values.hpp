// What is done with whole values of a stream, however deep.
#pragma once

#include <cstdint>
#include <string>

#include "bindings/python/src/stream.hpp"

namespace sinew::python {

/// Where a value begins; what reads it moves it to what follows.
struct Place {
  const StreamPtr& stream;
  std::uint64_t offset;
  std::uint64_t empty = 0;  // elements that took nothing
};

/// Whether two values of one type are the same; numbers as Python compares them. What follows is not told when they differ.
bool equal_values(const Type& type, Place& a, Place& b);

/// What structures become: dicts, or drafts, which can be changed and published. Drafts have variants with their alternatives, so that those are published again.
enum class Copied : bool { dicts, drafts };
/// A copy in these, lists and arrays of its own.
nb::object plain_value(const TypePtr& type, Place& at, Copied as);
/// Of a whole stream: raises DecodeError also for what follows the value (C1.4).
void require_end(const Place& at);

/// For people: "robot/Point(x=1.0)", appended. Long arrays are told by their type and length; what follows is dropped when it gets long.
void show_value(const Type& type, Place& at, std::string& text);

}  // namespace sinew::python
