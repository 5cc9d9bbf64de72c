#include "sinew/rclcpp/executors.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "api/executor_access.hpp"
#include "os/clock.hpp"
#include "os/event.hpp"
#include "rclcpp/context.hpp"
#include "rclcpp/spun.hpp"
#include "session/fork.hpp"
#include "sinew/executor.hpp"
#include "sinew/rclcpp/context.hpp"

namespace sinew::rclcpp {
namespace detail {

Claim::Claim(std::shared_ptr<Spun> spun) : spun_(std::move(spun)) {
  const std::lock_guard lock(spun_->mutex_);
  if (std::exchange(spun_->is_claimed_, true)) {
    throw Error(ErrorKind::invalid_argument, "node '" + spun_->node_ +
                                                 "' is spun by another executor already: remove_node() it there, or let that spin end, "
                                                 "first; a callback does not spin its own node");
  }
}

Claim::~Claim() {
  if (!spun_) return;
  const std::lock_guard lock(spun_->mutex_);
  spun_->is_claimed_ = false;
}

std::optional<std::weak_ptr<Node>> Claim::owner_of(Node& node) const {
  const std::lock_guard lock(spun_->mutex_);
  return spun_->is_gone_ ? std::nullopt : std::optional(node.weak_from_this());
}

int Claim::fd() const {
  if (spun_->fd_ < 0) spun_->fd_ = spun_->callbacks_->fd();
  return spun_->fd_;
}

}  // namespace detail

namespace executors {
namespace {

constexpr std::uint64_t over_key = 0, cancel_key = 1, first_key = 2;
constexpr std::int64_t look_again = 5'000'000;  // at a future, of which nobody tells that it is ready

/// Whether a node was removed: looked at while its callbacks run, of which one may do that.
class Removed {
 public:
  void set() noexcept { is_set_.store(true, std::memory_order_relaxed); }
  bool is_set() const noexcept { return is_set_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> is_set_{false};  // relaxed: told, and nothing else with it
};

/// A node, and its callbacks, which live longer.
struct Member {
  std::uint64_t key = 0;
  std::weak_ptr<Node> node;
  detail::Claim claim;
  std::shared_ptr<Removed> removed = std::make_shared<Removed>();
};

/// What became of a wait.
struct Round {
  bool had_news = false;  // else its time is over
  bool is_cancelled = false;
};

/// Also in a child that was forked in a callback, which has nothing to wait for, and shares with its parent what that waits for.
bool is_over() noexcept {
  return !detail::is_on() || session::forked();
}

bool is_past(const std::optional<std::int64_t>& deadline) noexcept {
  return deadline && os::now_ns() >= *deadline;
}

}  // namespace

struct SingleThreadedExecutor::Impl {
  Impl() {
    poller.add(detail::Borrowed(detail::over()).get(), over_key);
    poller.add(cancelled, cancel_key);
  }

  /// As long as it lives no other thread spins here, and no callback does.
  class Running {
   public:
    explicit Running(Impl& self) : self_(self) {
      const std::lock_guard lock(self_.mutex);
      if (std::exchange(self_.is_spinning, true))
        throw Error(ErrorKind::invalid_argument, "this executor spins already: spin it on one thread, and not in its callbacks");
    }
    ~Running() {
      const std::lock_guard lock(self_.mutex);
      self_.is_spinning = false;
    }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    Impl& self_;
  };

