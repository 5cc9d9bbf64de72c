// From samples to the numbers of a row.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cell.hpp"

namespace sinew::bench {

/// "1p5s" into 1 publisher and 5 subscribers. Throws std::invalid_argument, saying what is allowed, when it is not of that form or a number is not in 1 to 64.
void set_topology(Cell& cell, const std::string& topology);
std::string topology_of(const Cell& cell);

/// The row of a measured cell. Latencies and times are null when nothing arrived. `awake`: the processor was kept from sleeping (see awake.hpp).
nlohmann::json make_row(const Cell& cell, Samples samples, bool awake);

}  // namespace sinew::bench
