#include "session/node/manager_link.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include "base/log.hpp"
#include "base/point.hpp"
#include "os/clock.hpp"
#include "os/thread.hpp"
#include "session/io/trust.hpp"
#include "session/node/manager.hpp"
#include "shm/scope.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

using namespace std::chrono_literals;

// A manager that was about to exit may have taken the connection into its grave; then another one is started.
constexpr int registration_attempts = 20;

constexpr int telling_attempts = 100;
constexpr std::chrono::milliseconds telling_pause{1};

constexpr std::chrono::nanoseconds retry_pause = 100ms;  // while the kernel has no memory for the question, or no thread

// When none can be had the pauses become longer, up to the last for those who start it or whom it refuses, and to the one before for those who only look.
constexpr std::chrono::nanoseconds first_pause = 10ms, longest_pause = 1s;
// So does the first one after managers that were not there for long, but not by much: who came late to one that lived has not seen it for long either.
constexpr std::chrono::nanoseconds short_life = 100ms, longest_first_pause = 100ms;
// By then the nodes of the topics that ghosts are for have told the new manager of them.
constexpr std::chrono::nanoseconds ghosts_wait = 1s;

std::chrono::nanoseconds longer(std::chrono::nanoseconds pause, std::chrono::nanoseconds longest) {
  return std::clamp(2 * pause, first_pause, longest);
}

bool is_of_own_user(const Channel& channel) {
  return is_own_user(os::peer_credentials(channel.socket()).uid);
}

/// " (pid 4711)". The kernel has no number for a process whose PID namespace cannot be seen from here.
std::string process_text(pid_t pid) {
  return pid != 0 ? " (pid " + std::to_string(pid) + ")" : " (a process that cannot be seen from here, as one of another container)";
}

wire::Message deletion_of(const ManagerLink::Key& key) {
  if (key.first == ManagerLink::Kind::publisher) return wire::DeletePublisher{key.second};
  return wire::DeleteSubscriber{key.second};
}

}  // namespace

ManagerLink::ManagerLink(std::string node, std::string socket_path) : node_(std::move(node)), socket_path_(std::move(socket_path)) {}

ManagerLink::~ManagerLink() {
  await_seeker();
}

void ManagerLink::await_seeker() noexcept {
  if (seeker_.joinable()) seeker_.join();
}

// --- finding it --------------------------------------------------------------------------------------------------------------------

void ManagerLink::open() {
  for (int attempt = 1;; ++attempt) {
    try {
      channel_ = register_node(reach_manager(socket_path_));
      break;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::disconnected || attempt == registration_attempts) throw;
    }
  }
  is_own_ = is_of_own_user(*channel_);
  opened_at_ = os::now_ns();
}

std::shared_ptr<Channel> ManagerLink::register_node(os::Fd socket) const {
  auto channel = std::make_shared<Channel>(std::move(socket), Channel::unlimited);
  channel->send(wire::RegisterNode{wire::protocol_version, node_});
  SINEW_POINT("manager_link.node_told");
  int looks = looks_for_the_first_answer;
  os::Poller poller;
  poller.add(channel->socket(), 0);
  for (;;) {
    const bool asked = channel->flush();
    std::optional<Channel::Input> input;
    try {
      input = channel->receive();
    } catch (const Violation& violation) {
      throw Error(ErrorKind::incompatible, "what listens at " + socket_path_ + " is no manager of this version: " + violation.what());
    } catch (const Shortage& shortage) {
      throw Error(ErrorKind::exhausted, shortage.what());
    }
    if (input) {
      if (const auto* refused = std::get_if<wire::NodeRefused>(&input->message)) throw Error(error_kind_of(refused->kind), refused->text);
      if (const auto* registered = std::get_if<wire::NodeRegistered>(&input->message)) {
        shm::add_window_range(registered->range_base, registered->range_base + registered->window_size * registered->window_count);
        return channel;
      }
      const auto* const error = std::get_if<wire::ErrorText>(&input->message);
      throw Error(error ? error_kind_of(error->kind) : ErrorKind::incompatible,
                  "the manager at " + socket_path_ + " answered with " + wire::name_of(input->message) + (error ? ": " + error->text : ""));
    }
    if (channel->state() == Channel::State::closed) {
      throw Error(ErrorKind::disconnected, "the manager at " + socket_path_ + " ended the connection before it answered");
    }
    if (looks-- == 0) {
      throw Error(ErrorKind::unavailable, "the manager at " + socket_path_ + process_text(os::peer_credentials(channel->socket()).pid) +
                                              " took the connection but did not answer within 7 s: it may be stopped, or get no processor");
    }
    if (stopped_.load(std::memory_order_relaxed)) throw Error(ErrorKind::disconnected, "node '" + node_ + "' has been destroyed");
    os::Poller::Event event;
    // Who seeks another manager for a node that is being destroyed must notice that.
    poller.wait({&event, 1}, os::now_ns() + (asked ? longest_look : retry_pause).count());
  }
}

