// Registering once more what could not be served, and what was refused.
//
// The pairs that stand are kept when both are introduced again (W82), and the others are made. It is registered under another id (W21) and the same identity before the first registration is deleted, so that its
// topic always has it, and a refusal changes nothing.
//
// What one manager took and the next one refuses, since another one was there first with another type, or with its endpoint (W69), is registered once more, too: that one may have gone by then.
#include <algorithm>
#include <new>

#include "os/clock.hpp"
#include "session/node/manager_link.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

using namespace std::chrono_literals;

// Before an interface is registered once more. What it was short of, or what was in its way, may be so for long, and each time all are introduced to it.
constexpr std::chrono::nanoseconds first_renewal = 1s, longest_renewal = 64s;

constexpr std::chrono::nanoseconds retry_pause = 100ms;  // while there is no memory

// A manager keeps its rules (denied), and its range of windows (exhausted).
bool may_pass(ErrorKind refusal) {
  return refusal != ErrorKind::denied && refusal != ErrorKind::exhausted;
}

}  // namespace

ManagerLink::Key ManagerLink::announced_as(const Key& key) const {
  const std::lock_guard lock(mutex_);
  return announced_as_locked(key);
}

ManagerLink::Key ManagerLink::announced_as_locked(const Key& key) const {
  const auto found = renewed_.find(key);
  return found == renewed_.end() ? key : Key{key.first, found->second};
}

void ManagerLink::renew(const Key& key) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.find(key);
  if (!lost_ && found != notes_.end()) renew_locked(found->second);
}

void ManagerLink::renew_locked(Note& note) noexcept {
  if (note.renew_at != IoLoop::never) return;
  const std::int64_t now = os::now_ns();
  const bool was_in_vain = now - note.renewed_at < 2 * note.renewal_pause.count();
  note.renewal_pause = was_in_vain ? std::min(2 * note.renewal_pause, longest_renewal) : first_renewal;
  renew_at_locked(note, now + note.renewal_pause.count());
}

void ManagerLink::renew_now(const Key& key) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.find(key);
  if (lost_ || found == notes_.end() || found->second.renew_at == IoLoop::never) return;
  renew_at_locked(found->second, os::now_ns());
}

void ManagerLink::renew_at_locked(Note& note, std::int64_t when) noexcept {
  note.renew_at = when;
  if (when < renewal_.when) renewal_ = loop_->move(renewal_, when);
}

void ManagerLink::renew_all_due() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = os::now_ns();
  std::int64_t next = IoLoop::never;
  if (!lost_ && !stopped_.load(std::memory_order_relaxed)) {
    try {
      for (auto& [key, note] : notes_) {
        if (note.renew_at > now) {
          next = std::min(next, note.renew_at);
          continue;
        }
        // One that is being registered is introduced to all behind that.
        const bool is_decided = (note.is_answered || note.is_refused) && note.renewed_as == 0;
        if (is_decided && !note.is_withdrawn && !note.is_detached) register_again_locked(key, note);
        note.renew_at = IoLoop::never;
        note.renewed_at = now;
      }
    } catch (const std::bad_alloc&) {
      next = now + retry_pause.count();
    }
  }
  renewal_ = loop_->move(renewal_, next);
}

void ManagerLink::register_again_locked(const Key& key, Note& note) {
  Registration again = note.registration;
  const std::uint64_t id = id_of(again) = next_id(key.first);
  std::erase_if(renewed_, [&](const auto& each) {  // introductions of the one before this may be on their way
    return each.first.first == key.first && each.second == key.second && each.first.second != id_of(note.registration);
  });
  renewed_.emplace(Key{key.first, id}, key.second);
  std::visit([this](const auto& registration) { channel_->send(registration); }, again);
  note.renewed_as = id;
}

// May be tried again when it throws. Of one that was refused there is nothing to be deleted, and its window was not given.
void ManagerLink::take_over_locked(const Key& key, Note& note) {
  std::uint64_t& id = id_of(note.registration);
  if (id != key.second) {
    if (note.is_answered) tell_deleted_locked({key.first, id});
    id = key.second;
  }
  const wire::Window* const window = window_of(note);
  if (window && note.is_answered) channel_->send(wire::WindowReleased{*window});  // it is held once for each
  if (note.memory > 0) channel_->try_send(wire::MemoryMapped{id, note.memory});
  note.renewed_as = 0;
  note.is_told = note.is_answered = true;
  note.is_refused = false;
  note.refusal.clear();
}

bool ManagerLink::refused(const Key& key, ErrorKind kind, const std::string& why) {
  const std::lock_guard lock(mutex_);
  const auto found = notes_.find(announced_as_locked(key));
  if (found == notes_.end()) return false;
  Note& note = found->second;
  if (note.renewed_as == key.second) {
    note.renewed_as = 0;
    if (note.is_answered) return false;  // the first one stands
  }
  if (!note.was_taken || note.is_withdrawn) {
    notes_.erase(found);
    return false;
  }
  note.is_told = false;
  note.is_refused = true;
  if (may_pass(kind)) renew_locked(note);
  if (note.refusal == why) return false;
  note.refusal = why;
  return true;
}

}  // namespace sinew::session
