// What a client knows of its providers, and which call goes to which of them.
#include <algorithm>
#include <new>
#include <utility>

#include "api/service_client_core.hpp"
#include "base/call_back.hpp"
#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"

namespace sinew::detail {
namespace {

constexpr std::int64_t never = session::LoopTimer::never;
constexpr std::int64_t retry_pause = 5'000'000, long_pause = 100'000'000, longest_pause = 3'200'000'000;

}  // namespace

std::int64_t deadline_after(std::chrono::nanoseconds timeout) {
  return os::later(os::now_ns(), std::max<std::int64_t>(timeout.count(), 0));
}

// --- what publisher and subscription tell ----------------------------------------------------------------------------------------------

void ServiceClientCore::Impl::peers_changed() noexcept {
  look_in(0);
}

void ServiceClientCore::Impl::look_in(std::int64_t pause) noexcept {
  is_to_look.exchange(true, std::memory_order_acq_rel);  // sync: TO_LOOK (with look_at_time)
  timer->set(os::now_ns() + pause);
}

void ServiceClientCore::Impl::peer_left(std::uint64_t endpoint, std::uint64_t taken, bool) noexcept {
  const std::lock_guard lock(noting);
  try {
    left.emplace_back(endpoint, taken);
  } catch (const std::bad_alloc& shortage) {
    base::log(base::LogLevel::error, shortage.what());  // then it may have taken everything
  }
}

void ServiceClientCore::Impl::messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept {
  note_rejected({.endpoint = endpoint, .count = count});
}

void ServiceClientCore::Impl::ready() {
  {
    const std::lock_guard lock(mutex);
    is_ready = true;
  }
  is_to_look.exchange(true, std::memory_order_acq_rel);  // sync: TO_LOOK (with look_at_time)
  timer->set(look_at_time());
}

bool ServiceClientCore::Impl::fail_if_detached_locked(Outcomes& outcomes) {
  if (!ends.publisher->status().is_detached()) return false;
  fail_all_locked(ServiceError::Kind::disconnected,
                  {" is gone, and this client, a ghost, does not keep it: create it again when it is there"}, outcomes);
  return true;
}

void ServiceClientCore::Impl::look_again() {
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    if (!is_ready || closed) return;
    if (!fail_if_detached_locked(outcomes)) {
      refresh_locked(outcomes);
      memory_pause = std::min(2 * memory_pause, longest_pause);
      send_waiting_locked(outcomes);
    }
  }
  tell(std::move(outcomes));
}

// --- time --------------------------------------------------------------------------------------------------------------------------------

// What the timer does; returns when to do it again.
std::int64_t ServiceClientCore::Impl::look_at_time() {
  const std::int64_t now = os::now_ns();
  std::int64_t again = cancel_again() ? now + retry_pause : never;
  // First: what is too late is not sent any more.
  const auto next_late = [&]() -> std::uint64_t {
    const std::lock_guard lock(mutex);
    if (deadlines.empty()) return 0;
    const auto [deadline, id] = *deadlines.begin();
    if (deadline > now) {
      again = std::min(again, deadline);
      return 0;
    }
    deadlines.erase(deadlines.begin());
    return id;
  };
  bool is_any_late = false;
  for (std::uint64_t late = next_late(); late != 0; late = next_late()) {
    end_early(late, ServiceError::Kind::timeout, false);
    is_any_late = true;
  }
  // sync: TO_LOOK (with look_in)
  if (is_to_look.exchange(false, std::memory_order_acq_rel) || is_any_late) {  // first: what changes from now on is told again
    try {
      look_again();
      const bool has_to_again = is_to_look.load(std::memory_order_relaxed);  // relaxed: what is wanted meanwhile is looked at later
      if (!has_to_again) look_is_short.store(false, std::memory_order_relaxed);
    } catch (const std::exception& shortage) {
      say_short(shortage, look_is_short);
      is_to_look.exchange(true, std::memory_order_acq_rel);  // sync: TO_LOOK (with look_at_time)
      again = std::min(again, now + retry_pause);
    }
  }
  return again;
}

// --- providers ---------------------------------------------------------------------------------------------------------------------------

ServiceClientCore::Impl::Provider* ServiceClientCore::Impl::find_locked(std::uint64_t endpoint) noexcept {
  const auto found = std::ranges::find(providers, endpoint, &Provider::endpoint);
  return found == providers.end() ? nullptr : &*found;
}

// True when there was a note that it, or we, have lost nobody knows what until now.
bool ServiceClientCore::Impl::forget_lost(std::uint64_t endpoint) noexcept {
  const std::lock_guard lock(noting);
  return std::erase_if(rejected, [&](const Rejected& each) { return each.call == 0 && each.endpoint == endpoint; }) > 0;
}

