#include "api/service_provider_core.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "base/cancel.hpp"
#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "session/fork.hpp"
#include "shm/layout.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

// No client has more calls here that were not answered; who cancels more than that cancels what does not exist.
constexpr std::size_t most_early = shm::ring_capacity;

constexpr std::int64_t retry_pause = 5'000'000;

/// A handler that runs on this thread, and those that it runs in.
struct Running {
  const void* provider;
  bool is_closed = false;  // by it
  Running* outer;
};
thread_local Running* running_here = nullptr;

Running* find_running(const void* provider) noexcept {
  Running* found = running_here;
  while (found && found->provider != provider) found = found->outer;
  return found;
}

// Of those that wait for memory, or of what clients have lost; in one turn of the loop, which has others to look after.
constexpr int most_errors_per_turn = 256;

}  // namespace

// --- clients -----------------------------------------------------------------------------------------------------------------------------

void ServiceProviderCore::Impl::peer_left(std::uint64_t endpoint, std::uint64_t, bool is_here) noexcept {
  if (is_here) return;  // it waits for its answers
  const std::lock_guard lock(mutex);
  for (auto call = running.lower_bound({endpoint, 0}); call != running.end() && call->first.first == endpoint; ++call) {
    call->second.call->cancelled.store(true, std::memory_order_relaxed);
  }
  early.erase(endpoint);
  std::erase_if(early_in_need, [endpoint](const Key& key) { return key.first == endpoint; });
  std::erase_if(owed, [endpoint](const Owed& each) { return each.key.first == endpoint; });
}

void ServiceProviderCore::Impl::call_cancelled(std::uint64_t endpoint, std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex);
  const auto [first, last] = running.equal_range({endpoint, id});
  for (auto call = first; call != last; ++call) call->second.call->cancelled.store(true, std::memory_order_relaxed);
  if (first != last) return;
  try {
    std::set<std::uint64_t>& ids = early[endpoint];
    ids.insert(id);
    if (ids.size() > most_early) ids.erase(ids.begin());  // the oldest, which was answered long ago
  } catch (const std::bad_alloc& shortage) {
    if (early_in_need.size() < early_in_need.capacity()) {
      early_in_need.emplace_back(endpoint, id);
    } else {
      base::log(base::LogLevel::error, shortage.what());  // it is executed for nothing
    }
  }
}

void ServiceProviderCore::Impl::messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept {
  {
    const std::lock_guard lock(mutex);
    owe_locked({endpoint, 0}, ServiceStatus::unreadable, std::max<std::uint64_t>(count, 1));
  }
  timer->set(os::now_ns() + retry_pause);  // not at once: who loses without pause is not to be answered without pause
}

// --- requests ----------------------------------------------------------------------------------------------------------------------------

// A call is forgotten after its answer was sent, so a client may know better of as many as there are threads that answer: the provider's, and the loop's.
bool ServiceProviderCore::Impl::is_excess_locked(std::uint64_t endpoint, session::Reach reach) const {
  const std::size_t most = std::size_t{most_calls(reach)} + parallel + 1;
  if (running.size() < most) return false;
  std::size_t unanswered = 0;
  for (auto call = running.lower_bound({endpoint, 0}); call != running.end() && call->first.first == endpoint; ++call) {
    if (++unanswered == most) return true;
  }
  return false;
}

// Null when it is not to be executed.
std::shared_ptr<RunningCall> ServiceProviderCore::Impl::begin(std::uint64_t endpoint, std::uint64_t id, const std::string& client) {
  // A client sends nothing before our responses reach it: if they do not, it has gone.
  const session::Reach reach = ends.publisher->reach(endpoint);
  if (reach == session::Reach::nobody) return nullptr;
  auto call = std::make_shared<RunningCall>();
  call->endpoint = endpoint;
  call->id = id;
  call->client = client;
  if (!note_begun(call, reach)) return nullptr;
  // If it has gone meanwhile, peer_left() may have come before there was anything to cancel.
  if (ends.publisher->reach(endpoint) == session::Reach::nobody) call->cancelled.store(true, std::memory_order_relaxed);
  return call;
}

