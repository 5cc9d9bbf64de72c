// What a client knows of its providers, and which call goes to which of them.
#include <algorithm>
#include <functional>

#include "api/service_client_core.hpp"
#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"

namespace sinew::detail {
namespace {

constexpr std::int64_t never = session::Timer::never;

}  // namespace

std::int64_t deadline_after(std::chrono::nanoseconds timeout) {
  if (timeout == ServiceClientCore::for_ever) return never;
  const std::int64_t now = os::now_ns();
  return timeout.count() >= never - now ? never : now + std::max<std::int64_t>(timeout.count(), 0);
}

// --- what publisher and subscription tell ----------------------------------------------------------------------------------------------

void ServiceClientCore::Impl::peers_changed() noexcept {
  if (told.exchange(true, std::memory_order_acq_rel)) return;
  try {
    session->loop().post([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->look_again();
    });
  } catch (const std::bad_alloc& shortage) {
    told.store(false, std::memory_order_release);
    base::log(base::LogLevel::error, shortage.what());  // it is seen with the next change
  }
}

void ServiceClientCore::Impl::peer_left(std::uint64_t endpoint, std::uint64_t taken) noexcept {
  const std::lock_guard lock(noting);
  try {
    left.emplace_back(endpoint, taken);
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());  // then it may have taken everything
  }
}

void ServiceClientCore::Impl::ready() {
  {
    const std::lock_guard lock(mutex);
    is_ready = true;
  }
  look_again();
}

void ServiceClientCore::Impl::look_again() {
  told.store(false, std::memory_order_release);  // first: what changes from now on is told again
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    if (!is_ready || closed) return;
    refresh_locked(outcomes);
    send_waiting_locked(outcomes);
  }
  tell(std::move(outcomes));
}

// --- providers ---------------------------------------------------------------------------------------------------------------------------

ServiceClientCore::Impl::Provider* ServiceClientCore::Impl::find_locked(std::uint64_t endpoint) {
  const auto found = std::ranges::find(providers, endpoint, &Provider::endpoint);
  return found == providers.end() ? nullptr : &*found;
}

// A provider is one that reads our requests and whose answers reach us. It has gone when neither is so, or, where it does not matter how many requests it has taken, when its answers do not.
void ServiceClientCore::Impl::refresh_locked(Outcomes& outcomes) {
  const std::vector<session::Peer> readers = ends.publisher->peers();
  const std::vector<session::Subscription::Source> sources = ends.subscription->sources();
  {
    const std::lock_guard lock(noting);
    for (const auto& [endpoint, taken] : left) {
      if (Provider* const provider = find_locked(endpoint)) provider->taken = taken;
    }
    left.clear();
  }
  for (Provider& provider : providers) provider.reach = session::Reach::nobody;
  for (const session::Peer& reader : readers) {
    const bool answers =
        std::ranges::any_of(sources, [&](const auto& source) { return source.endpoint == reader.endpoint && source.is_served; });
    if (!answers) continue;
    Provider* provider = find_locked(reader.endpoint);
    if (!provider) provider = &providers.emplace_back(Provider{.endpoint = reader.endpoint});
    if (provider->reach == session::Reach::nobody) provider->reach = reader.reach;
  }
  settled = true;
  std::vector<Provider> gone;
  std::erase_if(providers, [&](const Provider& provider) {
    if (provider.reach != session::Reach::nobody) return false;
    const bool answers = std::ranges::any_of(sources, [&](const auto& source) { return source.endpoint == provider.endpoint; });
    const bool reads = std::ranges::any_of(readers, [&](const auto& reader) { return reader.endpoint == provider.endpoint; });
    if (provider.in_flight > 0 && (answers || (reads && (provider.endpoint & at_most_once_bit) != 0))) {
      settled = false;
      return false;
    }
    gone.push_back(provider);
    return true;
  });
  for (const Provider& each : gone) resolve_locked(each, outcomes);
}

