#include "session/subscriber/subscription.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "base/log.hpp"
#include "base/point.hpp"
#include "base/random.hpp"
#include "os/clock.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/turn.hpp"
#include "session/io/trust.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t frames_per_turn = 32;
constexpr std::chrono::milliseconds pause{1};  // while there is no memory
// A subscriber that is only asked by take(), and seldom, must not collect the leftovers of a publisher that restarts again and again.
constexpr std::ptrdiff_t departed_kept = 16;
// For publishers that were there before, to be introduced and to tell what they have kept.
constexpr std::chrono::nanoseconds patience = std::chrono::milliseconds(500);

// What is lost with one that is not asked any more; at most one too many of a ring. A queue has only what is wanted.
std::uint64_t wanted_of(const LocalQueue& queue) {
  return queue.waiting();
}

std::uint64_t wanted_of(const SubscriberEnd& end) {
  return (end.waiting() + end.every() - 1) / end.every();
}

}  // namespace

Subscription::Subscription(std::uint64_t id, const std::string& topic, const std::string& node, std::shared_ptr<Counters> counters,
                           const Options& options, std::shared_ptr<ExecutionThread> thread, Receiver* receiver)
    : id_(id),
      identity_(base::random_number()),
      counters_(std::move(counters)),
      options_(options),
      incompatible_(topic, node, options.qos),
      status_(*this, options.qos),
      thread_(std::move(thread)),
      silent_(thread_ ? nullptr : std::make_shared<Doorbell>()),
      receiver_(receiver),
      catching_up_(options.qos.durability == wire::Durability::transient_local),
      patient_until_(os::now_ns() + patience.count()) {}

Subscription::~Subscription() {
  for (const auto& end : left_) end->forget_chunks();
}

Doorbell& Subscription::doorbell() noexcept {
  return thread_ ? thread_->doorbell() : *silent_;
}

std::shared_ptr<Doorbell> Subscription::bell() {
  return thread_ ? std::shared_ptr<Doorbell>(thread_, &thread_->doorbell()) : silent_;
}

