// Timers, as rclcpp has them.
#pragma once

#include <memory>
#include <utility>

#include "sinew/error.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/timer.hpp"

namespace sinew::rclcpp {

/// Made by Node::create_wall_timer. Thread-safe. Destroying it waits for a running callback, unless called from it.
class TimerBase : public Pointers<TimerBase> {
 public:
  TimerBase() = default;
  TimerBase(const TimerBase&) = delete;
  TimerBase& operator=(const TimerBase&) = delete;

  /// No callback until reset(). One that is running goes on.
  void cancel() noexcept { timer_->cancel(); }
  /// The next callback comes a whole period from now, also after cancel().
  void reset() noexcept { timer_->reset(); }
  bool is_canceled() const noexcept { return timer_->is_cancelled(); }

  /// For Node::create_wall_timer.
  void set(std::shared_ptr<sinew::Timer> timer) noexcept { timer_ = std::move(timer); }

 private:
  std::shared_ptr<sinew::Timer> timer_;
};

}  // namespace sinew::rclcpp