// A provider is one that reads our requests and whose answers reach us. It has gone when neither is so, or, where it does not matter how many requests it has taken, when its answers do not.
bool ServiceClientCore::Impl::is_gone_locked(const Provider& provider, const std::vector<session::Peer>& readers,
                                             const std::vector<session::Subscription::Source>& sources) const {
  if (provider.in_flight == 0) return true;
  if (leading && leader != std::this_thread::get_id()) return false;  // who may have its answer in hand
  if (std::ranges::any_of(sources, [&](const auto& source) { return source.endpoint == provider.endpoint; })) return false;
  return (provider.endpoint & at_most_once_bit) == 0 ||
         std::ranges::none_of(readers, [&](const auto& reader) { return reader.endpoint == provider.endpoint; });
}

// When it throws, for want of memory, nothing has changed.
void ServiceClientCore::Impl::refresh_locked(Outcomes& outcomes) {
  const std::vector<session::Peer> readers = ends.publisher->peers();
  const std::vector<session::Subscription::Source> sources = ends.subscription->sources();
  providers.reserve(providers.size() + readers.size());
  {
    const std::lock_guard lock(noting);
    for (const auto& [endpoint, taken] : left) {
      if (Provider* const provider = find_locked(endpoint)) provider->taken = taken;
    }
    left.clear();
  }
  for (Provider& provider : providers) provider.before = std::exchange(provider.reach, session::Reach::nobody);
  for (const session::Peer& reader : readers) {
    const bool answers =
        std::ranges::any_of(sources, [&](const auto& source) { return source.endpoint == reader.endpoint && source.is_served; });
    if (!answers) continue;
    Provider* provider = find_locked(reader.endpoint);
    if (!provider) provider = &providers.emplace_back(Provider{.endpoint = reader.endpoint});
    // What was lost before it was connected, or connected anew, concerns none of the calls that it will have.
    const bool is_new = provider->before == session::Reach::nobody && provider->reach == session::Reach::nobody;
    if (is_new && forget_lost(reader.endpoint)) lose_locked(*provider, 0, outcomes);
    if (provider->reach == session::Reach::nobody) provider->reach = reader.reach;
  }
  settled = true;
  for (auto provider = providers.begin(); provider != providers.end();) {
    if (provider->reach != session::Reach::nobody) {
      ++provider;
    } else if (is_gone_locked(*provider, readers, sources)) {
      resolve_locked(*provider, true, outcomes);
      provider = providers.erase(provider);
    } else {
      resolve_locked(*provider, false, outcomes);
      settled = false;
      ++provider;
    }
  }
  // Who leads settles it when everything was received.
  if (!settled && leading && leader != std::this_thread::get_id()) ends.subscription->wake();
  try {
    ends.subscription->let_go_of_departed([this](std::uint64_t endpoint) {
      const Provider* const provider = find_locked(endpoint);
      return !provider || provider->in_flight == 0;
    });
  } catch (const std::bad_alloc& shortage) {  // what was decided is to be told all the same
    say_short(shortage, look_is_short);
    look_in(retry_pause);
  }
}

// What becomes of the calls of a provider that is not sent any more: when it has gone, of all, else of those that it has not taken.
void ServiceClientCore::Impl::resolve_locked(Provider& provider, bool is_gone, Outcomes& outcomes) noexcept {
  const bool is_once = (provider.endpoint & at_most_once_bit) != 0;
  for (auto each = calls.begin(); each != calls.end();) {
    auto& [id, call] = *each;
    const bool is_taken = session::may_be_taken(call.sequence, provider.taken);
    if (call.provider != provider.endpoint || (is_taken && !is_gone)) {
      ++each;
      continue;
    }
    if (provider.in_flight > 0) --provider.in_flight;
    if (!call.awaited.empty() && !(is_once && is_taken)) {
      wait_again_locked(id, call);
      ++each;
      continue;
    }
    fail_locked(id, call, ServiceError::Kind::lost,
                {": the provider has gone before it answered, and is one that executes no request twice (at_most_once): ",
                 "the request may have been executed, or not"},
                outcomes);
    each = calls.erase(each);
  }
}

// In front of those that were made after it.
void ServiceClientCore::Impl::wait_again_locked(std::uint64_t id, Call& call) noexcept {
  call.place = call.awaited.begin();
  waiting.splice(std::ranges::find_if(waiting, [id](const Outcome& other) { return other.id > id; }), call.awaited);
  call.provider = call.sequence = 0;
  ++counters.resent;
}

ServiceClientCore::Impl::Provider* ServiceClientCore::Impl::next_provider_locked() noexcept {
  for (std::size_t looked = 0; looked < providers.size(); ++looked) {
    Provider& provider = providers[(turn + looked) % providers.size()];
    if (provider.reach == session::Reach::nobody || provider.in_flight >= most_calls(provider.reach)) continue;
    turn = (turn + looked) % providers.size() + 1;
    return &provider;
  }
  return nullptr;
}