void ServiceClientCore::Impl::resolve_locked(const Provider& gone, Outcomes& outcomes) {
  std::vector<std::uint64_t> ids;
  for (const auto& [id, call] : calls) {
    if (call.provider == gone.endpoint) ids.push_back(id);
  }
  std::ranges::sort(ids, std::greater{});
  for (const std::uint64_t id : ids) {
    Call& call = calls.at(id);
    if (!call.answer) {
      calls.erase(id);
    } else if ((gone.endpoint & at_most_once_bit) != 0 && (call.sequence == 0 || call.sequence <= gone.taken)) {
      fail_locked(id, call, ServiceError::Kind::lost,
                  "service '" + service +
                      "': the provider has gone before it answered, and is one that executes no request twice (at_most_once): " +
                      "the request may have been executed, or not",
                  outcomes);
      calls.erase(id);
    } else {
      call.provider = call.sequence = 0;
      waiting.push_front(id);
      ++counters.resent;
    }
  }
}

ServiceClientCore::Impl::Provider* ServiceClientCore::Impl::next_provider_locked() {
  for (std::size_t looked = 0; looked < providers.size(); ++looked) {
    Provider& provider = providers[(turn + looked) % providers.size()];
    if (provider.reach == session::Reach::nobody || provider.in_flight >= most_calls(provider.reach)) continue;
    turn = (turn + looked) % providers.size() + 1;
    return &provider;
  }
  return nullptr;
}

// --- sending -----------------------------------------------------------------------------------------------------------------------------

void ServiceClientCore::Impl::send_waiting_locked(Outcomes& outcomes) {
  while (!waiting.empty()) {
    const std::uint64_t id = waiting.front();
    const auto call = calls.find(id);
    if (call != calls.end() && call->second.provider == 0) {
      Provider* const provider = next_provider_locked();
      const Sent sent = provider ? send_locked(id, call->second, *provider, outcomes) : Sent::not_now;
      if (sent == Sent::not_now) return;
      if (sent == Sent::elsewhere) continue;
      if (sent == Sent::never) calls.erase(call);
    }
    waiting.pop_front();
  }
}

ServiceClientCore::Impl::Sent ServiceClientCore::Impl::send_locked(std::uint64_t id, Call& call, Provider& provider, Outcomes& outcomes) {
  std::uint64_t sequence = 0;
  switch (ends.sends->send_shared(provider.endpoint, call.request, &sequence)) {
    case PublishResult::published:
      call.provider = provider.endpoint;
      call.sequence = sequence;
      ++provider.in_flight;
      SINEW_POINT("service.sent");
      return Sent::yes;
    case PublishResult::closed:
      provider.reach = session::Reach::nobody;  // we are about to be told
      if (provider.in_flight > 0) settled = false;
      return Sent::elsewhere;
    case PublishResult::would_block:
      return Sent::not_now;
    case PublishResult::no_memory:
      // Answers to others make room.
      if (std::ranges::any_of(providers, [](const Provider& each) { return each.in_flight > 0; })) return Sent::not_now;
      fail_locked(id, call, ServiceError::Kind::no_memory,
                  "service '" + service + "': there is no memory for the request. " + ends.publisher->window().why_refused(), outcomes);
      return Sent::never;
    case PublishResult::invalid:
      fail_locked(id, call, ServiceError::Kind::invalid,
                  "service '" + service + "': the request has a variant that lost its value when an assignment threw; assign it again",
                  outcomes);
      return Sent::never;
  }
  return Sent::not_now;
}

void ServiceClientCore::Impl::add_locked(std::uint64_t id, Call call, Outcomes& outcomes) {
  const std::int64_t deadline = call.deadline;
  Call& added = calls.emplace(id, std::move(call)).first->second;
  try {
    waiting.push_back(id);
    if (deadline != never) deadlines.emplace(deadline, id);
  } catch (...) {
    calls.erase(id);
    throw;
  }
  ++counters.calls;
  ++(added.blocks ? blocked : awaited);
  if (closed || ends.subscription->is_closed()) {
    fail_locked(id, added, ServiceError::Kind::disconnected, "service '" + service + "': the client's node has been destroyed", outcomes);
    calls.erase(id);
    return;
  }
  send_waiting_locked(outcomes);
}

void ServiceClientCore::Impl::call(std::uint64_t id, std::shared_ptr<const void> request, std::shared_ptr<AwaitedAnswer> answer,
                                   std::chrono::nanoseconds timeout) {
  const std::int64_t deadline = deadline_after(timeout);
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    start_thread_locked();
    add_locked(id, {.request = std::move(request), .answer = std::move(answer), .deadline = deadline}, outcomes);
    if (!leading) changed.notify_all();
  }
  if (deadline != never) timer->set(deadline);
  tell(std::move(outcomes));
}

