#include "api/service_client_core.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include "base/cancel.hpp"
#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

constexpr std::int64_t never = session::LoopTimer::never;
constexpr std::chrono::milliseconds pause{1};                               // while there is no memory
constexpr std::uint64_t most_lost = most_calls(session::Reach::same_user);  // more calls than that no provider has

ServiceError::Kind kind_of(std::uint64_t status) {
  switch (static_cast<ServiceStatus>(status)) {
    case ServiceStatus::no_memory:
      return ServiceError::Kind::no_memory;
    case ServiceStatus::unreadable:
      return ServiceError::Kind::invalid;
    case ServiceStatus::dropped:
      return ServiceError::Kind::cancelled;
    case ServiceStatus::answered:
    case ServiceStatus::threw:
      break;
  }
  return ServiceError::Kind::failed;  // also what a later version may say
}

/// For a caller that waits on its own thread.
class BlockedAnswer final : public AwaitedAnswer {
 public:
  BlockedAnswer(std::mutex& mutex, std::condition_variable& changed) noexcept : AwaitedAnswer(false), mutex_(mutex), changed_(changed) {}
  void answer(std::shared_ptr<const void>&& keep, const void*) override {
    response = std::move(keep);
    tell();
  }
  void fail(const ServiceError& why) override {
    try {
      error.emplace(why.alone());
    } catch (const std::bad_alloc&) {
      error.emplace(why);
    }
    tell();
  }

  // pair DONE: who sees it finds response or error.
  std::atomic<bool> done{false};
  std::shared_ptr<const void> response;
  std::optional<ServiceError> error;

 private:
  void tell() {
    const std::lock_guard lock(mutex_);
    done.store(true, std::memory_order_release);  // sync: DONE (with lead)
    changed_.notify_all();
  }
  std::mutex& mutex_;
  std::condition_variable& changed_;
};

}  // namespace

// --- receiving ---------------------------------------------------------------------------------------------------------------------------

ServiceError ServiceClientCore::Impl::error_in(const void* response, std::uint64_t status) const noexcept {
  const ServiceError::Kind kind = kind_of(status);
  try {
    return {kind, error_of(response)};
  } catch (const std::bad_alloc&) {
    return in_short[static_cast<std::size_t>(kind)];
  }
}

bool ServiceClientCore::Impl::receive(const ReceivedMessage& message) {
  const std::uint64_t id = id_of(message.object), status = status_of(message.object);
  if (id == 0 && static_cast<ServiceStatus>(status) == ServiceStatus::unreadable) {
    lose({.endpoint = message.endpoint});
    return true;
  }
  Outcomes outcomes;
  bool is_due = false;
  {
    const std::lock_guard lock(mutex);
    const auto call = calls.find(id);
    if (call == calls.end() || call->second.provider == 0 || call->second.provider != message.endpoint) {
      ++counters.strays;
      return false;
    }
    if (Provider* const provider = find_locked(message.endpoint); provider && provider->in_flight > 0) --provider->in_flight;
    if (Outcomes ended = take_locked(id, call->second); !ended.empty()) {
      if (static_cast<ServiceStatus>(status) == ServiceStatus::answered) {
        ended.front().response = std::shared_ptr<const void>(message.keep, message.object);
      } else {
        ended.front().error.emplace(error_in(message.object, status));
      }
      end_locked(std::move(ended), outcomes);
    }
    calls.erase(call);
    memory_pause = 0;  // it has made room
    send_waiting_locked(outcomes);
    is_due = !due.empty();
  }
  tell(std::move(outcomes));
  return is_due;
}

// --- what is lost ------------------------------------------------------------------------------------------------------------------------

void ServiceClientCore::Impl::lose(const Rejected& lost) {
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    Provider* const provider = find_locked(lost.endpoint);
    if (!provider) return;
    const auto call = calls.find(lost.call);
    if (lost.call == 0) {
      lose_locked(*provider, lost.count, outcomes);
    } else if (call == calls.end() || call->second.provider != lost.endpoint) {
      ++counters.strays;
    } else {
      if (provider->in_flight > 0) --provider->in_flight;
      if (lost.no_memory) {
        fail_locked(call->first, call->second, ServiceError::Kind::no_memory, {": there is no memory to receive the response"}, outcomes);
      } else {
        fail_locked(call->first, call->second, ServiceError::Kind::invalid, {": the response could not be read; see the log"}, outcomes);
      }
      calls.erase(call);
    }
    send_waiting_locked(outcomes);
  }
  tell(std::move(outcomes));
}