// --- sending -----------------------------------------------------------------------------------------------------------------------------

void ServiceClientCore::Impl::send_waiting_locked(Outcomes& outcomes) noexcept {
  while (!waiting.empty()) {
    const std::uint64_t id = waiting.front().id;
    Provider* const provider = next_provider_locked();
    if (!provider) return;
    const Sent sent = send_locked(id, calls.find(id)->second, *provider, outcomes);
    if (sent == Sent::not_now) return;
    if (sent == Sent::never) calls.erase(id);
  }
}

// Loans that wait have the memory that others need, until they have been answered. False when there are none.
bool ServiceClientCore::Impl::put_loan_first_locked() noexcept {
  const auto is_loan = [this](const Outcome& each) { return calls.find(each.id)->second.request.in_window > 0; };
  const auto loan = std::ranges::find_if(waiting, is_loan);
  if (loan == waiting.end()) return false;
  waiting.splice(waiting.begin(), waiting, loan);
  return true;
}

ServiceClientCore::Impl::Sent ServiceClientCore::Impl::send_locked(std::uint64_t id, Call& call, Provider& provider,
                                                                   Outcomes& outcomes) noexcept {
  std::uint64_t sequence = 0;
  auto result = PublishResult::no_memory;
  std::string why;
  try {
    result = ends.sends->send_shared(provider.endpoint, call.request, &sequence, &why);
  } catch (const std::exception& shortage) {
    base::log(base::LogLevel::error, shortage.what());  // it was not sent
  }
  switch (result) {
    case PublishResult::published:
      memory_pause = 0;
      call.provider = provider.endpoint;
      call.sequence = sequence;
      call.awaited.splice(call.awaited.end(), waiting, call.place);
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
      if (std::ranges::any_of(providers, [](const Provider& each) { return each.in_flight > 0; })) {
        // One that is answered may give its own room back only then. To try is to copy a part of it, in vain.
        memory_pause = std::max(memory_pause, long_pause);
        look_in(memory_pause);
        return Sent::not_now;
      }
      if (call.request.in_window == 0 && put_loan_first_locked()) return Sent::elsewhere;
      if (ends.publisher->is_kept_by_readers()) {  // a provider lets go of a request a moment after it has answered it
        look_in(retry_pause);
        return Sent::not_now;
      }
      fail_locked(id, call, ServiceError::Kind::no_memory, {": there is no memory for the request. ", reason_in(why)}, outcomes);
      return Sent::never;
    case PublishResult::invalid:
      fail_locked(id, call, ServiceError::Kind::invalid, {": the request cannot be sent: ", why}, outcomes);
      return Sent::never;
  }
  return Sent::not_now;
}

// When it throws, the call was not made.
void ServiceClientCore::Impl::add_locked(std::uint64_t id, Call call, std::shared_ptr<AwaitedAnswer> answer, Outcomes& outcomes) {
  const std::int64_t deadline = call.deadline;
  Outcomes outcome;
  outcome.push_back({.id = id, .answer = std::move(answer)});
  Call& added = calls.emplace(id, std::move(call)).first->second;
  try {
    if (deadline != never) deadlines.emplace(deadline, id);
  } catch (...) {
    calls.erase(id);
    throw;
  }
  added.place = outcome.begin();
  waiting.splice(waiting.end(), outcome);
  ++counters.calls;
  ++(added.blocks ? blocked : awaited);
  if (closed || ends.subscription->is_closed()) {
    fail_locked(id, added, ServiceError::Kind::disconnected, {": the client's node has been destroyed"}, outcomes);
    calls.erase(id);
    return;
  }
  if (!added.request.object) {
    fail_locked(id, added, ServiceError::Kind::invalid, {": there is no request, for its loan was moved from; make one for each call"},
                outcomes);
    calls.erase(id);
    return;
  }
  send_waiting_locked(outcomes);
}

void ServiceClientCore::Impl::call(std::uint64_t id, SharedMessage request, std::shared_ptr<AwaitedAnswer> answer,
                                   std::chrono::nanoseconds timeout) {
  const std::int64_t deadline = deadline_after(timeout);
  const auto kept = kept_of(request);
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    start_thread_locked();
    add_locked(id, {.request = std::move(request), .deadline = deadline}, std::move(answer), outcomes);
    if (!leading) changed.notify_all();
  }
  SINEW_POINT("service.called");
  if (deadline != never) timer->set(deadline);
  tell(std::move(outcomes));
}

// --- ends of calls -----------------------------------------------------------------------------------------------------------------------