// --- ends of calls -----------------------------------------------------------------------------------------------------------------------

std::shared_ptr<AwaitedAnswer> ServiceClientCore::Impl::take_answer_locked(std::uint64_t id, Call& call) {
  if (!call.answer) return nullptr;
  if (call.deadline != never) deadlines.erase({call.deadline, id});
  --(call.blocks ? blocked : awaited);
  return std::exchange(call.answer, nullptr);
}

void ServiceClientCore::Impl::end_locked(Outcome outcome, Outcomes& outcomes) {
  ++(outcome.response ? counters.answered : counters.failed);
  if (!outcome.answer->runs_user_code() || closed) return outcomes.push_back(std::move(outcome));
  due.push_back(std::move(outcome));
  changed.notify_all();
  if (thread_leads && thread.get_id() != std::this_thread::get_id()) ends.subscription->wake();
}

void ServiceClientCore::Impl::fail_locked(std::uint64_t id, Call& call, ServiceError::Kind kind, const std::string& text,
                                          Outcomes& outcomes) {
  if (auto answer = take_answer_locked(id, call)) end_locked({std::move(answer), nullptr, ServiceError(kind, text)}, outcomes);
}

void ServiceClientCore::Impl::fail_all_locked(ServiceError::Kind kind, const std::string& text, Outcomes& outcomes) {
  for (auto& [id, call] : calls) fail_locked(id, call, kind, text, outcomes);
  calls.clear();
  waiting.clear();
  for (Provider& provider : providers) provider.in_flight = 0;
}

std::string ServiceClientCore::Impl::why_late_locked(const Call& call) const {
  if (call.provider != 0) return "its provider has not answered yet";
  if (std::ranges::none_of(providers, [](const Provider& each) { return each.reach != session::Reach::nobody; })) {
    return "no provider of it is connected";
  }
  return "its providers are busy with earlier calls of this client";
}

void ServiceClientCore::Impl::give_up(std::uint64_t id, ServiceError::Kind kind) {
  Outcomes outcomes;
  std::uint64_t provider = 0;
  std::shared_ptr<session::Subscription> subscription;
  {
    const std::lock_guard lock(mutex);
    const auto found = calls.find(id);
    if (found == calls.end() || !found->second.answer) return;
    Call& call = found->second;
    const std::string text = kind == ServiceError::Kind::timeout ? "gave no answer in time: " + why_late_locked(call)
                                                                 : "was not answered: the call was cancelled";
    fail_locked(id, call, kind, "service '" + service + "' " + text, outcomes);
    provider = call.provider;
    if (provider == 0) {
      calls.erase(found);
    } else {
      call.request.reset();
    }
    subscription = ends.subscription;
  }
  if (provider != 0 && subscription) subscription->cancel_call(provider, id);
  tell(std::move(outcomes));
}

std::int64_t ServiceClientCore::Impl::expire() {
  const std::int64_t now = os::now_ns();
  std::vector<std::uint64_t> late;
  std::int64_t next = never;
  {
    const std::lock_guard lock(mutex);
    auto deadline = deadlines.begin();
    for (; deadline != deadlines.end() && deadline->first <= now; ++deadline) late.push_back(deadline->second);
    if (deadline != deadlines.end()) next = deadline->first;
  }
  for (const std::uint64_t id : late) give_up(id, ServiceError::Kind::timeout);
  return next;
}

void ServiceClientCore::Impl::tell(Outcome& outcome) {
  if (!outcome.response) return outcome.answer->fail(*outcome.error);
  const void* const response = outcome.response.get();
  outcome.answer->answer(std::move(outcome.response), response);
}

// A caller that leads sees an answer that it receives itself. What ends its call on another thread has to wake it.
void ServiceClientCore::Impl::tell(Outcomes outcomes) {
  bool any_failed = false;
  for (Outcome& outcome : outcomes) {
    any_failed |= !outcome.response;
    tell(outcome);
  }
  if (!any_failed) return;
  const std::lock_guard lock(mutex);
  if (leading && ends.subscription) ends.subscription->wake();
}
}  // namespace sinew::detail