void ManagerLink::watch(IoLoop& loop, std::weak_ptr<IoLoop::Handler> handler, std::function<void()> resumed) {
  loop_ = &loop;
  handler_ = std::move(handler);
  resumed_ = std::move(resumed);
  seek_again_ = loop.at(IoLoop::never, while_alive([this] { start_to_seek(); }));
  ghosts_come_ = loop.at(IoLoop::never, while_alive([this] { tell_ghosts(); }));
  renewal_ = loop.at(IoLoop::never, while_alive([this] { renew_all_due(); }));
  channel_->watch(loop, handler_);
}

void ManagerLink::lose(const char* why) {
  const std::chrono::nanoseconds life(os::now_ns() - opened_at_);
  pause_ = life < short_life ? longer(pause_, longest_first_pause) : 0ns;
  std::shared_ptr<Channel> ended;  // at once: a manager that goes on has our name until then
  {
    const std::lock_guard lock(mutex_);
    lost_ = true;
    ended = std::move(channel_);
    std::erase_if(notes_, [](const auto& each) { return each.second.is_withdrawn; });
    for (auto& [key, note] : notes_) {
      note.is_told = note.is_answered = note.is_refused = false;
      note.refusal.clear();
      note.renew_at = IoLoop::never;
      note.renewed_as = 0;
      id_of(note.registration) = key.second;
    }
    renewed_.clear();
  }
  if (ended) ended->unwatch();  // else the next one was lost before it was taken
  ended.reset();
  start_to_seek();
  // Last: there may be no memory to say it.
  base::log(base::LogLevel::warn, "node '" + node_ + "' lost its manager at " + socket_path_ + ": " + why +
                                      "; what is connected stays connected, and it seeks the next one");
}

void ManagerLink::start_to_seek() {
  seek_again_ = loop_->move(seek_again_, IoLoop::never);
  if (stopped_.load(std::memory_order_relaxed)) return;
  await_seeker();  // it has found one, and ends
  try {
    seeker_ = os::start_thread("sinew-seek", [this] { seek(); });
  } catch (const std::exception&) {
    seek_again_ = loop_->move(seek_again_, os::now_ns() + retry_pause.count());
  }
}

void ManagerLink::seek() {
  pause(pause_);
  for (std::chrono::nanoseconds next = pause_; !stopped_.load(std::memory_order_relaxed); pause(next)) {
    const bool starts = is_own();  // another user's is not ours to start
    bool is_there = false;
    try {
      if (std::optional<os::Fd> socket = starts ? reach_manager(socket_path_) : find_manager(socket_path_)) {
        is_there = true;
        const std::shared_ptr<Channel> channel = register_node(std::move(*socket));
        SINEW_POINT("manager_link.registered");
        return loop_->post(while_alive([this, channel] { resume(channel); }));
      }
    } catch (const std::exception& error) {
      note_trouble(error.what());
    }
    next = longer(next, starts || is_there ? longest_pause : longest_look);
  }
}

bool ManagerLink::is_own() const {
  const std::lock_guard lock(mutex_);
  return is_own_;
}

// It is seen at once when there is nothing to be sought any more.
void ManagerLink::pause(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  woken_.wait_for(lock, time, [this] { return stopped_.load(std::memory_order_relaxed); });
}

void ManagerLink::note_trouble(const char* what) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (trouble_ == what) return;
    trouble_ = what;
    base::log(base::LogLevel::warn, "node '" + node_ + "' is without a manager: " + trouble_);
  } catch (const std::bad_alloc&) {
    return;
  }
}

std::function<void()> ManagerLink::while_alive(std::function<void()> task) const {
  return [alive = handler_, task = std::move(task)] {
    if (const auto session = alive.lock()) task();
  };
}