  bool is_to_end() const noexcept {
    return is_cancelled.load(std::memory_order_acquire) || is_over();  // sync: CANCELLED (with cancel)
  }
  /// Null: it is gone, or goes.
  static std::shared_ptr<Node> keep_locked(Member& member) {
    std::shared_ptr<Node> node = member.node.lock();
    if (!node) return node;
    const auto owner = member.claim.owner_of(*node);
    if (!owner) return nullptr;
    const std::weak_ptr<Node> nobody;
    // It may have been added before anybody owned it, by a pointer that lives until the last of its destructors: what its callbacks use is gone by then.
    if (owner->owner_before(nobody) || nobody.owner_before(*owner)) {
      member.node = *owner;
      node = owner->lock();
    }
    return node;
  }
  /// Runs what is due of the node, with `ends` saying when it is to stop.
  void dispatch(std::uint64_t key, const std::function<bool()>& ends, std::optional<std::int64_t> only_of = {}) {
    std::shared_ptr<Node> node;  // its callbacks are part of it, so it stays meanwhile
    std::shared_ptr<Executor> callbacks;
    std::shared_ptr<const Removed> removed;
    {
      const std::lock_guard lock(mutex);
      const auto found = std::ranges::find(members, key, &Member::key);
      if (found == members.end()) return;
      node = keep_locked(*found);
      callbacks = found->claim.shared_callbacks();
      removed = found->removed;
    }
    if (!node) return remove(key);
    // What is left of the turn of one that is removed meanwhile is for who spins it next.
    const std::function<bool()> stops = [&] { return removed->is_set() || ends(); };
    const detail::Ends here(stops);
    sinew::detail::ExecutorAccess::dispatch(*callbacks, stops, only_of);
  }
  /// Waits, and runs what is due of each node, until cancel(), shutdown(), or `is_enough` says so, which may not throw. `once`: only what is due when the wait is over.
  Round run_once(std::optional<std::int64_t> deadline, const std::function<bool()>& is_enough, bool once = false) {
    if (session::forked()) return {};
    std::array<os::Poller::Event, 16> events;
    const std::size_t count = poller.wait(events, deadline);
    const auto only_of = once ? std::optional(os::now_ns()) : std::nullopt;
    const std::function<bool()> ends = [&] { return is_to_end() || is_enough(); };
    for (std::size_t i = 0; i < count && !ends(); ++i) {
      if (events[i].key == cancel_key) os::drain(cancelled.get());
      dispatch(events[i].key, ends, only_of);
    }
    // Else what rings is a cancel() that has ended a spin already.
    return {count > 0, take_cancelled()};
  }
  bool take_cancelled() noexcept { return is_cancelled.exchange(false, std::memory_order_acq_rel); }  // sync: CANCELLED (with cancel)
  /// A cancel() that came before is for what comes after.
  template <class Run>
  void keep_cancel(Run run) {
    const bool was_cancelled = take_cancelled();
    run();
    if (was_cancelled) {
      cancel();
    } else {
      take_cancelled();
    }
  }
  void cancel() {
    is_cancelled.store(true, std::memory_order_release);  // sync: CANCELLED (with is_to_end, take_cancelled)
    os::ring(cancelled.get());
  }
  std::vector<std::uint64_t> keys() {
    const std::lock_guard lock(mutex);
    std::vector<std::uint64_t> all;
    all.reserve(members.size());
    for (const Member& each : members) all.push_back(each.key);
    return all;
  }
  void remove(std::uint64_t key) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find(members, key, &Member::key);
    if (found == members.end()) return;
    poller.remove(detail::Borrowed(found->claim.fd()).get());
    found->removed->set();
    members.erase(found);
  }

