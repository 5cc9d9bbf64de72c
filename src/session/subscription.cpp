#include "session/subscription.hpp"

#include <algorithm>

#include "session/execution_thread.hpp"

namespace sinew::session {
namespace {

constexpr int frames_per_turn = 32;
// A subscriber that is only asked by take(), and seldom, must not collect the leftovers of a publisher that restarts again and again.
constexpr std::ptrdiff_t departed_kept = 16;

}  // namespace

Subscription::Subscription(std::uint64_t id, const std::string& topic, const std::string& node, const Options& options,
                           std::shared_ptr<ExecutionThread> thread, Receiver* receiver)
    : id_(id),
      options_(options),
      incompatible_(topic, node, options.quality),
      thread_(std::move(thread)),
      silent_(thread_ ? nullptr : std::make_unique<Doorbell>()),
      receiver_(receiver) {}

Subscription::~Subscription() = default;

Doorbell& Subscription::doorbell() noexcept {
  return thread_ ? thread_->doorbell() : *silent_;
}

void Subscription::add(std::shared_ptr<SubscriberEnd> end) {
  std::vector<std::shared_ptr<SubscriberEnd>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load()) return;
    if (!thread_) {
      std::ptrdiff_t too_many = std::count_if(ends_.begin(), ends_.end(), [](const auto& each) { return each->hung_up(); }) - departed_kept;
      std::erase_if(ends_, [&](const auto& each) {
        if (!each->finished() && !(each->hung_up() && too_many-- > 0)) return false;
        count_locked(*each);
        before_.missed += each->untaken();
        dropped.push_back(each);
        return true;
      });
    }
    ends_.push_back(std::move(end));
    version_.fetch_add(1, std::memory_order_release);
  }
  wake();
}

void Subscription::count_locked(const SubscriberEnd& gone) {
  before_.missed += gone.missed();
  before_.withdrawn += gone.withdrawn();
  before_.skipped += gone.skipped();
}

void Subscription::wake() noexcept {
  if (thread_) thread_->wake();
}

bool Subscription::has_news() const noexcept {
  if (closed_.load(std::memory_order_relaxed)) return false;
  if (version_.load(std::memory_order_acquire) != seen_version_) return true;
  return std::any_of(seen_.begin(), seen_.end(), [](const auto& end) { return end->has_news(); });
}

void Subscription::prefetch() const noexcept {
  __builtin_prefetch(receiver_);
  for (const auto& end : seen_) end->prefetch();
}

void Subscription::refresh() {
  if (version_.load(std::memory_order_acquire) == seen_version_) return;
  const std::lock_guard lock(mutex_);
  seen_ = ends_;
  seen_version_ = version_.load(std::memory_order_relaxed);
}

std::optional<Arrival> Subscription::take_next() {
  refresh();
  for (std::size_t looked = 0; looked < seen_.size(); ++looked) {
    const std::size_t index = (turn_ + looked) % seen_.size();
    if (auto arrival = seen_[index]->take(options_.quality.depth)) {
      turn_ = index + 1;
      return arrival;
    }
  }
  // Nothing to take: let go of publishers that are gone. Their mappings end here, or with the last handle.
  if (std::none_of(seen_.begin(), seen_.end(), [](const auto& end) { return end->finished(); })) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(ends_, [&](const auto& end) {
      if (!end->finished()) return false;
      count_locked(*end);
      return true;
    });
    version_.fetch_add(1, std::memory_order_release);
  }
  refresh();
  return std::nullopt;
}

bool Subscription::run_some() {
  const std::lock_guard lock(taking_);
  for (int i = 0; i < frames_per_turn; ++i) {
    if (closed_.load(std::memory_order_relaxed)) return false;
    auto arrival = take_next();
    if (!arrival) return false;
    running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    receiver_->on_arrival(*arrival);
    running_.store({}, std::memory_order_relaxed);
  }
  return true;
}

bool Subscription::take(const std::function<bool(const Arrival&)>& admit) {
  const std::lock_guard lock(taking_);
  while (!closed_.load(std::memory_order_relaxed)) {
    const auto arrival = take_next();
    if (!arrival) return false;
    if (admit(*arrival)) return true;
  }
  return false;
}

void Subscription::close() {
  std::vector<std::shared_ptr<SubscriberEnd>> ends;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.exchange(true)) return;
    ends = std::move(ends_);
    ends_.clear();
    for (const auto& end : ends) count_locked(*end);
    version_.fetch_add(1, std::memory_order_release);
  }
  // Publishers keep frames for the last callback until it has returned. Our own callback, when this is called from it, holds taking_.
  std::unique_lock<std::mutex> taking(taking_, std::defer_lock);
  if (running_.load(std::memory_order_relaxed) != std::this_thread::get_id()) taking.lock();
  for (const auto& end : ends) end->unsubscribe();
  if (taking && !thread_) seen_.clear();  // else the thread's, which looks at it without the lock
}

void Subscription::for_each_publisher(const std::function<void(const SubscriberEnd&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& end : ends_) {
    if (end->is_served()) visit(*end);
  }
}

Subscription::Counters Subscription::counters() const {
  const std::lock_guard lock(mutex_);
  Counters counters = before_;
  counters.incompatible = incompatible_.count();
  for (const auto& end : ends_) {
    counters.missed += end->missed();
    counters.withdrawn += end->withdrawn();
    counters.skipped += end->skipped();
    counters.publishers += end->is_served() ? 1U : 0U;
    counters.held += end->held();
  }
  return counters;
}

}  // namespace sinew::session