// The call's outcome, for whoever decides it; none: nobody waits for it any more.
ServiceClientCore::Impl::Outcomes ServiceClientCore::Impl::take_locked(std::uint64_t id, Call& call) noexcept {
  Outcomes taken;
  if (call.provider == 0) {
    taken.splice(taken.end(), waiting, call.place);
  } else {
    taken.swap(call.awaited);
  }
  if (taken.empty()) return taken;
  taken.front().request = kept_of(call.request);
  call.request = {};  // a loan makes room at once, for what waits
  if (call.deadline != never) deadlines.erase({call.deadline, id});
  --(call.blocks ? blocked : awaited);
  return taken;
}

void ServiceClientCore::Impl::end_locked(Outcomes ended, Outcomes& outcomes) noexcept {
  const Outcome& outcome = ended.front();
  ++(outcome.response ? counters.answered : counters.failed);
  const bool is_due = outcome.answer->runs_user_code() && !closed;
  Outcomes& to = is_due ? due : outcomes;
  to.splice(to.end(), ended);
  if (!is_due) return;
  changed.notify_all();
  if (thread_leads && thread.get_id() != std::this_thread::get_id()) ends.subscription->wake();
}

ServiceError ServiceClientCore::Impl::error_with(ServiceError::Kind kind, Words words) const noexcept {
  try {
    std::string text = "service '" + service + "'";
    for (const std::string_view word : words) text += word;
    return {kind, text};
  } catch (const std::bad_alloc&) {
    return in_short[static_cast<std::size_t>(kind)];
  }
}

void ServiceClientCore::Impl::fail_locked(std::uint64_t id, Call& call, ServiceError::Kind kind, Words words, Outcomes& outcomes) noexcept {
  Outcomes ended = take_locked(id, call);
  if (ended.empty()) return;
  ended.front().error.emplace(error_with(kind, words));
  end_locked(std::move(ended), outcomes);
}

void ServiceClientCore::Impl::fail_all_locked(ServiceError::Kind kind, Words words, Outcomes& outcomes) noexcept {
  for (auto& [id, call] : calls) fail_locked(id, call, kind, words, outcomes);
  calls.clear();
  for (Provider& provider : providers) provider.in_flight = 0;
}

std::string_view ServiceClientCore::Impl::why_late_locked(const Call& call) const noexcept {
  if (call.provider != 0) return "its provider has not answered yet";
  if (std::ranges::none_of(providers, [](const Provider& each) { return each.reach != session::Reach::nobody; })) {
    return "no provider of it is connected";
  }
  return "its providers are busy with earlier calls of this client";
}

bool ServiceClientCore::Impl::give_up(std::uint64_t id, ServiceError::Kind kind, bool only_unsent) noexcept {
  if (!end_early(id, kind, only_unsent)) return false;
  Outcomes outcomes;
  {
    const std::lock_guard lock(mutex);
    send_waiting_locked(outcomes);
  }
  tell(std::move(outcomes));
  return true;
}

bool ServiceClientCore::Impl::end_early(std::uint64_t id, ServiceError::Kind kind, bool only_unsent) noexcept {
  Outcomes outcomes;
  std::uint64_t provider = 0;
  std::shared_ptr<session::Subscription> subscription;
  {
    const std::lock_guard lock(mutex);
    const auto found = calls.find(id);
    if (found == calls.end()) return false;
    Call& call = found->second;
    if (call.provider != 0 && (only_unsent || call.awaited.empty())) return false;
    provider = call.provider;
    if (kind == ServiceError::Kind::timeout) {
      fail_locked(id, call, kind, {" gave no answer in time: ", why_late_locked(call)}, outcomes);
    } else {
      fail_locked(id, call, kind, {" was not answered: the call was cancelled"}, outcomes);
    }
    if (provider == 0) calls.erase(found);
    memory_pause = 0;
    subscription = ends.subscription;
  }
  if (provider != 0 && subscription && !subscription->cancel_call(provider, id)) {
    const std::lock_guard lock(mutex);
    if (const auto found = calls.find(id); found != calls.end()) found->second.owes_cancel = any_owes_cancel = true;
    timer->set(os::now_ns() + retry_pause);
  }
  tell(std::move(outcomes));
  return true;
}

// False when all that were cancelled are known to be.
bool ServiceClientCore::Impl::cancel_again() {
  const std::lock_guard lock(mutex);
  if (!std::exchange(any_owes_cancel, false) || closed) return false;
  for (auto& [id, call] : calls) {
    if (!call.owes_cancel) continue;
    call.owes_cancel = !ends.subscription->cancel_call(call.provider, id);
    any_owes_cancel |= call.owes_cancel;
  }
  return any_owes_cancel;
}

void ServiceClientCore::Impl::tell(Outcome& outcome) {
  const auto tell_it = [&] {
    if (!outcome.response) return outcome.answer->fail(*outcome.error);
    const void* const response = outcome.response.get();
    outcome.answer->answer(std::move(outcome.response), response);
  };
  base::call_back(tell_it);
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