// False when its client has more here than it may.
bool ServiceProviderCore::Impl::note_begun(const std::shared_ptr<RunningCall>& call, session::Reach reach) {
  const std::uint64_t endpoint = call->endpoint, id = call->id;
  const std::lock_guard lock(mutex);
  if (closed) return false;  // another provider has it
  if (is_excess_locked(endpoint, reach)) {
    ++counters.excess;
    if (!std::exchange(excess_reported, true)) {
      base::log(base::LogLevel::warn, "service '" + service + "': client '" + call->client +
                                          "' sends more requests than it may before those are answered (" +
                                          std::to_string(most_calls(reach)) + "); they are dropped (said once)");
    }
    return false;
  }
  if (const auto ids = early.find(endpoint); ids != early.end() && ids->second.erase(id) > 0)
    call->cancelled.store(true, std::memory_order_relaxed);
  if (std::erase(early_in_need, Key{endpoint, id}) > 0) call->cancelled.store(true, std::memory_order_relaxed);
  running.emplace(Key{endpoint, id}, Begun{call});
  return true;
}

void ServiceProviderCore::Impl::receive(ReceivedMessage& message) {
  const std::uint64_t id = id_of(message.object);
  std::shared_ptr<RunningCall> call;
  try {
    call = begin(message.endpoint, id, message.info->publisher);
    if (!call) return;
    if (parallel > 1) {
      const Waiting next{call, std::shared_ptr<const void>(message.keep, message.object)};  // let go of without the mutex
      SINEW_POINT("service.begun");
      const std::lock_guard lock(mutex);
      if (closed) return forget_locked(*call);  // by a handler: nobody would wait for a thread that is started now; another provider has it
      queue.push_back(next);
      start_worker_locked();
      changed.notify_one();
      return;
    }
  } catch (const std::exception& error) {
    const Words words{"service '", service, "': the provider cannot execute the request: ", error.what()};
    if (call) return fail(*call, ServiceStatus::no_memory, words);
    return fail(message.endpoint, id, ServiceStatus::no_memory, words);
  }
  SINEW_POINT("service.received");
  execute(call, message.object);
}

// For what was queued last. When a thread is not to be had, those that there are do it; a request that nobody will execute is taken back, before anybody can have seen it.
void ServiceProviderCore::Impl::start_worker_locked() {
  if (queue.size() <= idle || threads.size() >= parallel) return;
  try {
    threads.reserve(threads.size() + 1);  // first: a thread that was started has to be kept
    threads.push_back(os::start_thread("sinew-serve", [self = shared_from_this()] { self->work(); }));
  } catch (const std::exception&) {
    if (!threads.empty()) return;
    queue.pop_back();
    throw;
  }
}

void ServiceProviderCore::Impl::rejected(const Rejected& request) {
  if (request.no_memory && request.call != 0) {
    fail(request.endpoint, request.call, ServiceStatus::no_memory,
         {"service '", service, "': the provider has no memory to receive the request"});
  } else {
    fail(request.endpoint, request.call, ServiceStatus::unreadable,
         {"service '", service, "': the provider cannot read the request; see its log"});
  }
}

void ServiceProviderCore::Impl::work() {
  std::unique_lock lock(mutex);
  while (!closed) {
    if (queue.empty()) {
      ++idle;
      changed.wait(lock);
      --idle;
      continue;
    }
    Waiting next = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    execute(next.call, next.request.get());
    if (session::forked()) return;  // by the handler: whoever had the mutex is not there any more
    next = {};
    lock.lock();
  }
}

void ServiceProviderCore::Impl::execute(const std::shared_ptr<RunningCall>& call, const void* request) {
  if (call->cancelled.load(std::memory_order_relaxed)) return fail(*call, ServiceStatus::dropped, {});
  Running here{this, false, running_here};
  running_here = &here;
  try {
    serve(request, call, *this);
  } catch (const std::bad_alloc&) {
    fail(*call, ServiceStatus::no_memory, {"service '", service, "': the provider has no memory to execute the request"});
  } catch (const std::exception& error) {
    fail(*call, ServiceStatus::threw, {error.what()});
  } catch (...) {
    fail(*call, ServiceStatus::threw, {"the provider's handler threw something that is no std::exception"});
  }
  running_here = here.outer;
  if (!here.is_closed || session::forked()) return;
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  session->remove(ends.subscription);
  end();
}

// --- answers -----------------------------------------------------------------------------------------------------------------------------

void ServiceProviderCore::Impl::concluded(const RunningCall& call, PublishResult result, const std::string& why_not) {
  if (session::forked()) return;
  switch (result) {
    case PublishResult::no_memory:
      return fail(call, ServiceStatus::no_memory,
                  {"service '", service, "': the provider has no memory for the response. ", reason_in(why_not)});
    case PublishResult::invalid:
      return fail(call, ServiceStatus::threw, {"the response cannot be sent: ", why_not});
    case PublishResult::published:
    case PublishResult::would_block:
    case PublishResult::closed:
      break;
  }
  const std::lock_guard lock(mutex);
  forget_locked(call);
  if (result == PublishResult::published) ++counters.answered;
  if (call.cancelled.load(std::memory_order_relaxed)) ++counters.cancelled;
  if (result != PublishResult::would_block) return;
  ++counters.undelivered;
  if (!std::exchange(overrun_reported, true)) {
    base::log(base::LogLevel::warn, "service '" + service + "': client '" + call.client +
                                        "' has more calls than it may and does not take the answers; they are dropped (said once)");
  }
}

