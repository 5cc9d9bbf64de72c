// The readers of other users that a publisher serves: their places, how they come, and what they leave behind.
#include <algorithm>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "os/clock.hpp"
#include "session/io/trust.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher.hpp"

namespace sinew::session {
namespace {

constexpr std::int64_t look_interval = 1'000'000'000;  // at those that have yet to read

}  // namespace

bool Publisher::add_connecting(const std::shared_ptr<ForeignEnd>& end) {
  std::vector<std::shared_ptr<ForeignEnd>> read;  // let go without the mutex: each closes what its peer has sent
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return false;
    read = take_who_has_read_locked();
    if (foreign_.size() + unread_.size() < most_strangers_met) {
      if (!unread_timer_) {
        unread_timer_ = LoopTimer::create(session_->loop(), [weak = weak_from_this()] {
          const auto self = weak.lock();
          return self ? self->look_at_unread() : LoopTimer::never;
        });
      }
      unread_.reserve(most_strangers_met);  // forget() must not fail
      foreign_.push_back(end);
      count_readers_locked();
      return true;
    }
  }
  turn_away(*end, "introduced");
  return false;
}

// Who has left without reading what it was sent keeps its place: the kernel counts the descriptors among that for our user until they are read, also when this end is closed.
std::size_t Publisher::strangers_locked() const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(foreign_, [](const auto& end) { return end->has_asked(); })) + unread_.size();
}

bool Publisher::has_place_for(const ForeignEnd& end) {
  std::vector<std::shared_ptr<ForeignEnd>> read;  // likewise
  {
    const std::lock_guard lock(mutex_);
    read = take_who_has_read_locked();
    if (strangers_locked() <= most_strangers) return true;
  }
  turn_away(end, "served");
  return false;
}

void Publisher::turn_away(const ForeignEnd& end, const char* goes_on) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(turns_strangers_away_, true)) return;
  }
  base::log(base::LogLevel::warn, too_many_strangers(end.peer(), goes_on, topic()));
}

void Publisher::start_exporting(const std::shared_ptr<ForeignEnd>& end) {
  if (options_.endpoint == 0) return export_history(end, 0);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  end->send_ring(end->export_alone(topic(), options_.budget), 1);
  came_locked();
}

void Publisher::forget(const std::shared_ptr<ForeignEnd>& end) {
  const std::lock_guard lock(mutex_);
  const bool was_there = std::erase(foreign_, end) > 0;
  count_readers_locked();
  if (was_there && end->is_attached()) {
    tell_left_locked(end->endpoint(), ~std::uint64_t{0});  // nobody knows what it has taken
    if (end->is_unread()) {
      end->shut_down();
      unread_.push_back(end);
      unread_timer_->set(os::now_ns() + look_interval);
    }
  }
  if (was_there) meet_strangers_again_locked();
  status_.raise();
}

void Publisher::meet_strangers_again_locked() {
  // Not while all places are taken, as when one goes that found them so: all would be met again, and it would come and go again, for ever.
  if (strangers_locked() < most_strangers && std::exchange(turns_strangers_away_, false)) meet_readers_again();
}

std::vector<std::shared_ptr<ForeignEnd>> Publisher::take_who_has_read_locked() noexcept {
  std::vector<std::shared_ptr<ForeignEnd>> read;
  try {
    read.reserve(unread_.size());
  } catch (const std::bad_alloc&) {
    return read;  // another time
  }
  std::erase_if(unread_, [&](auto& end) {
    if (end->is_unread()) return false;
    read.push_back(std::move(end));
    return true;
  });
  return read;
}

std::int64_t Publisher::look_at_unread() {
  std::vector<std::shared_ptr<ForeignEnd>> read;
  const std::lock_guard lock(mutex_);
  read = take_who_has_read_locked();
  meet_strangers_again_locked();
  return unread_.empty() ? LoopTimer::never : os::now_ns() + look_interval;
}

}  // namespace sinew::session