// So many messages between us and a provider were lost, or all that it sends from now on (0), and nobody knows which: none of its calls can be sure of an answer. Those that are answered all the same are counted
// until then, but as many as were lost; of these the oldest are forgotten.
void ServiceClientCore::Impl::lose_locked(Provider& provider, std::uint64_t count, Outcomes& outcomes) noexcept {
  for (auto& [id, call] : calls) {
    if (call.provider != provider.endpoint) continue;
    fail_locked(id, call, ServiceError::Kind::lost,
                {": a request or a response between this client and its provider was lost, or could not be read; see both logs: ",
                 "the request may have been executed, or not"},
                outcomes);
  }
  const auto is_its = [&](const auto& each) { return each.second.provider == provider.endpoint; };
  if (count == 0 || count >= provider.in_flight) {
    provider.in_flight = 0;
    std::erase_if(calls, is_its);
    if (count == 0) {  // nothing more is for it until we know that it is connected anew
      provider.reach = session::Reach::nobody;
      look_in(0);
    }
    return;
  }
  provider.in_flight -= static_cast<std::uint32_t>(count);
  for (std::uint64_t to_go = count; to_go > 0; --to_go) {
    auto oldest = calls.end();
    for (auto call = calls.begin(); call != calls.end(); ++call) {
      if (is_its(*call) && (oldest == calls.end() || call->first < oldest->first)) oldest = call;
    }
    if (oldest == calls.end()) return;
    calls.erase(oldest);
  }
}

void ServiceClientCore::Impl::lose_of_all() {
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    for (Provider& provider : providers) lose_locked(provider, 1, outcomes);
    send_waiting_locked(outcomes);
  }
  tell(std::move(outcomes));
}

void ServiceClientCore::Impl::note_rejected(const Rejected& one) noexcept {
  const std::lock_guard lock(noting);
  is_rejected.store(true, std::memory_order_relaxed);
  // What a provider loses counts together, however often: it may do so without pause.
  const auto same = std::ranges::find_if(rejected, [&](const Rejected& each) { return each.call == 0 && each.endpoint == one.endpoint; });
  if (one.call == 0 && same != rejected.end()) {
    // All is more than any number of them.
    same->count = same->count == 0 || one.count == 0 ? 0 : std::min(same->count + one.count, most_lost);
    return;
  }
  try {
    rejected.push_back(one);
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());
    is_more_rejected = true;
  }
}

// A call that is known is told of at once, the others of its provider when all answers that are there were received.
void ServiceClientCore::Impl::look_at_rejected(bool all_received) {
  while (is_rejected.load(std::memory_order_relaxed)) {
    Rejected next;
    bool is_any_of_all = false;
    {
      const std::lock_guard lock(noting);
      const auto found = std::ranges::find_if(rejected, [&](const Rejected& each) { return all_received || each.call != 0; });
      if (found != rejected.end()) {
        next = *found;
        rejected.erase(found);
      } else if (!all_received) {
        return;
      } else {
        is_any_of_all = std::exchange(is_more_rejected, false);
        is_rejected.store(false, std::memory_order_relaxed);
      }
    }
    if (next.endpoint != 0) lose(next);
    if (is_any_of_all) lose_of_all();
  }
}

void ServiceClientCore::Impl::lead(std::int64_t until, const std::atomic<bool>* done) {
  std::shared_ptr<SubscriberCore> receives;  // a callback may be the end of ours
  std::shared_ptr<session::Subscription> subscription;
  {
    const std::lock_guard lock(mutex);
    if (closed) return;
    receives = ends.receives;
    subscription = ends.subscription;
  }
  const auto is_done = [done] { return done && done->load(std::memory_order_acquire); };  // sync: DONE (with tell)
  if (receive_all(*receives, done) || is_done() || !settle(*subscription, !done) || is_done()) return;
  subscription->wait(until);
  receive_all(*receives, done);
}

void ServiceClientCore::Impl::say_short(const std::exception& shortage, std::atomic<bool>& said) noexcept {
  if (said.exchange(true, std::memory_order_relaxed)) return;  // relaxed: nothing follows from it
  const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&shortage) != nullptr;
  base::log(base::LogLevel::error, lacks_memory ? "service client: no memory, trying again" : shortage.what());
}

