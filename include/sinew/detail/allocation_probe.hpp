// Whether operator new, as the calling module sees it, is the library's (F4 and S10 in docs/hazards.md). Not for direct use.
#pragma once

#include <cstdint>
#include <new>
#include <sstream>

#include "sinew/detail/publisher_core.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::detail {

// Static, so that every module, and not only the first that was loaded, asks for itself: a plugin may be bound to another operator new than the program.
// Asks for new and delete, in code compiled here and in code inside the C++ library's own shared object (stream). What counts is that a window was asked, not that
// it gave something: there may be no memory now.
[[maybe_unused]] static bool probe_allocation(PublisherCore& core) {
  if (!PublisherCore::is_replacement(&::operator delete)) return false;
  std::ostringstream stream;
  const AllocateInPlace scope(core, true);
  const std::uint64_t before = PublisherCore::times_asked();
  ::operator delete(::operator new(1));  // called as functions, which no compiler leaves out
  const std::uint64_t after = PublisherCore::times_asked();
  stream << "a text that no small string holds, so that the library allocates";
  return after != before && PublisherCore::times_asked() != after;
}

[[maybe_unused]] static bool allocates_in_place(PublisherCore& core) {
  static const bool takes = probe_allocation(core) || (core.report_not_replaced(), false);
  return takes;
}

/// Whether a message is built where other processes read it. Not with maps: their nodes mean nothing there.
template <class T>
[[maybe_unused]] static bool builds_in_place(PublisherCore& core) {
  return msg::message_of<T>().type->in_place && allocates_in_place(core);
}

}  // namespace sinew::detail