PublishResult ServiceProviderCore::Impl::reply(const RunningCall& call, std::shared_ptr<const void> response) {
  SINEW_POINT("service.executed");
  std::string why_not;
  const PublishResult result = ends.sends->send_shared(call.endpoint, {std::move(response)}, nullptr, &why_not);
  concluded(call, result, why_not);
  SINEW_POINT("service.answered");
  return result;
}

std::multimap<ServiceProviderCore::Impl::Key, ServiceProviderCore::Impl::Begun>::iterator ServiceProviderCore::Impl::find_locked(
    const RunningCall& call) {
  const auto [first, last] = running.equal_range({call.endpoint, call.id});
  const auto found = std::find_if(first, last, [&](const auto& each) { return each.second.call.get() == &call; });
  return found == last ? running.end() : found;
}

void ServiceProviderCore::Impl::forget_locked(const RunningCall& call) {
  if (const auto found = find_locked(call); found != running.end()) running.erase(found);
}

// False when it is to be tried again.
bool ServiceProviderCore::Impl::send_error(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, Words words) {
  try {
    std::string text;
    for (const std::string_view word : words) text += word;
    return ends.sends->send_shared(endpoint, {make_error(id, status, text)}) != PublishResult::no_memory;
  } catch (const std::exception&) {
    return false;
  }
}

void ServiceProviderCore::Impl::fail(const RunningCall& call, ServiceStatus status, Words words) {
  if (session::forked()) return;
  const bool sent = send_error(call.endpoint, call.id, status, words) || send_error(call.endpoint, call.id, status, {});
  {
    const std::lock_guard lock(mutex);
    if (status == ServiceStatus::threw) ++counters.threw;
    if (status == ServiceStatus::dropped) ++counters.cancelled;
    if (sent) return forget_locked(call);
    if (const auto found = find_locked(call); found != running.end()) found->second.owed = status;
  }
  timer->set(os::now_ns() + retry_pause);
}

void ServiceProviderCore::Impl::fail(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, Words words) {
  if (send_error(endpoint, id, status, words) || send_error(endpoint, id, status, {})) return;
  {
    const std::lock_guard lock(mutex);
    owe_locked({endpoint, id}, status);
  }
  timer->set(os::now_ns() + retry_pause);
}

void ServiceProviderCore::Impl::owe_locked(const Key& key, ServiceStatus status, std::uint64_t count) noexcept {
  const auto add = [count](Owed& to) { to.count = static_cast<std::uint32_t>(std::min<std::uint64_t>(to.count + count, most_owed)); };
  if (const auto found = find_owed_locked(key, status); found != owed.end()) return add(*found);
  const auto is_its = [&key](const Owed& each) { return each.key.first == key.first; };
  if (key.second != 0 && std::cmp_greater_equal(std::ranges::count_if(owed, is_its), most_owed))
    return owe_locked({key.first, 0}, ServiceStatus::unreadable, count);
  try {
    add(owed.emplace_back(Owed{key, status}));
  } catch (const std::bad_alloc&) {
    owes_all = true;
  }
}

std::vector<ServiceProviderCore::Impl::Owed>::iterator ServiceProviderCore::Impl::find_owed_locked(const Key& key,
                                                                                                   ServiceStatus status) noexcept {
  return std::ranges::find_if(owed, [&](const Owed& each) { return each.key == key && each.status == status; });
}

// True when there are more.
bool ServiceProviderCore::Impl::try_begun_again() {
  bool any_left = false;
  for (std::optional<Key> after;;) {
    std::shared_ptr<RunningCall> call;
    ServiceStatus status{};
    {
      const std::lock_guard lock(mutex);
      const auto next = std::find_if(after ? running.upper_bound(*after) : running.begin(), running.end(),
                                     [](const auto& each) { return each.second.owed.has_value(); });
      if (next == running.end()) return any_left;
      after = next->first;
      call = next->second.call;
      status = *next->second.owed;
    }
    if (!send_error(call->endpoint, call->id, status, {"the provider has no memory"})) {
      any_left = true;
      continue;
    }
    const std::lock_guard lock(mutex);
    forget_locked(*call);
  }
}