void ServiceClientCore::Impl::lead_locked(std::unique_lock<std::mutex>& lock, std::int64_t until, const std::atomic<bool>* done) {
  leading = true;
  leader = std::this_thread::get_id();
  lock.unlock();
  try {
    lead(until, done);
    lead_is_short.store(false, std::memory_order_relaxed);
  } catch (const std::exception& shortage) {
    say_short(shortage, lead_is_short);
    os::sleep_for(pause);
  }
  SINEW_POINT("service.led");
  lock.lock();
  leading = false;
}

// True when there was any. The client's thread, which has no `done`, stops for what it is to call. A provider may send without pause: who has a deadline is to look at the time now and then.
bool ServiceClientCore::Impl::receive_all(SubscriberCore& receives, const std::atomic<bool>* done) {
  for (std::uint64_t received = 0;; ++received) {
    if (received == shm::ring_capacity) return true;
    const std::optional<ReceivedMessage> message = receives.take(nullptr);
    look_at_rejected(!message);
    if (!message) return received > 0;
    SINEW_POINT("service.in_hand");
    if (receive(*message) && !done) return true;
    if (done && done->load(std::memory_order_acquire)) return true;  // sync: DONE (with tell)
  }
}

// When everything was received. False when something has changed, or there is something to be told, or for the client's thread to tell.
bool ServiceClientCore::Impl::settle(const session::Subscription& subscription, bool for_thread) {
  Outcomes outcomes;
  bool any = false;
  {
    const std::lock_guard lock(mutex);
    if (closed || (for_thread && !due.empty())) return false;
    if (subscription.is_closed()) {
      fail_all_locked(ServiceError::Kind::disconnected, {": the client's node has been destroyed"}, outcomes);
    } else if (!fail_if_detached_locked(outcomes) && !settled) {  // of those that are gone everything was received now
      refresh_locked(outcomes);
      send_waiting_locked(outcomes);
    }
    any = !outcomes.empty() || (for_thread && !due.empty());
  }
  tell(std::move(outcomes));
  return !any;
}

void ServiceClientCore::Impl::start_thread_locked() {
  if (thread.joinable() || closed) return;
  thread = os::start_thread("sinew-calls", [self = shared_from_this()] { self->run(); });
}

void ServiceClientCore::Impl::run() {
  std::unique_lock lock(mutex);
  while (!closed) {
    if (!due.empty()) {
      Outcomes now;  // one: it may be the end of the client, whose close() calls the rest
      now.splice(now.end(), due, due.begin());
      lock.unlock();
      tell(now.front());
      if (session::forked()) return;  // by the callback: whoever had the mutex is not there any more
      now.clear();
      lock.lock();
    } else if (awaited == 0 || leading) {
      changed.wait(lock);
    } else {
      thread_leads = true;
      lead_locked(lock, never, nullptr);
      thread_leads = false;
      if (blocked > 0) changed_here.notify_all();
    }
  }
}

// Of a destructor: what it does itself needs no memory.
void ServiceClientCore::Impl::close() {
  Outcomes left_over;
  Calls ended_calls;
  ServiceEnds ended;
  std::thread running;
  bool is_own = false;
  {
    const std::lock_guard lock(mutex);
    closed = true;
    left_over.swap(due);
    for (auto& [id, call] : calls) {
      Outcomes outcome = take_locked(id, call);
      if (outcome.empty()) continue;
      outcome.front().error = *destroyed;
      ++counters.failed;
      left_over.splice(left_over.end(), outcome);
    }
    ended_calls.swap(calls);
    is_own = thread.get_id() == std::this_thread::get_id();
    running.swap(thread);
    ended = std::move(ends);
    changed.notify_all();
    changed_here.notify_all();
  }
  watch->stop();
  timer->stop();
  if (ended.subscription) session->remove(ended.subscription);  // also wakes who receives
  if (ended.publisher) session->remove(*ended.publisher);
  if (running.joinable()) {
    if (is_own) {
      running.detach();  // it has a reference of its own
    } else {
      running.join();
    }
  }
  for (Outcome& outcome : left_over) {
    try {
      tell(outcome);
    } catch (const std::bad_alloc& shortage) {
      base::log(base::LogLevel::error, shortage.what());
    }
  }
}

// --- the core ----------------------------------------------------------------------------------------------------------------------------

