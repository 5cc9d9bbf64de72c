// Numbers drawn by lot, so that nobody else has the same.
#pragma once

#include <cstdint>

namespace sinew::base {

/// Never 0. From the system's source of randomness; throws what std::random_device does when that cannot be had.
std::uint64_t random_number();

}  // namespace sinew::base