  os::Poller poller;
  const os::Fd cancelled = os::create_eventfd();
  // pair CANCELLED: who is rung finds it set; and whoever ends a spin has his own writes seen behind it.
  std::atomic<bool> is_cancelled{false};
  std::mutex mutex;
  std::vector<Member> members;         // guarded by mutex
  bool is_spinning = false;            // likewise
  std::uint64_t next_key = first_key;  // guarded by mutex
};

SingleThreadedExecutor::SingleThreadedExecutor() : impl_(std::make_unique<Impl>()) {}

SingleThreadedExecutor::~SingleThreadedExecutor() = default;

void SingleThreadedExecutor::add_node(const std::shared_ptr<Node>& node, bool) {
  const auto& spun = detail::spun(*node);
  {
    const std::lock_guard lock(impl_->mutex);
    if (std::ranges::any_of(impl_->members, [&](const Member& each) { return each.claim.is_of(spun); })) return;
  }
  detail::Claim claim(spun);
  const int fd = claim.fd();
  const std::lock_guard lock(impl_->mutex);
  impl_->members.push_back({.key = impl_->next_key, .node = node, .claim = std::move(claim)});
  try {
    impl_->poller.add(detail::Borrowed(fd).get(), impl_->next_key++);
  } catch (...) {
    impl_->members.pop_back();
    throw;
  }
}

void SingleThreadedExecutor::remove_node(const std::shared_ptr<Node>& node, bool) {
  const auto& spun = detail::spun(*node);
  const auto key = [&]() -> std::optional<std::uint64_t> {
    const std::lock_guard lock(impl_->mutex);
    const auto found = std::ranges::find_if(impl_->members, [&](const Member& each) { return each.claim.is_of(spun); });
    return found == impl_->members.end() ? std::nullopt : std::optional(found->key);
  }();
  if (key) impl_->remove(*key);
}

bool SingleThreadedExecutor::is_spinning() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->is_spinning;
}

void SingleThreadedExecutor::spin() {
  const Impl::Running running(*impl_);
  const auto never = [] { return false; };
  while (!is_over() && !impl_->run_once(std::nullopt, never).is_cancelled) {
  }
  (void)ok();  // where that is why it ends, its thread knows it
}

void SingleThreadedExecutor::spin_some(std::chrono::nanoseconds at_most) {
  const Impl::Running running(*impl_);
  const std::int64_t begin = os::now_ns();
  const auto deadline = at_most.count() > 0 ? detail::deadline_of(at_most.count()) : std::nullopt;
  const std::function<bool()> ends = [&] { return impl_->is_to_end() || is_past(deadline); };
  impl_->keep_cancel([&] {
    for (const std::uint64_t key : impl_->keys()) {
      if (ends()) return;
      impl_->dispatch(key, ends, begin);
    }
  });
}

void SingleThreadedExecutor::spin_once(std::chrono::nanoseconds timeout) {
  const Impl::Running running(*impl_);
  impl_->run_once(detail::deadline_of(timeout.count()), [] { return false; }, true);
}

void SingleThreadedExecutor::spin_all(std::chrono::nanoseconds at_most) {
  const Impl::Running running(*impl_);
  const auto deadline = at_most.count() > 0 ? detail::deadline_of(at_most.count()) : std::nullopt;
  const auto is_late = [&] { return is_past(deadline); };
  impl_->keep_cancel([&] {
    while (!is_over() && !is_late()) {
      const Round done = impl_->run_once(0, is_late);
      if (!done.had_news || done.is_cancelled) return;
    }
  });
}

FutureReturnCode SingleThreadedExecutor::spin_until(const std::function<bool()>& is_ready, std::chrono::nanoseconds timeout) {
  const Impl::Running running(*impl_);
  const auto deadline = detail::deadline_of(timeout.count());
  const auto interrupted = [] {
    (void)ok();  // likewise
    return FutureReturnCode::INTERRUPTED;
  };
  for (bool has_run = false;; has_run = true) {
    if (is_ready()) return FutureReturnCode::SUCCESS;
    if (is_over()) return interrupted();
    if (has_run && is_past(deadline)) return FutureReturnCode::TIMEOUT;
    const auto is_enough = [&] {
      if (has_run && is_past(deadline)) return true;  // who gives no time has one round all the same
      try {
        return is_ready();
      } catch (...) {  // as a callback has taken what was in the future: it is asked again above, where the caller hears of it
        return true;
      }
    };
    const std::int64_t soon = os::later(os::now_ns(), look_again);
    if (impl_->run_once(std::min(soon, deadline.value_or(soon)), is_enough).is_cancelled)
      return is_ready() ? FutureReturnCode::SUCCESS : interrupted();
  }
}

void SingleThreadedExecutor::cancel() {
  impl_->cancel();
}

}  // namespace executors

// One node runs on its own executor, which wakes sooner than one that waits for several.
void spin(const std::shared_ptr<Node>& node) {
  // It may have been asked for before anybody owned it, by a pointer that keeps nothing.
  const std::shared_ptr<const Node> owned = node->weak_from_this().lock(), kept = owned ? owned : node;
  {
    const detail::Claim claim(detail::spun(*node));
    if (const detail::Spinning spinning(claim.callbacks()); spinning) {
      while (spinning.goes_on()) claim.callbacks().spin();
      return;
    }
  }
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin();
}

void spin_some(const std::shared_ptr<Node>& node) {
  const std::shared_ptr<const Node> kept = node;
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_some();
}

void spin_all(const std::shared_ptr<Node>& node, std::chrono::nanoseconds at_most) {
  const std::shared_ptr<const Node> kept = node;
  executors::SingleThreadedExecutor executor;
  executor.add_node(node);
  executor.spin_all(at_most);
}

}  // namespace sinew::rclcpp