template <class Connection>
std::optional<std::vector<std::shared_ptr<Connection>>> Subscription::enlist(std::shared_ptr<Connection> connection,
                                                                             std::vector<std::shared_ptr<Connection>>& among) {
  std::vector<std::shared_ptr<Connection>> dropped;
  {
    const std::lock_guard lock(mutex_);
    if (closed_.load(std::memory_order_relaxed)) return std::nullopt;
    if (!thread_) {
      std::ptrdiff_t too_many = 0;
      const auto is_left_over = [](const auto& each) { return each->hung_up() && !each->finished(); };
      if (options_.endpoint == 0) too_many = std::ranges::count_if(among, is_left_over) - departed_kept;
      dropped.reserve(among.size());  // nothing may throw while it erases
      std::erase_if(among, [&](const auto& each) {
        if (!each->finished() && !(each->hung_up() && too_many-- > 0)) return false;
        forget_locked(*each);
        dropped.push_back(each);
        return true;
      });
    }
    among.push_back(std::move(connection));
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  if (!dropped.empty()) status_.raise();  // what they had for us is lost
  wake();
  return dropped;
}

void Subscription::add(std::shared_ptr<SubscriberEnd> end) {
  enlist(std::move(end), connections_.ends);
}

std::vector<std::shared_ptr<LocalQueue>> Subscription::add(const std::shared_ptr<LocalQueue>& queue) {
  auto dropped = enlist(queue, connections_.queues);
  if (!dropped) {
    queue->close();
    return {};
  }
  status_.publishers_changed();
  return std::move(*dropped);
}

std::shared_ptr<SubscriberEnd> Subscription::end_of(const wire::ConnectSubscriber& introduction) const {
  std::vector<std::shared_ptr<SubscriberEnd>> ends;  // which may tell us that they have ended
  {
    const std::lock_guard lock(mutex_);
    ends = connections_.ends;
  }
  const auto found = std::ranges::find_if(ends, [&](const auto& end) { return end->is_with(introduction); });
  return found == ends.end() ? nullptr : *found;
}

bool Subscription::is_served_by(std::uint64_t endpoint) const {
  if (options_.endpoint == 0 || endpoint == 0) return false;
  const auto has_it = [&](const auto& source) { return source->endpoint() == endpoint && source->stands(); };
  std::vector<std::shared_ptr<SubscriberEnd>> ends;  // which may tell us that they have ended
  {
    const std::lock_guard lock(mutex_);
    if (std::ranges::any_of(connections_.queues, has_it)) return true;
    ends = connections_.ends;
  }
  return std::ranges::any_of(ends, has_it);
}

// Who has yet to serve takes no place of those who do: a publisher that is full never will, and would keep out one that has room.
bool Subscription::has_room_for_stranger(const SubscriberEnd* one) const noexcept {
  std::size_t met = 0, heard = 0;
  const std::lock_guard lock(mutex_);
  for (const auto& end : connections_.ends) {
    if (end.get() == one || !end->is_foreign() || end->hung_up()) continue;
    ++met;
    if (end->is_served()) ++heard;
  }
  return heard < most_strangers && met < most_strangers_met;
}

std::string Subscription::turn_stranger_away(const std::string& peer) {
  std::string why = too_many_strangers(peer, "heard", topic());
  if (!turns_strangers_away_.exchange(true, std::memory_order_relaxed)) base::log(base::LogLevel::warn, why);
  return why;
}

template <class Connection>
void Subscription::count_locked(Connection& gone) {
  gone.count_losses(before_);
  remember_locked(gone);
  const std::int64_t newest = gone.newest();
  if (newest <= os::now_ns()) newest_of_departed_ = std::max(newest_of_departed_, newest);  // whatever a peer claims
}

template <class Connection>
void Subscription::forget_locked(Connection& gone) {
  count_locked(gone);
  before_.missed += wanted_of(gone);
}

// Each connection of an endpoint counts anew.
bool Subscription::tells_gaps(const SubscriberEnd& end, std::uint64_t publisher) const noexcept {
  return publisher != 0 && end.endpoint() == 0 && end.identity() == publisher && end.is_cut_off();
}

void Subscription::remember_locked(SubscriberEnd& gone) noexcept {
  if (!tells_gaps(gone, gone.identity())) return;
  auto place = std::ranges::find(cut_off_, gone.identity(), &CutOff::publisher);
  if (place == cut_off_.end()) place = cut_off_.begin() + static_cast<std::ptrdiff_t>(next_cut_off_++ % cut_off_.size());
  const std::uint64_t untold = place->publisher == gone.identity() ? place->untold : 0;
  *place = {gone.identity(), gone.decided(), untold + gone.take_untold()};
}

bool Subscription::awaits_left_over(std::uint64_t publisher) noexcept {
  const std::lock_guard lock(mutex_);
  bool awaits = false;
  for (const auto& end : connections_.ends) {
    if (!tells_gaps(*end, publisher) || end->finished()) continue;
    awaits = end->is_awaited = true;
  }
  return awaits;
}

std::uint64_t Subscription::decided_of(std::uint64_t publisher) const noexcept {
  const std::lock_guard lock(mutex_);
  const auto noted = std::ranges::find(cut_off_, publisher, &CutOff::publisher);
  std::uint64_t decided = publisher == 0 || noted == cut_off_.end() ? 0 : noted->decided;
  for (const auto& end : connections_.ends) {
    if (tells_gaps(*end, publisher)) decided = std::max(decided, end->decided());
  }
  return decided;
}

std::uint64_t Subscription::take_untold_of(std::uint64_t publisher) noexcept {
  const std::lock_guard lock(mutex_);
  const auto noted = std::ranges::find(cut_off_, publisher, &CutOff::publisher);
  std::uint64_t untold = publisher == 0 || noted == cut_off_.end() ? 0 : std::exchange(noted->untold, 0);
  for (const auto& end : connections_.ends) {
    if (tells_gaps(*end, publisher)) untold += end->take_untold();
  }
  return untold;
}

void Subscription::let_go_of_chunks(SubscriberEnd& end) {
  std::shared_ptr<const ChunkTable> before;  // unmapped here, for that takes long, and without the lock
  const std::unique_lock taking(taking_, std::try_to_lock);
  if (taking) {
    before = is_closed() ? end.forget_chunks() : end.refresh_chunks();
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
  if (version_.load(std::memory_order_acquire) != seen_version_) return true;  // sync: VERSION (with enlist)
  if (catching_up_.load(std::memory_order_relaxed) && next_from_histories().waits) return false;
  // What is finished is news as well: it is to be let go.
  const auto has_news = [](const auto& source) { return source->has_news() || source->finished(); };
  return seen_.any(has_news);
}

void Subscription::prefetch() const noexcept {
  __builtin_prefetch(receiver_);
  for (const auto& end : seen_.ends) end->prefetch();
}

void Subscription::refresh() {
  if (version_.load(std::memory_order_acquire) == seen_version_) return;  // sync: VERSION (with enlist)
  Connections now;  // then those of before: what ends with them, memory and messages, ends without the lock
  std::uint64_t version = 0;
  try {
    const std::lock_guard lock(mutex_);
    now = connections_;
    version = version_.load(std::memory_order_relaxed);  // relaxed: under mutex_
  } catch (const std::bad_alloc&) {
    return os::sleep_for(pause);  // with those of before, and then again
  }
  std::swap(seen_, now);
  seen_version_ = version;
}

std::optional<bool> Subscription::offer_next(Receiver& receiver) {
  refresh();
  // A source whose messages have gone, or grown too old, comes back empty once.
  for (std::size_t attempts = seen_.size() + 1; catching_up_.load(std::memory_order_relaxed); --attempts) {
    const Next next = next_from_histories();
    if (next.waits || attempts == 0) return std::nullopt;
    if (!next.source) {
      catching_up_.store(false, std::memory_order_relaxed);
    } else if (const auto said = offer_of(*next.source, receiver)) {
      return said;
    }
  }
  for (std::size_t looked = 0; looked < seen_.size(); ++looked) {
    if (turn_ >= seen_.size()) turn_ = 0;
    const auto said = offer_of(turn_++, receiver);
    if (said) return said;
  }
  let_go_of_finished();
  return std::nullopt;
}

std::optional<bool> Subscription::offer_of(std::size_t source, Receiver& receiver) {
  if (source < seen_.queues.size()) {
    auto arrival = seen_.queues[source]->take();  // stays among those that are seen, also when the receiver closes this subscription
    return arrival ? std::optional(receiver.accept(*arrival)) : std::nullopt;
  }
  const auto arrival = seen_.ends[source - seen_.queues.size()]->take(options_.qos.depth);
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
  for (std::size_t i = 0; i < seen_.queues.size(); ++i) look(i, *seen_.queues[i]);
  for (std::size_t i = 0; i < seen_.ends.size(); ++i) {
    const SubscriberEnd& end = *seen_.ends[i];
    look(seen_.queues.size() + i, end);
    told += end.keeps_history() && end.has_told_history() ? 1U : 0U;
  }
  next.waits |= patient && told < histories_expected_.load(std::memory_order_relaxed);
  return next;
}

// Publishers that are gone. Their mappings end here, or with the last handle.
void Subscription::let_go_of_finished() {
  if (!seen_.any([](const auto& source) { return source->finished(); })) return;
  std::shared_ptr<SubscriberEnd> in_the_way;
  {
    const std::lock_guard lock(mutex_);
    const auto counted = [&](const auto& source) {
      if (!source->finished()) return false;
      count_locked(*source);
      return true;
    };
    std::erase_if(connections_.ends, [&](const auto& end) {
      if (!counted(end)) return false;
      if (end->is_awaited) in_the_way = end;
      return true;
    });
    std::erase_if(connections_.queues, counted);
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  refresh();
  if (in_the_way) in_the_way->make_way(*this);
}

// So many messages are offered in one turn; at least 1, with which publishers that have finished are let go of.
std::uint64_t Subscription::most_of(const Turn& turn) {
  if (!turn.only_of()) return frames_per_turn;
  refresh();
  const std::uint64_t kept = options_.qos.depth == 0 ? ~std::uint64_t{0} : options_.qos.depth;  // what is older is not handed out
  std::uint64_t waiting = 0;
  seen_.each([&](const auto& source) { waiting += std::min(source.waiting(), kept); });
  return std::max<std::uint64_t>(waiting, 1);
}

bool Subscription::run_some(const Turn& turn) {
  const std::lock_guard lock(taking_);
  for (std::uint64_t left = most_of(turn); left > 0; --left) {
    if (closed_.load(std::memory_order_relaxed) || turn.has_ended()) return false;
    running_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    bool any = true;
    try {
      any = offer_next(*receiver_).has_value();
    } catch (const std::bad_alloc& shortage) {
      base::log(base::LogLevel::error, shortage.what());  // of a message that could not be taken, which is counted as missed
    }
    running_.store({}, std::memory_order_relaxed);
    if (!any) return false;
    if (turn.is_up()) break;
  }
  return true;
}

bool Subscription::take(Receiver& receiver) {
  const std::lock_guard lock(taking_);
  // Who sends without pause what is none to be handed out is not to hold up for ever whoever looks at the time, or has to be told of that.
  for (std::uint64_t refused = 0; refused < frames_per_turn && !closed_.load(std::memory_order_relaxed); ++refused) {
    const auto accepted = offer_next(receiver);
    if (!accepted) return false;
    if (*accepted) return true;
  }
  return false;
}

bool Subscription::wait(std::int64_t until) {
  const std::lock_guard lock(taking_);
  refresh();
  SINEW_POINT("subscription.falls_asleep");
  silent_->sleeper().mark_asleep();
  if (!closed_.load(std::memory_order_relaxed) && !has_news()) {
    if (until == LoopTimer::never) {
      os::await_doorbell(silent_->eventfd().get());  // one system call less
    } else {
      os::await_doorbell(silent_->eventfd().get(), until);
    }
  }
  silent_->sleeper().mark_awake();
  // Another connection is no message yet, and one that has ended none any more.
  refresh();
  let_go_of_finished();
  return has_news();
}

void Subscription::incompatible(const wire::Incompatible& peer) {
  incompatible_.add(peer);
  status_.raise();
}

std::vector<Sighting> Subscription::sightings() const {
  std::vector<Sighting> all;
  const std::lock_guard lock(mutex_);
  connections_.each([&](const auto& source) {
    if (std::optional<Sighting> sighting = source.sighting()) all.push_back(std::move(*sighting));
  });
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

void Subscription::detach() noexcept {
  status_.detach();
  if (!thread_) silent_->ring();
}

void Subscription::close() {
  status_.stop();
  Connections gone;
  if (closed_.exchange(true, std::memory_order_relaxed)) return await_callback();
  {
    const std::lock_guard lock(mutex_);
    std::swap(gone, connections_);
    gone.each([this](auto& source) { count_locked(source); });
    version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
  }
  if (!thread_) silent_->ring();  // who is in wait() holds taking_
  // Publishers keep frames for the last callback until it has returned. Our own callback, when this is called from it, holds taking_.
  std::unique_lock<std::mutex> taking(taking_, std::defer_lock);
  if (running_.load(std::memory_order_relaxed) != std::this_thread::get_id()) taking.lock();
  for (const auto& end : gone.ends) end->unsubscribe();
  // Messages that are kept may outlive this, and keep the ends: nobody would look at the chunks of these any more, and give them back.
  if (taking) {
    for (const auto& end : gone.ends) end->forget_chunks();
  } else {
    left_ = std::move(gone.ends);  // what our callback was given may still be looked at
  }
  if (taking && !thread_) seen_ = {};  // else the thread's, which looks at them without the lock
  if (taking) taking.unlock();         // users' deleters run with what is left in the queues, from which nobody takes any more
  for (const auto& queue : gone.queues) queue->close();
}

std::vector<Subscription::Source> Subscription::sources() const {
  std::vector<Source> sources;
  const std::lock_guard lock(mutex_);
  sources.reserve(connections_.size());
  connections_.each([&](const auto& source) { sources.push_back({source.endpoint(), source.is_served()}); });
  return sources;
}

void Subscription::let_go_of_departed(const std::function<bool(std::uint64_t endpoint)>& may_go) {
  std::vector<std::shared_ptr<SubscriberEnd>> gone;  // destroyed without the lock
  const std::lock_guard lock(mutex_);
  for (const auto& end : connections_.ends) {
    if (end->hung_up() && may_go(end->endpoint())) gone.push_back(end);
  }
  if (gone.empty()) return;
  for (const auto& end : gone) {
    forget_locked(*end);
    std::erase(connections_.ends, end);
  }
  version_.fetch_add(1, std::memory_order_release);  // sync: VERSION (with refresh)
}

bool Subscription::cancel_call(std::uint64_t endpoint, std::uint64_t call) const noexcept {
  bool is_told = true;
  const std::lock_guard lock(mutex_);
  connections_.each([&](auto& source) {
    if (source.endpoint() == endpoint) is_told &= source.cancel_call(call);
  });
  return is_told;
}

std::vector<MatchedPublisher> Subscription::publishers() const {
  std::vector<MatchedPublisher> all;
  const std::lock_guard lock(mutex_);
  connections_.each([&](const auto& source) {
    if (source.is_served()) all.push_back(source.matched());
  });
  return all;
}

SubscriberStatistics Subscription::statistics() const {
  std::unique_lock lock(mutex_);
  SubscriberStatistics statistics = before_;
  connections_.each([&](const auto& source) {
    source.count_losses(statistics);
    statistics.publishers += source.is_served() ? 1U : 0U;
    statistics.held += source.held();
    statistics.waiting += source.waiting();
  });
  lock.unlock();
  statistics.incompatible = incompatible_.count();
  status_.tell(statistics);  // which takes mutex_
  return statistics;
}

}  // namespace sinew::session
