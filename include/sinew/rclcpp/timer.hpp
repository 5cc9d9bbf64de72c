// Timers, as rclcpp has them.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "sinew/detail/publisher_core.hpp"
#include "sinew/error.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/timer.hpp"

namespace sinew::rclcpp {

/// Made by Node::create_wall_timer. Thread-safe. When the last pointer to it goes it waits for a running callback, unless that is in it.
class TimerBase : public Pointers<TimerBase> {
 public:
  TimerBase() = default;
  TimerBase(const TimerBase&) = delete;
  TimerBase& operator=(const TimerBase&) = delete;

  /// No callback until reset(). One that is running goes on.
  void cancel() noexcept {
    if (is_inert()) return;
    const std::lock_guard lock(mutex_);
    if (timer_) timer_->cancel();
  }
  /// The next callback comes a whole period from now, also after cancel().
  void reset() noexcept {
    if (is_inert()) return;
    const std::lock_guard lock(mutex_);
    if (timer_) timer_->reset();
  }
  bool is_canceled() const noexcept {
    if (is_inert()) return true;
    const std::lock_guard lock(mutex_);
    return !timer_ || timer_->is_cancelled();
  }

  // For Node::create_wall_timer, whose timer may call back, elsewhere, before it is known here.
  template <class Make>
  void set(Make make) {
    const std::lock_guard lock(mutex_);
    timer_ = make();
  }
  void await_set() { const std::lock_guard lock(mutex_); }
  /// What users have of it: the timer ends with the last of these, and a callback that has this object may go on in it.
  static SharedPtr handle(std::shared_ptr<TimerBase> timer) {
    struct End {
      std::shared_ptr<TimerBase> timer;
      explicit End(std::shared_ptr<TimerBase> of) : timer(std::move(of)) {}
      End(const End&) = delete;
      End& operator=(const End&) = delete;
      ~End() {
        if (is_inert()) {
          new (std::nothrow) std::shared_ptr<TimerBase>(std::move(timer));  // leaked, with the mutex
        } else {
          timer->end();
        }
      }
    };
    TimerBase* const shown = timer.get();
    return {std::make_shared<End>(std::move(timer)), shown};
  }

 private:
  /// In a forked child: whoever has the mutex may not be there.
  static bool is_inert() noexcept { return sinew::detail::PublisherCore::in_forked_child(); }
  void end() noexcept {
    std::shared_ptr<sinew::Timer> gone;  // without the lock, which the callback that it waits for may want
    const std::lock_guard lock(mutex_);
    gone.swap(timer_);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<sinew::Timer> timer_;  // guarded by mutex_; null: it has ended
};

}  // namespace sinew::rclcpp
