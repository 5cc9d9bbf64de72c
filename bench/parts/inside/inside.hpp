// What is inside the library, measured on its layers. `count` is batches.
#pragma once

#include <cstdint>

#include "parts/part.hpp"

namespace sinew::bench {

Outcome measure_audit_image(std::uint64_t count);
Outcome measure_audit_texts(std::uint64_t count);
Outcome measure_audit_texts_codec(std::uint64_t count);
Outcome measure_image_write(std::uint64_t count);
Outcome measure_image_read(std::uint64_t count);
Outcome measure_state_write(std::uint64_t count);
Outcome measure_state_read(std::uint64_t count);
Outcome measure_cloud_pieces(std::uint64_t count);

}  // namespace sinew::bench
