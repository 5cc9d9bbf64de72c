// Whether operator new, as the calling module sees it, is the library's (DESIGN-REVIEW F4, S10). Not for direct use.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sinew/detail/publisher_core.hpp"

namespace sinew::detail {

// Static, so that every module, and not only the first that was loaded, asks for itself: a plugin may be bound to another operator new than the program.
// Asks for new and delete, in code compiled here (vector) and in code inside the C++ library's own shared object (stream).
[[maybe_unused]] static bool probe_allocation(PublisherCore& core) {
  if (!PublisherCore::is_replacement(&::operator delete)) return false;
  std::string text;
  {
    const AllocateInPlace scope(core, true);
    const std::vector<char> here(64);
    if (!core.in_window(here.data(), here.size())) return false;
    std::ostringstream stream;
    stream << "a text that no small string holds, so that the library allocates";
    text = std::move(stream).str();
  }
  return core.in_window(text.data(), text.size());
}

[[maybe_unused]] static bool allocates_in_place(PublisherCore& core) {
  static const bool takes = probe_allocation(core) || (core.report_not_replaced(), false);
  return takes;
}

}  // namespace sinew::detail
