#include "api/service_provider_core.hpp"

#include <algorithm>
#include <exception>
#include <new>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/process.hpp"
#include "session/fork.hpp"
#include "shm/layout.hpp"
#include "shm/scope.hpp"

namespace sinew::detail {
namespace {

// No client has more calls here that were not answered; who cancels more than that cancels what does not exist.
constexpr std::size_t most_early = shm::ring_capacity;

constexpr std::int64_t retry_pause = 5'000'000;

}  // namespace

// --- clients -----------------------------------------------------------------------------------------------------------------------------

void ServiceProviderCore::Impl::peer_left(std::uint64_t endpoint, std::uint64_t) noexcept {
  const std::lock_guard lock(mutex);
  for (auto call = running.lower_bound({endpoint, 0}); call != running.end() && call->first.first == endpoint; ++call) {
    call->second->cancelled.store(true, std::memory_order_relaxed);
  }
  early.erase(endpoint);
}

void ServiceProviderCore::Impl::call_cancelled(std::uint64_t endpoint, std::uint64_t id) noexcept {
  const std::lock_guard lock(mutex);
  if (const auto call = running.find({endpoint, id}); call != running.end()) {
    return call->second->cancelled.store(true, std::memory_order_relaxed);
  }
  try {
    std::set<std::uint64_t>& ids = early[endpoint];
    ids.insert(id);
    if (ids.size() > most_early) ids.erase(ids.begin());  // the oldest, which was answered long ago
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());  // it is executed for nothing
  }
}

// --- requests ----------------------------------------------------------------------------------------------------------------------------

std::shared_ptr<RunningCall> ServiceProviderCore::Impl::begin(std::uint64_t endpoint, std::uint64_t id, const std::string& client) {
  // A client sends nothing before our responses reach it: if they do not, it has gone.
  if (ends.publisher->reach(endpoint) == session::Reach::nobody) return nullptr;
  auto call = std::make_shared<RunningCall>();
  call->endpoint = endpoint;
  call->id = id;
  call->client = client;
  const std::lock_guard lock(mutex);
  if (const auto ids = early.find(endpoint); ids != early.end() && ids->second.erase(id) > 0) call->cancelled = true;
  // A client that uses an id twice before it is answered has only itself to confuse.
  running.insert_or_assign({endpoint, id}, call);
  return call;
}

void ServiceProviderCore::Impl::receive(ReceivedMessage& message) {
  const std::uint64_t id = id_of(message.object);
  std::shared_ptr<RunningCall> call;
  try {
    call = begin(message.endpoint, id, message.info->publisher);
    if (!call) return;
    if (parallel > 1) {
      const std::lock_guard lock(mutex);
      queue.push_back({call, std::shared_ptr<const void>(message.keep, message.object)});
      if (queue.size() > idle && threads.size() < parallel) {
        threads.push_back(os::start_thread("sinew-serve", [self = shared_from_this()] { self->work(); }));
      }
      changed.notify_one();
      return;
    }
  } catch (const std::exception& error) {
    // Nothing was begun. When a thread was not to be had, those that there are do it.
    if (call && parallel > 1) {
      const std::lock_guard lock(mutex);
      if (!threads.empty() && !queue.empty() && queue.back().call == call) return;
      if (!queue.empty() && queue.back().call == call) queue.pop_back();
    }
    fail(message.endpoint, id, ServiceStatus::no_memory,
         "service '" + service + "': the provider cannot execute the request: " + error.what());
    return;
  }
  SINEW_POINT("service.received");
  execute(call, message.object);
}

void ServiceProviderCore::Impl::unreadable(std::uint64_t endpoint) {
  fail(endpoint, 0, ServiceStatus::unreadable, "");
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
    next = {};
    lock.lock();
  }
}

void ServiceProviderCore::Impl::execute(const std::shared_ptr<RunningCall>& call, const void* request) {
  if (call->cancelled.load(std::memory_order_relaxed)) return fail(call->endpoint, call->id, ServiceStatus::dropped, "");
  try {
    serve(request, call, *this);
  } catch (const std::exception& error) {
    fail(call->endpoint, call->id, ServiceStatus::threw, error.what());
  } catch (...) {
    fail(call->endpoint, call->id, ServiceStatus::threw, "the provider's handler threw something that is no std::exception");
  }
}

// --- answers -----------------------------------------------------------------------------------------------------------------------------

