// Timers, as rclcpp has them.
#pragma once

#include <memory>
#include <mutex>

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

  // For Node::create_wall_timer, whose timer may call back, elsewhere, before it is known here.
  template <class Make>
  void set(Make make) {
    const std::lock_guard lock(setting_);
    timer_ = make();
  }
  void await_set() { const std::lock_guard lock(setting_); }

 private:
  std::mutex setting_;
  std::shared_ptr<sinew::Timer> timer_;
};

}  // namespace sinew::rclcpp
