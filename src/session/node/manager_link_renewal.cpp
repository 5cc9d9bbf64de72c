// Registering once more what could not be served.
//
// The pairs that stand are kept when both are introduced again (W82), and the others are made. It is registered under another id (W21) and the same identity before the first registration is deleted, so that its
// topic always has it, and a refusal changes nothing.
#include <algorithm>
#include <new>

#include "os/clock.hpp"
#include "session/node/manager_link.hpp"

namespace sinew::session {
namespace {

using namespace std::chrono_literals;

// Before an interface is registered once more. What it was short of may be so for long, and each time all are introduced to it.
constexpr std::chrono::nanoseconds first_renewal = 1s, longest_renewal = 64s;

constexpr std::chrono::nanoseconds retry_pause = 100ms;  // while there is no memory

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
  if (lost_ || found == notes_.end() || found->second.renew_at != IoLoop::never) return;
  Note& note = found->second;
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
        if (note.is_answered && note.renewed_as == 0 && !note.is_withdrawn && !note.is_detached) register_again_locked(key, note);
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

// May be tried again when it throws.
void ManagerLink::take_over_locked(const Key& key, Note& note) {
  std::uint64_t& id = id_of(note.registration);
  if (id != key.second) {
    tell_deleted_locked({key.first, id});
    id = key.second;
  }
  if (const wire::Window* const window = window_of(note)) channel_->send(wire::WindowReleased{*window});  // it is held once for each
  if (note.memory > 0) channel_->try_send(wire::MemoryMapped{id, note.memory});
  note.renewed_as = 0;
}

}  // namespace sinew::session