// Invariant: who calls keeps the Impl, and from then on touches nothing else of the client. A callback may destroy that, and this core with it, before the call that it answers has returned, or while another
// thread waits for an answer.

ServiceClientCore::ServiceClientCore(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

ServiceClientCore::~ServiceClientCore() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<Impl>(std::move(impl_));  // dead in the child, see PublisherCore
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  impl_->close();
}

const std::string& ServiceClientCore::service() const noexcept {
  return impl_->service;
}

std::uint64_t ServiceClientCore::next_id() noexcept {
  return impl_->last_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

const std::shared_ptr<PublisherCore>& ServiceClientCore::requests() const noexcept {
  return impl_->requests;
}

void ServiceClientCore::call(std::uint64_t id, SharedMessage request, std::shared_ptr<AwaitedAnswer> answer,
                             std::chrono::nanoseconds timeout) {
  const shm::HeapScope heap;
  if (session::forked()) return answer->fail(ServiceError(ServiceError::Kind::disconnected, "this process was forked from the client's"));
  const std::shared_ptr<Impl> kept = impl_;
  kept->call(id, std::move(request), std::move(answer), timeout);
}

std::shared_ptr<const void> ServiceClientCore::call_and_wait(std::uint64_t id, SharedMessage request, std::chrono::nanoseconds timeout) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  if (session::forked()) throw ServiceError(ServiceError::Kind::disconnected, "this process was forked from the client's");
  const std::shared_ptr<Impl> kept_impl = impl_;
  Impl& impl = *kept_impl;
  const auto kept = Impl::kept_of(request);
  const auto mine = std::make_shared<BlockedAnswer>(impl.mutex, impl.changed_here);
  const std::int64_t until = deadline_after(timeout);
  Impl::Outcomes outcomes;
  {
    const std::lock_guard lock(impl.mutex);
    impl.add_locked(id, {.request = std::move(request), .deadline = never, .blocks = true}, mine, outcomes);
  }
  impl.tell(std::move(outcomes));
  std::unique_lock lock(impl.mutex);
  for (bool is_late = false; !mine->done.load(std::memory_order_acquire);) {  // sync: DONE (with tell)
    if (!is_late && until != never && os::now_ns() >= until) {
      is_late = true;
      lock.unlock();
      impl.give_up(id, ServiceError::Kind::timeout);
      lock.lock();
    } else if (!impl.leading && !impl.closed) {
      impl.lead_locked(lock, until, &mine->done);
    } else if (until == never || is_late) {
      impl.changed_here.wait(lock);
    } else {
      impl.changed_here.wait_for(lock, std::chrono::nanoseconds(until - os::now_ns()));
    }
  }
  // Somebody else receives from now on.
  if (impl.awaited > 0) impl.changed.notify_one();
  if (impl.blocked > 0) impl.changed_here.notify_all();
  lock.unlock();
  if (mine->error) throw mine->error->alone();
  return std::move(mine->response);
}

void ServiceClientCore::cancel(std::uint64_t id) {
  cancel(impl_, id);
}

bool ServiceClientCore::recall(std::uint64_t id) {
  const shm::HeapScope heap;
  const std::shared_ptr<Impl> kept = impl_;
  return !session::forked() && kept->give_up(id, ServiceError::Kind::cancelled, true);
}

void ServiceClientCore::cancel(const std::weak_ptr<Impl>& impl, std::uint64_t id) {
  const shm::HeapScope heap;
  if (session::forked()) return;
  if (const auto client = impl.lock()) client->give_up(id, ServiceError::Kind::cancelled);
}

ServiceClientStatistics ServiceClientCore::statistics() const {
  if (session::forked()) return {};  // whoever had the mutex is not there any more
  const std::lock_guard lock(impl_->mutex);
  ServiceClientStatistics statistics = impl_->counters;
  const PublisherStatistics requests = impl_->requests->statistics();
  statistics.detached = requests.detached;
  if (impl_->ends.receives) statistics.rejected = impl_->ends.receives->statistics().rejected;  // none while it is being destroyed
  statistics.pending = impl_->awaited + impl_->blocked;
  statistics.bytes_copied = requests.bytes_copied;
  statistics.providers = static_cast<std::uint64_t>(
      std::ranges::count_if(impl_->providers, [](const auto& each) { return each.reach != session::Reach::nobody; }));
  return statistics;
}

}  // namespace sinew::detail
