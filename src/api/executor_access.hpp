// What rclcpp's executors need of ours.
#pragma once

#include <functional>

#include "sinew/executor.hpp"

namespace sinew::detail {

struct ExecutorAccess {
  /// Executor::dispatch(), but no callback runs any more once `is_over`, which is asked between two of them and must not throw, says so.
  static void dispatch(Executor& executor, const std::function<bool()>& is_over);
};

}  // namespace sinew::detail
