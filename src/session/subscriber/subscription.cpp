#include "session/subscriber/subscription.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/point.hpp"
#include "os/clock.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/fork.hpp"

namespace sinew::session {
namespace {

constexpr int frames_per_turn = 32;
constexpr std::chrono::milliseconds pause{1};  // while there is no memory
// A subscriber that is only asked by take(), and seldom, must not collect the leftovers of a publisher that restarts again and again.
constexpr std::ptrdiff_t departed_kept = 16;
// For publishers that were there before, to be introduced and to tell what they have kept.
constexpr std::chrono::nanoseconds patience = std::chrono::milliseconds(500);

}  // namespace

Subscription::Subscription(std::uint64_t id, const std::string& topic, const std::string& node, const Options& options,
                           std::shared_ptr<ExecutionThread> thread, Receiver* receiver)
    : id_(id),
      options_(options),
      incompatible_(topic, node, options.quality),
      status_(*this, options.quality),
      thread_(std::move(thread)),
      silent_(thread_ ? nullptr : std::make_shared<Doorbell>()),
      receiver_(receiver),
      catching_up_(options.quality.durability == wire::Durability::transient_local),
      patient_until_(os::now_ns() + patience.count()) {}

Subscription::~Subscription() = default;

Doorbell& Subscription::doorbell() noexcept {
  return thread_ ? thread_->doorbell() : *silent_;
}

std::shared_ptr<Doorbell> Subscription::bell() {
  return thread_ ? std::shared_ptr<Doorbell>(thread_, &thread_->doorbell()) : silent_;
}

std::vector<std::shared_ptr<LocalQueue>> Subscription::add(std::shared_ptr<LocalQueue> queue) {
  std::vector<std::shared_ptr<LocalQueue>> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) {
      queue->close();
      return dropped;
    }
    if (!thread_) {
      std::ptrdiff_t too_many = 0;
      const auto has_gone = [](const auto& each) { return !each->has_publisher(); };
      if (options_.endpoint == 0) too_many = std::ranges::count_if(queues_, has_gone) - departed_kept;
      dropped.reserve(queues_.size());  // nothing may throw while it erases
      std::erase_if(queues_, [&](const auto& each) {
        if (!each->finished() && !(has_gone(each) && too_many-- > 0)) return false;
        count_locked(*each);
        before_.missed += each->waiting();
        dropped.push_back(each);
        return true;
      });
    }
    queues_.push_back(std::move(queue));
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  if (!dropped.empty()) status_.raise();  // what they had for us is lost
  wake();
  status_.publishers_changed();
  return dropped;
}

std::shared_ptr<SubscriberEnd> Subscription::end_of(const wire::ConnectSubscriber& introduction) const {
  std::vector<std::shared_ptr<SubscriberEnd>> ends;  // which may tell us that they have ended
  {
    const std::lock_guard lock(mutex_);
    ends = ends_;
  }
  const auto found = std::ranges::find_if(ends, [&](const auto& end) { return end->is_with(introduction); });
  return found == ends.end() ? nullptr : *found;
}

bool Subscription::is_served_by(std::uint64_t endpoint) const {
  if (options_.endpoint == 0 || endpoint == 0) return false;
  std::vector<std::shared_ptr<SubscriberEnd>> ends;  // which may tell us that they have ended
  {
    const std::lock_guard lock(mutex_);
    const auto has_it = [&](const auto& queue) { return queue->options().publisher_endpoint == endpoint && queue->has_publisher(); };
    if (std::ranges::any_of(queues_, has_it)) return true;
    ends = ends_;
  }
  return std::ranges::any_of(ends, [&](const auto& end) { return end->endpoint() == endpoint && end->stands(); });
}