void ManagerLink::resume(const std::shared_ptr<Channel>& channel) {
  opened_at_ = os::now_ns();
  try {
    const bool own = is_of_own_user(*channel);
    const std::lock_guard lock(mutex_);
    if (stopped_.load(std::memory_order_relaxed)) return;
    channel_ = channel;
    is_own_ = own;
    for (const CounterFile& counters : counters_) tell_locked(counters);
    for (auto& [key, note] : notes_) {
      if (!is_ghost(note)) tell_locked(note);
    }
    channel->watch(*loop_, handler_);
    lost_ = false;
    ++managers_;
    trouble_.clear();
  } catch (const std::exception& error) {
    return lose(error.what());
  }
  ghosts_come_ = loop_->move(ghosts_come_, opened_at_ + ghosts_wait.count());
  resumed_();
  base::log(base::LogLevel::info, "node '" + node_ + "' has a manager again");
}

void ManagerLink::tell_ghosts() {
  ghosts_come_ = loop_->move(ghosts_come_, IoLoop::never);
  try {
    const std::lock_guard lock(mutex_);
    if (lost_) return;
    for (auto& [key, note] : notes_) {
      if (!note.is_told && !note.is_refused && !note.is_detached) tell_locked(note);
    }
  } catch (const std::bad_alloc&) {
    ghosts_come_ = loop_->move(ghosts_come_, os::now_ns() + retry_pause.count());
  }
}

bool ManagerLink::has_sent_all() noexcept {
  try {
    const std::lock_guard lock(mutex_);
    return !channel_ || channel_->flush();
  } catch (const std::exception&) {
    return false;
  }
}

void ManagerLink::stop() noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_.exchange(true, std::memory_order_relaxed)) return;
    woken_.notify_all();
  }
  tell(wire::Goodbye{});
  SINEW_POINT("manager_link.goodbye_said");
  // The loop, which would send what the kernel had no memory for, ends now; and interfaces that outlive the node keep the socket, and so its name.
  for (int attempt = 0; attempt < telling_attempts && !has_sent_all(); ++attempt) os::sleep_for(telling_pause);
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->unwatch();
}

// --- telling it --------------------------------------------------------------------------------------------------------------------

std::uint64_t ManagerLink::manager() const {
  const std::lock_guard lock(mutex_);
  return lost_ ? 0 : managers_;
}

std::string ManagerLink::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

// A manager that is told the rest but not this would take the rest for a violation, or go on believing what is not so: a shortage of memory is given a moment to pass, and then the session ends.
template <class Tell>
bool ManagerLink::insist(Tell tell) noexcept {
  for (int attempt = 0; attempt < telling_attempts; ++attempt) {
    try {
      const std::lock_guard lock(mutex_);
      const bool is_told = tell();
      if (is_told) is_short_.store(false, std::memory_order_relaxed);
      return is_told;
    } catch (const std::bad_alloc&) {
      if (!is_short_.exchange(true, std::memory_order_relaxed)) {
        base::log(base::LogLevel::error, "node: no memory for what its manager is to be told, trying again");
      }
      os::sleep_for(telling_pause);
    } catch (const std::exception& error) {
      base::log(base::LogLevel::error, error.what());
      break;
    }
  }
  const std::lock_guard lock(mutex_);
  if (channel_) os::shut_down(channel_->socket());  // the loop finds it closed
  return false;
}

bool ManagerLink::send(const wire::Message& message) {
  const std::lock_guard lock(mutex_);
  if (channel_) channel_->send(message);
  return channel_ != nullptr;
}

bool ManagerLink::tell(const wire::Message& message) noexcept {
  return insist([&] {
    if (channel_) channel_->send(message);
    return channel_ != nullptr;
  });
}

bool ManagerLink::is_ghost(const Note& note) {
  return std::visit([](const auto& registration) { return registration.ghost != wire::Ghost::no; }, note.registration);
}

std::uint64_t& ManagerLink::id_of(Registration& registration) {
  return std::visit([](auto& each) -> std::uint64_t& { return each.id; }, registration);
}

wire::Window* ManagerLink::window_of(Note& note) {
  auto* const publisher = std::get_if<wire::RegisterPublisher>(&note.registration);
  return publisher && publisher->window != wire::Window{} ? &publisher->window : nullptr;
}

void ManagerLink::tell_locked(Note& note) {
  const auto tell_all = [&](const auto& registration) {
    channel_->send(registration);
    if (note.memory > 0) channel_->send(wire::MemoryMapped{registration.id, note.memory});
  };
  std::visit(tell_all, note.registration);
  SINEW_POINT("manager_link.interface_told");
  note.is_told = true;
}

void ManagerLink::tell_locked(const CounterFile& counters) {
  const int descriptor = counters.file->get();
  channel_->send(wire::Counters{counters.size}, {&descriptor, 1});
}

