// The percentiles of all rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace sinew::bench {

/// The smallest sample that at least `fraction` (0 to 1) of all samples do not exceed: nearest rank, always a sample that really occurred.
/// `sorted` is in ascending order and not empty.
template <class Number>
Number percentile(const std::vector<Number>& sorted, double fraction) {
  const auto rank = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

}  // namespace sinew::bench