void Subscription::add(std::shared_ptr<SubscriberEnd> end) {
  std::vector<std::shared_ptr<SubscriberEnd>> dropped;  // destroyed without the lock
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return;
    if (!thread_) {
      std::ptrdiff_t too_many = 0;
      if (options_.endpoint == 0) too_many = std::ranges::count_if(ends_, [](const auto& each) { return each->hung_up(); }) - departed_kept;
      dropped.reserve(ends_.size());  // nothing may throw while it erases
      std::erase_if(ends_, [&](const auto& each) {
        if (!each->finished() && !(each->hung_up() && too_many-- > 0)) return false;
        count_locked(*each);
        before_.missed += each->untaken();
        dropped.push_back(each);
        return true;
      });
    }
    ends_.push_back(std::move(end));
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  if (!dropped.empty()) status_.raise();  // what they had for us is lost
  wake();
}

void Subscription::count_locked(const SubscriberEnd& gone) {
  before_.missed += gone.missed();
  before_.withdrawn += gone.withdrawn();
  before_.skipped += gone.skipped();
  before_.expired += gone.expired();
  before_.over_quota += gone.over_quota();
  note_newest_locked(gone.newest());
}

void Subscription::count_locked(const LocalQueue& gone) {
  before_.missed += gone.missed();
  before_.skipped += gone.skipped();
  before_.expired += gone.expired();
  note_newest_locked(gone.newest());
}

void Subscription::note_newest_locked(std::int64_t time) {
  if (time <= os::now_ns()) newest_of_departed_ = std::max(newest_of_departed_, time);  // whatever a peer claims
}

void Subscription::let_go_of_chunks(SubscriberEnd& end) {
  std::shared_ptr<const ChunkTable> before;  // unmapped here, for that takes long, and without the lock
  const std::unique_lock taking(taking_, std::try_to_lock);
  if (taking) {
    before = end.refresh_chunks();
  } else {
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
}

void Subscription::wake() noexcept {
  if (thread_) {
    thread_->wake();
  } else {
    silent_->ring();
  }
}

bool Subscription::has_news() const noexcept {
  if (closed_.load(std::memory_order_relaxed)) return false;
  if (version_.load(std::memory_order_acquire) != seen_version_) return true;  // sync: VERSION (with add)
  if (catching_up_.load(std::memory_order_relaxed) && next_from_histories().waits) return false;
  // What is finished is news as well: it is to be let go.
  const auto has_news = [](const auto& source) { return source->has_news() || source->finished(); };
  return std::ranges::any_of(seen_queues_, has_news) || std::ranges::any_of(seen_, has_news);
}

void Subscription::prefetch() const noexcept {
  __builtin_prefetch(receiver_);
  for (const auto& end : seen_) end->prefetch();
}

void Subscription::refresh() {
  if (version_.load(std::memory_order_acquire) == seen_version_) return;  // sync: VERSION (with add)
  decltype(seen_) ends;  // then those of before: what ends with them, memory and messages, ends without the lock
  decltype(seen_queues_) queues;
  std::uint64_t version = 0;
  try {
    const std::lock_guard lock(mutex_);
    ends = ends_;
    queues = queues_;
    version = version_.load(std::memory_order_relaxed);  // relaxed: under mutex_
  } catch (const std::bad_alloc&) {
    return os::sleep_for(pause);  // with those of before, and then again
  }
  seen_.swap(ends);
  seen_queues_.swap(queues);
  seen_version_ = version;
}

std::optional<bool> Subscription::offer_next(Receiver& receiver) {
  refresh();
  // A source whose messages have gone, or grown too old, comes back empty once.
  for (std::size_t attempts = seen() + 1; catching_up_.load(std::memory_order_relaxed); --attempts) {
    const Next next = next_from_histories();
    if (next.waits || attempts == 0) return std::nullopt;
    if (!next.source) {
      catching_up_.store(false, std::memory_order_relaxed);
    } else if (const auto said = offer_of(*next.source, receiver)) {
      return said;
    }
  }
  for (std::size_t looked = 0; looked < seen(); ++looked) {
    if (turn_ >= seen()) turn_ = 0;
    const auto said = offer_of(turn_++, receiver);
    if (said) return said;
  }
  let_go_of_finished();
  return std::nullopt;
}

std::optional<bool> Subscription::offer_of(std::size_t source, Receiver& receiver) {
  if (source < seen_queues_.size()) {
    auto arrival = seen_queues_[source]->take();  // stays among those that are seen, also when the receiver closes this subscription
    return arrival ? std::optional(receiver.accept(*arrival)) : std::nullopt;
  }
  const auto arrival = seen_[source - seen_queues_.size()]->take(options_.quality.depth);
  return arrival ? std::optional(receiver.accept(*arrival)) : std::nullopt;
}

// What several publishers have kept is handed out in the order of its publication, so it takes all of them to know what comes first.
Subscription::Next Subscription::next_from_histories() const noexcept {
  const bool patient = os::now_ns() < patient_until_;
  Next next;
  std::int64_t first = 0;
  std::uint32_t told = 0;
  const auto look = [&](std::size_t source, const auto& at) {
    const auto time = at.next_from_history();
    if (!time) return;
    if (!at.has_news()) {
      next.waits |= patient;  // for its memory to be mapped here
    } else if (!next.source || *time < first) {
      next.source = source;
      first = *time;
    }
  };
  for (std::size_t i = 0; i < seen_queues_.size(); ++i) look(i, *seen_queues_[i]);
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    look(seen_queues_.size() + i, *seen_[i]);
    told += seen_[i]->keeps_history() && seen_[i]->has_told_history() ? 1U : 0U;
  }
  next.waits |= patient && told < histories_expected_.load(std::memory_order_relaxed);
  return next;
}

