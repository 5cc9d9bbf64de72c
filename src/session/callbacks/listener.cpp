#include "session/callbacks/listener.hpp"

#include <algorithm>

#include "session/callbacks/turn.hpp"
#include "session/fork.hpp"

namespace sinew::session {
namespace {

std::int64_t difference(std::uint64_t now, std::uint64_t before) noexcept {
  return static_cast<std::int64_t>(now - before);
}

}  // namespace

bool Listener::note_change(MatchedEvent& now, const MatchedEvent& told) noexcept {
  now.current_count_change = difference(now.current_count, told.current_count);
  return note_change<MatchedEvent>(now, told) || now.current_count_change != 0;
}

bool Listener::note_change(LivelinessChangedEvent& now, const LivelinessChangedEvent& told) noexcept {
  now.alive_count_change = difference(now.alive_count, told.alive_count);
  now.not_alive_count_change = difference(now.not_alive_count, told.not_alive_count);
  return now.alive_count_change != 0 || now.not_alive_count_change != 0;
}

bool Listener::note_change(MessageLostEvent& now, const MessageLostEvent& told) noexcept {
  // Reasons are counted one after the other: what was read in between must not make one go back.
  now.pushed_out.total_count = std::max(now.pushed_out.total_count, told.pushed_out.total_count);
  note_change(now.pushed_out, told.pushed_out);
  note_change(now.withdrawn, told.withdrawn);
  note_change(now.expired, told.expired);
  return note_change<MessageLostEvent>(now, told);
}

void Listener::raise() noexcept {
  if (!raised_.exchange(true, std::memory_order_acq_rel)) thread_->doorbell().ring();  // sync: RAISED (with run_some)
}

bool Listener::run_some(const Turn& turn) {
  // Before anything is looked at: what changes later raises again.
  if (!raised_.exchange(false, std::memory_order_acq_rel)) return false;  // sync: RAISED (with raise)
  tellers_.run([&](const Tellers& tellers) {
    for (const auto& tell : tellers) {
      if (tellers_.is_closed() || forked()) break;
      if (turn.has_ended()) {
        // For those that were not called.
        raised_.store(true, std::memory_order_release);  // sync: RAISED (with has_news)
        break;
      }
      tell();
    }
  });
  return has_news();
}

bool any(const PublisherEvents& events) noexcept {
  return events.matched || events.incompatible_qos || events.deadline_missed || events.liveliness_lost || events.detached;
}

bool any(const SubscriberEvents& events) noexcept {
  return events.matched || events.incompatible_qos || events.deadline_missed || events.liveliness_changed || events.message_lost ||
         events.detached;
}

}  // namespace sinew::session