// True when there are more. They take turns, so that none waits behind those of a client that there is no memory for.
bool ServiceProviderCore::Impl::try_owed_again() {
  std::size_t refused = 0;  // one after the other
  for (int tries = 0; tries < most_errors_per_turn; ++tries) {
    Owed answer;
    {
      const std::lock_guard lock(mutex);
      if (owed.empty()) return false;
      if (refused >= owed.size()) return true;
      answer = owed[owed_turn++ % owed.size()];
    }
    if (!send_error(answer.key.first, answer.key.second, answer.status, {"the provider has no memory"})) {
      ++refused;
      continue;
    }
    refused = 0;
    const std::lock_guard lock(mutex);
    if (const auto found = find_owed_locked(answer.key, answer.status); found != owed.end() && --found->count == 0) owed.erase(found);
  }
  return true;
}

// Nobody knows any more whom it owes an answer: all clients are told that one of theirs is missing.
bool ServiceProviderCore::Impl::try_all_again() {
  {
    const std::lock_guard lock(mutex);
    if (!std::exchange(owes_all, false)) return false;
  }
  bool all_sent = false;
  try {
    all_sent = std::ranges::all_of(ends.publisher->peers(),
                                   [&](const auto& peer) { return send_error(peer.endpoint, 0, ServiceStatus::unreadable, {}); });
  } catch (const std::bad_alloc&) {
    all_sent = false;
  }
  if (all_sent) return false;
  const std::lock_guard lock(mutex);
  owes_all = true;
  return true;
}

std::int64_t ServiceProviderCore::Impl::try_again() {
  {
    const std::lock_guard lock(mutex);
    if (closed) return session::LoopTimer::never;
  }
  bool any_left = try_begun_again();
  any_left |= try_owed_again();
  any_left |= try_all_again();
  return any_left ? os::now_ns() + retry_pause : session::LoopTimer::never;
}

void ServiceProviderCore::Impl::close() {
  // First: nothing new is begun. But as long as a call is to be answered the client must not think that its provider is gone.
  Running* const own = find_running(this);
  if (!own && ends.subscription) session->remove(ends.subscription);
  std::vector<std::thread> ended;
  std::list<Waiting> not_begun;
  {
    const std::lock_guard lock(mutex);
    closed = true;
    ended.swap(threads);
    not_begun.swap(queue);
    changed.notify_all();
  }
  for (std::thread& thread : ended) {
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();  // it has a reference of its own
    } else {
      thread.join();
    }
  }
  if (own) {
    own->is_closed = true;
  } else {
    end();
  }
}

void ServiceProviderCore::Impl::end() {
  watch->stop();
  timer->stop();
  if (ends.publisher) session->remove(*ends.publisher);
  // Here, and not where the last reference goes: that may be a loop's, whose node the handler may have the last reference to.
  if (!find_running(this)) std::exchange(serve, nullptr);
}

// --- the core ----------------------------------------------------------------------------------------------------------------------------

ServiceProviderCore::ServiceProviderCore(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

ServiceProviderCore::~ServiceProviderCore() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<Impl>(std::move(impl_));  // dead in the child, see PublisherCore
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  impl_->close();
}

const std::string& ServiceProviderCore::service() const noexcept {
  return impl_->service;
}

ServiceProviderStatistics ServiceProviderCore::statistics() const {
  if (session::forked()) return {};  // whoever had the mutex is not there any more
  const std::uint64_t clients = impl_->ends.publisher->peers().size();
  const std::uint64_t bytes_copied = impl_->ends.publisher->statistics().bytes_copied;
  const std::uint64_t rejected = impl_->ends.receives->statistics().rejected;
  const std::lock_guard lock(impl_->mutex);
  ServiceProviderStatistics statistics = impl_->counters;
  statistics.detached = impl_->ends.publisher->status().is_detached();
  statistics.rejected = rejected;
  statistics.running = impl_->running.size();
  statistics.clients = clients;
  statistics.bytes_copied = bytes_copied;
  return statistics;
}

void ServiceProviderCore::reply(Impl& provider, const RunningCall& call, std::shared_ptr<const void> response) {
  const shm::HeapScope heap;
  provider.reply(call, std::move(response));
}

void ServiceProviderCore::reply_in_place(Impl& provider, const RunningCall& call, void* response) {
  const shm::HeapScope heap;
  SINEW_POINT("service.executed");
  std::string why_not;
  const PublishResult result = provider.ends.sends->send_object(call.endpoint, response, &why_not);
  provider.concluded(call, result, why_not);
  SINEW_POINT("service.answered");
}

const std::shared_ptr<PublisherCore>& ServiceProviderCore::responses(Impl& provider) noexcept {
  return provider.ends.sends;
}

}  // namespace sinew::detail
