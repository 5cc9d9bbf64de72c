// One part of the data path, measured inside one process beside its floor.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::bench {

/// What came out. Times are nanoseconds of one operation, one value for each batch of operations.
struct Outcome {
  std::vector<double> sinew;
  std::vector<double> floor;            ///< Of the batch right beside that of the same number; empty where a part has no floor.
  std::map<std::string, double> extra;  ///< What only this part measures, by the name of its key in the row.
};

struct Part {
  std::string_view name;
  std::string_view help;                    ///< with what `count` counts, where that is not batches
  Outcome (*measure)(std::uint64_t count);  ///< throws std::exception when the part cannot be measured
};

/// The parts of this program.
std::span<const Part> parts();

}  // namespace sinew::bench