void ServiceProviderCore::Impl::concluded(const RunningCall& call, PublishResult result) {
  switch (result) {
    case PublishResult::no_memory:
      return fail(call.endpoint, call.id, ServiceStatus::no_memory,
                  "service '" + service + "': the provider has no memory for the response. " + ends.publisher->window().why_refused());
    case PublishResult::invalid:
      return fail(call.endpoint, call.id, ServiceStatus::threw, "the response has a variant that lost its value when an assignment threw");
    case PublishResult::published:
    case PublishResult::would_block:
    case PublishResult::closed:
      break;
  }
  const std::lock_guard lock(mutex);
  running.erase({call.endpoint, call.id});
  if (result == PublishResult::published) ++counters.answered;
  if (call.cancelled.load(std::memory_order_relaxed)) ++counters.cancelled;
  if (result != PublishResult::would_block) return;
  ++counters.undelivered;
  if (!std::exchange(overrun_reported, true)) {
    base::log(base::LogLevel::warn, "service '" + service + "': client '" + call.client +
                                        "' has more calls than it may and does not take the answers; they are dropped (said once)");
  }
}

void ServiceProviderCore::Impl::reply(const RunningCall& call, std::shared_ptr<const void> response) {
  SINEW_POINT("service.executed");
  concluded(call, ends.sends->send_shared(call.endpoint, std::move(response)));
  SINEW_POINT("service.answered");
}

// False when it is to be tried again.
bool ServiceProviderCore::Impl::send_error(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, const std::string& text) {
  try {
    return ends.sends->send_shared(endpoint, make_error(id, status, text)) != PublishResult::no_memory;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void ServiceProviderCore::Impl::fail(std::uint64_t endpoint, std::uint64_t id, ServiceStatus status, const std::string& text) {
  const bool sent = send_error(endpoint, id, status, text) || send_error(endpoint, id, status, "");
  {
    const std::lock_guard lock(mutex);
    running.erase({endpoint, id});
    if (status == ServiceStatus::threw) ++counters.threw;
    if (status == ServiceStatus::dropped) ++counters.cancelled;
    if (!sent) owed.push_back({{endpoint, id}, status});
  }
  if (!sent) timer->set(os::now_ns() + retry_pause);
}

std::int64_t ServiceProviderCore::Impl::try_again() {
  std::vector<std::pair<Key, ServiceStatus>> now;
  {
    const std::lock_guard lock(mutex);
    if (closed) return session::Timer::never;
    now.swap(owed);
  }
  std::erase_if(now, [&](const auto& each) {
    const auto& [key, status] = each;
    return send_error(key.first, key.second, status, "the provider has no memory");
  });
  if (now.empty()) return session::Timer::never;
  const std::lock_guard lock(mutex);
  owed.insert(owed.end(), now.begin(), now.end());
  return os::now_ns() + retry_pause;
}

void ServiceProviderCore::Impl::close() {
  session->remove(ends.subscription);  // first: nothing new is begun
  std::vector<std::thread> ended;
  std::deque<Waiting> not_begun;
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
  watch->stop();
  timer->stop();
  session->remove(*ends.publisher);
}

// --- the core ----------------------------------------------------------------------------------------------------------------------------

ServiceProviderCore::ServiceProviderCore(std::shared_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

ServiceProviderCore::~ServiceProviderCore() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<Impl>(std::move(impl_));  // dead in the child, see PublisherCore
    return;
  }
  const shm::HeapScope heap;
  impl_->close();
}

const std::string& ServiceProviderCore::service() const noexcept {
  return impl_->service;
}

ProviderCounters ServiceProviderCore::counters() const {
  const std::uint64_t clients = impl_->ends.publisher->peers().size();
  const std::lock_guard lock(impl_->mutex);
  ProviderCounters counters = impl_->counters;
  counters.running = impl_->running.size();
  counters.clients = clients;
  return counters;
}

void ServiceProviderCore::reply(Impl& provider, const RunningCall& call, std::shared_ptr<const void> response) {
  const shm::HeapScope heap;
  provider.reply(call, std::move(response));
}

void ServiceProviderCore::reply_in_place(Impl& provider, const RunningCall& call, void* response) {
  const shm::HeapScope heap;
  SINEW_POINT("service.executed");
  provider.concluded(call, provider.ends.sends->send_object(call.endpoint, response));
  SINEW_POINT("service.answered");
}

PublisherCore& ServiceProviderCore::responses(Impl& provider) noexcept {
  return *provider.ends.sends;
}

}  // namespace sinew::detail
