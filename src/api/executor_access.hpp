// What rclcpp's executors need of ours.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sinew/executor.hpp"

namespace sinew::detail {

struct ExecutorAccess {
  /// Executor::dispatch(), but no callback runs any more once `is_over`, which is asked between two of them and must not throw, says so. With a time, only what was there then (os::now_ns) is run,
  /// and once.
  static void dispatch(Executor& executor, const std::function<bool()>& is_over, std::optional<std::int64_t> only_of = {});
};

}  // namespace sinew::detail
