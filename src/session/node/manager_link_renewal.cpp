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
  const auto note = notes_.find(key);
  if (lost_ || note == notes_.end()) return;
  note->second.is_to_renew = true;
  if (renewal_.when != IoLoop::never) return;
  const std::int64_t now = os::now_ns();
  const bool was_in_vain = now - renewed_at_ < 2 * renewal_pause_.count();
  renewal_pause_ = was_in_vain ? std::min(2 * renewal_pause_, longest_renewal) : first_renewal;
  renewal_ = loop_->move(renewal_, now + renewal_pause_.count());
}

void ManagerLink::renew_all_due() {
  const std::lock_guard lock(mutex_);
  renewal_ = loop_->move(renewal_, IoLoop::never);
  renewed_at_ = os::now_ns();
  if (lost_ || stopped_.load(std::memory_order_relaxed)) return;
  try {
    for (auto& [key, note] : notes_) {
      if (!note.is_to_renew) continue;
      // One that is being registered is introduced to all behind that.
      if (note.is_answered && note.renewed_as == 0 && !note.is_withdrawn && !note.is_detached) register_again_locked(key, note);
      note.is_to_renew = false;
    }
  } catch (const std::bad_alloc&) {
    renewal_ = loop_->move(renewal_, renewed_at_ + retry_pause.count());
  }
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