// Publishers that are gone. Their mappings end here, or with the last handle.
void Subscription::let_go_of_finished() {
  const auto finished = [](const auto& source) { return source->finished(); };
  if (std::none_of(seen_.begin(), seen_.end(), finished) && std::none_of(seen_queues_.begin(), seen_queues_.end(), finished)) return;
  {
    const std::lock_guard lock(mutex_);
    const auto counted = [&](const auto& source) {
      if (!source->finished()) return false;
      count_locked(*source);
      return true;
    };
    std::erase_if(ends_, counted);
    std::erase_if(queues_, counted);
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  refresh();
}

bool Subscription::run_some(const std::atomic<bool>& end) {
  const std::lock_guard lock(taking_);
  for (int i = 0; i < frames_per_turn; ++i) {
    // relaxed: the loop looks for itself
    if (closed_.load(std::memory_order_relaxed) || end.load(std::memory_order_relaxed) || forked()) return false;
    running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    const bool any = offer_next(*receiver_).has_value();
    running_.store({}, std::memory_order_relaxed);
    if (!any) return false;
  }
  return true;
}

bool Subscription::take(Receiver& receiver) {
  const std::lock_guard lock(taking_);
  while (!closed_.load(std::memory_order_relaxed)) {
    const auto accepted = offer_next(receiver);
    if (!accepted) return false;
    if (*accepted) return true;
  }
  return false;
}

void Subscription::wait(std::int64_t until) {
  const std::lock_guard lock(taking_);
  refresh();
  SINEW_POINT("subscription.falls_asleep");
  silent_->sleeper().mark_asleep();
  if (!closed_.load(std::memory_order_relaxed) && !has_news()) {
    if (until == Timer::never) {
      os::await_doorbell(silent_->eventfd().get());  // one system call less
    } else {
      os::await_doorbell(silent_->eventfd().get(), until);
    }
  }
  silent_->sleeper().mark_awake();
}

void Subscription::incompatible(const wire::Incompatible& peer) {
  incompatible_.add(peer);
  status_.raise();
}

std::vector<Sighting> Subscription::sightings() const {
  std::vector<Sighting> all;
  const std::lock_guard lock(mutex_);
  for (const auto& end : ends_) {
    if (auto sighting = end->sighting()) all.push_back(std::move(*sighting));
  }
  for (const auto& queue : queues_) all.push_back(queue->sighting());
  return all;
}

void Subscription::await_callback() {
  if (running_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  const std::lock_guard lock(taking_);
}

std::int64_t Subscription::newest_of_departed() const {
  const std::lock_guard lock(mutex_);
  return newest_of_departed_;
}

void Subscription::close() {
  status_.stop();
  std::vector<std::shared_ptr<SubscriberEnd>> ends;
  std::vector<std::shared_ptr<LocalQueue>> queues;
  if (closed_.exchange(true, std::memory_order_relaxed)) return await_callback();
  {
    const std::lock_guard lock(mutex_);
    ends = std::move(ends_);
    ends_.clear();
    queues = std::move(queues_);
    queues_.clear();
    for (const auto& end : ends) count_locked(*end);
    for (const auto& queue : queues) count_locked(*queue);
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  if (!thread_) silent_->ring();  // who is in wait() holds taking_
  // Publishers keep frames for the last callback until it has returned. Our own callback, when this is called from it, holds taking_.
  std::unique_lock<std::mutex> taking(taking_, std::defer_lock);
  if (running_.load(std::memory_order_relaxed) != std::this_thread::get_id()) taking.lock();
  for (const auto& end : ends) end->unsubscribe();
  if (taking && !thread_) {  // else the thread's, which looks at them without the lock
    seen_.clear();
    seen_queues_.clear();
  }
  if (taking) taking.unlock();  // users' deleters run with what is left in the queues, from which nobody takes any more
  for (const auto& queue : queues) queue->close();
}

void Subscription::for_each_end(const std::function<void(const SubscriberEnd&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& end : ends_) {
    if (end->is_served()) visit(*end);
  }
}

std::vector<Subscription::Source> Subscription::sources() const {
  std::vector<Source> sources;
  const std::lock_guard lock(mutex_);
  sources.reserve(ends_.size() + queues_.size());
  for (const auto& end : ends_) sources.push_back({end->endpoint(), end->is_served()});
  for (const auto& queue : queues_) sources.push_back({queue->options().publisher_endpoint, queue->has_publisher()});
  return sources;
}

void Subscription::let_go_of_departed(const std::function<bool(std::uint64_t endpoint)>& may_go) {
  std::vector<std::shared_ptr<SubscriberEnd>> gone;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  for (const auto& end : ends_) {
    if (end->hung_up() && may_go(end->endpoint())) gone.push_back(end);
  }
  if (gone.empty()) return;
  for (const auto& end : gone) {
    count_locked(*end);
    before_.missed += end->untaken();
    std::erase(ends_, end);
  }
  version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
}

bool Subscription::cancel_call(std::uint64_t endpoint, std::uint64_t call) const noexcept {
  bool is_told = true;
  const std::lock_guard lock(mutex_);
  for (const auto& end : ends_) {
    if (end->endpoint() == endpoint) is_told &= end->cancel_call(call);
  }
  for (const auto& queue : queues_) {
    if (queue->options().publisher_endpoint != endpoint) continue;
    if (const auto watcher = queue->options().watcher.lock()) watcher->call_cancelled(options_.endpoint, call);
  }
  return is_told;
}

void Subscription::for_each_queue(const std::function<void(const LocalQueue&)>& visit) const {
  const std::lock_guard lock(mutex_);
  for (const auto& queue : queues_) {
    if (queue->has_publisher()) visit(*queue);
  }
}

Subscription::Counters Subscription::counters() const {
  const SubscriberStatus::Counters status = status_.counters();  // which takes mutex_
  const std::lock_guard lock(mutex_);
  Counters counters = before_;
  counters.incompatible = incompatible_.count();
  counters.deadlines_missed = status.deadlines_missed;
  counters.alive = status.alive;
  counters.not_alive = status.not_alive;
  for (const auto& end : ends_) {
    counters.missed += end->missed();
    counters.withdrawn += end->withdrawn();
    counters.skipped += end->skipped();
    counters.expired += end->expired();
    counters.over_quota += end->over_quota();
    counters.publishers += end->is_served() ? 1U : 0U;
    counters.held += end->held();
  }
  for (const auto& queue : queues_) {
    counters.missed += queue->missed();
    counters.skipped += queue->skipped();
    counters.expired += queue->expired();
    counters.publishers += queue->has_publisher() ? 1U : 0U;
  }
  return counters;
}

}  // namespace sinew::session
