// What a user of sinew reaches, measured through the shared library. `count` is what the list of parts says.
#pragma once

#include <cstdint>

#include "parts/part.hpp"

namespace sinew::bench {

Outcome measure_handle(std::uint64_t count);
Outcome measure_publish(std::uint64_t count);
Outcome measure_publish_vector(std::uint64_t count);
Outcome measure_life(std::uint64_t count);
Outcome measure_take(std::uint64_t count);
Outcome measure_take_vector(std::uint64_t count);
Outcome measure_pointer_spin_small(std::uint64_t count);
Outcome measure_pointer_spin_large(std::uint64_t count);
Outcome measure_pointer_block_small(std::uint64_t count);
Outcome measure_pointer_block_large(std::uint64_t count);
Outcome measure_service_small(std::uint64_t count);
Outcome measure_service_large(std::uint64_t count);
Outcome measure_request_large(std::uint64_t count);
Outcome measure_heap_16(std::uint64_t count);
Outcome measure_heap_256(std::uint64_t count);
Outcome measure_churn(std::uint64_t count);
Outcome measure_hour(std::uint64_t count);
Outcome measure_hour_one_window(std::uint64_t count);

}  // namespace sinew::bench
