#include "sinew/rclcpp/executors.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "rclcpp/context.hpp"
#include "sinew/executor.hpp"
#include "sinew/rclcpp/context.hpp"

namespace sinew::rclcpp {
namespace executors {
namespace {

constexpr std::uint64_t over_key = 0, cancel_key = 1, first_key = 2;
constexpr int most_rounds = 128;  // of spin_some(): whoever always has something to do does not keep it

/// A node, and the executor that has its callbacks, which lives longer.
struct Member {
  std::uint64_t key = 0;
  std::weak_ptr<Node> node;
  std::shared_ptr<Executor> callbacks;
  int fd = -1;  // of `callbacks`
};

/// What became of a wait.
struct Round {
  bool had_news = false;  // else the deadline is over
  bool is_cancelled = false;
};

}  // namespace

struct SingleThreadedExecutor::Impl {
  Impl() {
    poller.add(detail::Borrowed(detail::over()).get(), over_key);
    poller.add(cancelled, cancel_key);
  }

  std::optional<Member> member(std::uint64_t key) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find(members, key, &Member::key);
    return found == members.end() ? std::nullopt : std::optional(*found);
  }

  /// Waits, and runs what is due of each node.
  Round run_once(std::optional<std::int64_t> deadline, const std::function<bool()>& is_over) {
    std::array<os::Poller::Event, 16> events;
    const std::size_t count = poller.wait(events, deadline);
    for (std::size_t i = 0; i < count; ++i) {
      if (is_over() || !ok()) break;
      if (events[i].key == cancel_key) {
        os::drain(cancelled.get());
        return {true, true};
      }
      const auto due = member(events[i].key);
      if (!due) continue;
      // Its callbacks are part of it, so it stays meanwhile.
      if (const auto node = due->node.lock()) {
        due->callbacks->dispatch();
      } else {
        remove(due->key);
      }
    }
    return {count > 0, false};
  }
  void remove(std::uint64_t key) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find(members, key, &Member::key);
    if (found == members.end()) return;
    poller.remove(detail::Borrowed(found->fd).get());
    members.erase(found);
  }

  os::Poller poller;
  const os::Fd cancelled = os::create_eventfd();
  std::mutex mutex;
  std::vector<Member> members;         // guarded by mutex
  std::uint64_t next_key = first_key;  // guarded by mutex
};

SingleThreadedExecutor::SingleThreadedExecutor() : impl_(std::make_unique<Impl>()) {}

SingleThreadedExecutor::~SingleThreadedExecutor() = default;

void SingleThreadedExecutor::add_node(const std::shared_ptr<Node>& node) {
  const auto callbacks = node->sinew_node().executor();
  {
    const std::lock_guard lock(impl_->mutex);
    if (std::ranges::any_of(impl_->members, [&](const Member& each) { return each.callbacks == callbacks; })) return;
  }
  const int fd = callbacks->fd();  // may wait for who spins it
  const std::lock_guard lock(impl_->mutex);
  impl_->members.push_back({impl_->next_key, node, callbacks, fd});
  try {
    impl_->poller.add(detail::Borrowed(fd).get(), impl_->next_key++);
  } catch (...) {
    impl_->members.pop_back();
    throw;
  }
}

void SingleThreadedExecutor::remove_node(const std::shared_ptr<Node>& node) {
  const auto callbacks = node->sinew_node().executor();
  const auto key = [&]() -> std::optional<std::uint64_t> {
    const std::lock_guard lock(impl_->mutex);
    const auto found = std::ranges::find(impl_->members, callbacks, &Member::callbacks);
    return found == impl_->members.end() ? std::nullopt : std::optional(found->key);
  }();
  if (key) impl_->remove(*key);
}

void SingleThreadedExecutor::spin() {
  spin_until([] { return false; }, std::chrono::nanoseconds(-1));
}

void SingleThreadedExecutor::spin_some(std::chrono::nanoseconds at_most) {
  const auto deadline = at_most.count() > 0 ? detail::deadline_of(at_most.count()) : std::nullopt;
  const auto is_over = [&] { return deadline && os::now_ns() >= *deadline; };
  for (int round = 0; round < most_rounds && ok() && !is_over(); ++round) {
    const Round done = impl_->run_once(0, is_over);
    if (!done.had_news || done.is_cancelled) return;
  }
}

FutureReturnCode SingleThreadedExecutor::spin_until(const std::function<bool()>& is_over, std::chrono::nanoseconds timeout) {
  const auto deadline = detail::deadline_of(timeout.count());
  for (;;) {
    if (is_over()) return FutureReturnCode::SUCCESS;
    if (!ok()) return FutureReturnCode::INTERRUPTED;
    const Round done = impl_->run_once(deadline, is_over);
    if (done.is_cancelled) return FutureReturnCode::INTERRUPTED;
    if (!done.had_news && !is_over()) return FutureReturnCode::TIMEOUT;
  }
}

void SingleThreadedExecutor::cancel() {
  os::ring(impl_->cancelled.get());
}

}  // namespace executors

// One node runs on its own executor, which wakes sooner than one that waits for several.
void spin(const std::shared_ptr<Node>& node) {
  const auto callbacks = node->sinew_node().executor();
  if (const detail::Spinning spinning(*callbacks); spinning) {
    while (spinning.goes_on()) callbacks->spin();
    return;
  }
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin();
}

void spin_some(const std::shared_ptr<Node>& node) {
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_some();
}

}  // namespace sinew::rclcpp