void ManagerLink::tell_counters(const std::shared_ptr<const os::Fd>& file, std::uint32_t size) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    counters_.push_back({file, size});
    if (!lost_ && !stopped_.load(std::memory_order_relaxed)) tell_locked(counters_.back());
  } catch (const std::exception& error) {
    base::log(base::LogLevel::warn, "some of what node '" + node_ + "' counts is not shown:");
    base::log(base::LogLevel::warn, error.what());
  }
}

void ManagerLink::announce(const Key& key, Registration registration) {
  const std::lock_guard lock(mutex_);
  if (stopped_.load(std::memory_order_relaxed)) throw Error(ErrorKind::disconnected, "node '" + node_ + "' has been destroyed");
  const auto note = notes_.try_emplace(key, Note{.registration = std::move(registration)}).first;
  if (lost_) return;
  try {
    tell_locked(note->second);
  } catch (...) {
    notes_.erase(note);
    throw;
  }
}

// What its node withdrew before the manager had answered is withdrawn now: there would have been nothing to be deleted if it was refused.
ManagerLink::Answer ManagerLink::registered(const Key& key, const wire::Window& window) {
  Answer answer = Answer::expected;
  insist([&] {
    const auto note = notes_.find(announced_as_locked(key));
    const bool is_second = note != notes_.end() && note->second.renewed_as == key.second;
    if (note == notes_.end() || (is_second && note->second.is_withdrawn)) {
      answer = Answer::unexpected;
      return false;
    }
    if (auto* const publisher = std::get_if<wire::RegisterPublisher>(&note->second.registration)) {
      if (publisher->window == wire::Window{}) publisher->window = window;
      if (publisher->window != window) answer = Answer::violation;
    }
    if (is_second) {
      take_over_locked(key, note->second);
      return true;
    }
    note->second.is_answered = note->second.was_taken = true;
    if (note->second.is_withdrawn) tell_withdrawn_locked(note);
    return true;
  });
  return answer;
}

void ManagerLink::detached(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto note = notes_.find(announced_as_locked(key)); note != notes_.end()) note->second.is_detached = true;
}

void ManagerLink::withdraw(const Key& key) noexcept {
  insist([&] {
    const auto note = notes_.find(key);
    if (note == notes_.end()) return false;
    note->second.is_withdrawn = true;
    if (!note->second.is_told) {
      notes_.erase(note);
    } else if (note->second.is_answered) {
      tell_withdrawn_locked(note);
    }
    return true;
  });
}

// Goodbye, which stop() says, is the deletion of all (W25).
void ManagerLink::tell_deleted_locked(const Key& key) {
  if (!stopped_.load(std::memory_order_relaxed)) channel_->send(deletion_of(key));
}

void ManagerLink::take_back(const Key& key) noexcept {
  insist([&] {
    if (channel_) tell_deleted_locked(key);
    return channel_ != nullptr;
  });
}

// May be tried again when it throws.
void ManagerLink::tell_withdrawn_locked(Notes::iterator note) {
  if (!note->second.is_deleted) tell_deleted_locked({note->first.first, id_of(note->second.registration)});
  note->second.is_deleted = true;
  const wire::Window* const window = window_of(note->second);
  if (window && !note->second.is_released) return;
  if (window) channel_->send(wire::WindowReleased{*window});
  notes_.erase(note);
}

// Where the manager has answered between the end of the waiting and this, nobody was there to use what it has registered.
void ManagerLink::forget(const Key& key) noexcept {
  insist([&] {
    const auto note = notes_.find(key);
    if (note == notes_.end()) return false;
    note->second.is_withdrawn = note->second.is_released = true;
    if (note->second.is_answered) {
      tell_withdrawn_locked(note);
    } else {
      notes_.erase(note);
    }
    return true;
  });
}

void ManagerLink::release_window(std::uint64_t publisher) noexcept {
  insist([&] {
    const auto note = notes_.find({Kind::publisher, publisher});
    if (note == notes_.end() || !note->second.is_withdrawn) return false;
    note->second.is_released = true;
    if (note->second.is_answered) tell_withdrawn_locked(note);
    return true;
  });
}

void ManagerLink::release_window(const wire::Window& window, std::uint64_t manager) noexcept {
  insist([&] {
    if (lost_ || manager != managers_) return false;
    channel_->send(wire::WindowReleased{window});
    return true;
  });
}

void ManagerLink::tell_memory(std::uint64_t publisher, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  const auto note = notes_.find({Kind::publisher, publisher});
  if (note == notes_.end()) return;
  note->second.memory = bytes;
  if (note->second.is_told) channel_->try_send(wire::MemoryMapped{id_of(note->second.registration), bytes});
}

}  // namespace sinew::session
