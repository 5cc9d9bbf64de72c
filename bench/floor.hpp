// Floors: the least that the machine asks for carrying a message between processes, without any library.
#pragma once

#include <memory>

#include "cell.hpp"
#include "transport.hpp"

namespace sinew::bench {

/// Bare processes and plain shared memory: eight slots for each publisher, filled in place. A publisher rings one eventfd for each
/// subscriber, or only stores its head, on which the subscribers then spin. Loses nothing: a publisher that is eight
/// messages ahead of a subscriber yields until a slot is free.
std::unique_ptr<Transport> make_floor(const Cell& cell);

/// One process copies `size` bytes from private memory into eight slots of shared memory in turn. Latency: one memcpy.
Samples measure_memcpy(const Cell& cell);

}  // namespace sinew::bench
