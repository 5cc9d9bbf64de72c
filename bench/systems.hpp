// What can be measured, by name.
#pragma once

#include <span>
#include <string_view>

#include "cell.hpp"

namespace sinew::bench {

struct System {
  std::string_view name;
  std::string_view help;
  Samples (*measure)(const Cell&);  ///< throws std::exception when the cell cannot be measured
};

std::span<const System> systems();

}  // namespace sinew::bench
