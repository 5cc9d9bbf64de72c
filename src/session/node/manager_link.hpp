// What a node has to do with its manager: the connection, all that the manager was told, and the next manager when one is gone.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "os/fd.hpp"
#include "session/io/channel.hpp"
#include "session/io/io_loop.hpp"
#include "sinew/error.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

/// So often, and so long each time, an answer of the manager is waited for: 5 s. Counted in looks and not by the clock: where the whole machine stands still for a while, the manager could not answer either.
inline constexpr std::chrono::nanoseconds longest_look = std::chrono::milliseconds(50);
inline constexpr int looks_for_an_answer = 100;
/// The first one: 7 s. Who starts a manager listens for it already, and gives it 5 s to get ready: whoever has connected meanwhile outlasts that, and learns from his own start what is wrong.
inline constexpr int looks_for_the_first_answer = 140;

/// Thread-safe.
///
/// Invariant: while there is a manager, it was told of exactly the interfaces that are noted here as told. So noting and telling are one step, under the mutex: what is deleted while one manager follows
/// another is never announced to the next, nor is anything deleted there that it was not told of.
class ManagerLink {
 public:
  /// Each counts its ids by itself ([W21]), without gaps, in which the manager would have to keep them. A watch is not announced: it is the node's business.
  enum class Kind : std::uint8_t { publisher, subscriber, watch };
  using Key = std::pair<Kind, std::uint64_t>;
  using Registration = std::variant<wire::RegisterPublisher, wire::RegisterSubscriber>;

  ManagerLink(std::string node, std::string socket_path);
  /// REQUIRES: stop() was called, or open() threw.
  ~ManagerLink();

  const std::string& node() const noexcept { return node_; }
  const std::string& socket_path() const noexcept { return socket_path_; }

  /// Registers the node, starting the manager when there is none. Blocks until the manager is ready, at most 5 s, and has answered, at most 7 s. Throws Error.
  void open();
  /// From now on `handler` is told of what the manager says, and `resumed` called on the loop's thread when another one has been told of all that is announced. Once. REQUIRES: the loop runs.
  void watch(IoLoop& loop, std::weak_ptr<IoLoop::Handler> handler, std::function<void()> resumed);
  /// Says goodbye, and seeks no manager any more. Idempotent.
  void stop() noexcept;
  /// Returns when nobody seeks one any more. REQUIRES: stop() was called, and the loop has stopped.
  void await_seeker() noexcept;

  // --- on the loop's thread ---
  /// REQUIRES: there is a manager.
  Channel& channel() noexcept { return *channel_; }
  /// The manager is gone, or not to be believed: ends the connection. Seeks the next one on a thread of its own.
  void lose(const char* why);
  enum class Answer : std::uint8_t { expected, unexpected, violation };
  /// The manager has registered it. Unexpected, when it is not announced any more: then take_back(). `window`: a publisher's, which must be the one that it has.
  Answer registered(const Key& key, const wire::Window& window = {});
  /// The manager has not. True when an earlier manager had, and this one has not said the same of it before: the next one is told of it again, and so is this one, after pauses as those of renew(), where the reason may pass.
  bool refused(const Key& key, ErrorKind kind, const std::string& why);
  /// The ghost is on no topic any more: the next manager is not told of it.
  void detached(const Key& key);

  // --- any thread ---
  /// The next one of its kind.
  std::uint64_t next_id(Kind kind) noexcept {
    return last_ids_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed) + 1;
  }
  std::uint64_t last_id(Kind kind) const noexcept { return last_ids_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed); }
  /// Which manager this is, counted from 1; 0: it is gone.
  std::uint64_t manager() const;
  /// The manager runs as this user, or the last one did.
  bool is_own() const;
  /// False when there is no manager to send it to. Throws as Channel::send.
  bool send(const wire::Message& message);
  /// The same for what is not answered, and cannot be taken back. What cannot be told is logged: the end of the session tells all of it.
  bool tell(const wire::Message& message) noexcept;
  /// Tells this manager, and those after it, until withdraw() or forget(). Throws as Channel::send, and std::bad_alloc.
  void announce(const Key& key, Registration registration);
  /// It is no more. Nothing happens for what is not announced.
  void withdraw(const Key& key) noexcept;
  /// The manager has registered what is not announced any more.
  void take_back(const Key& key) noexcept;
  /// Nobody waits for the manager's answer any more: if it has come, it is taken back.
  void forget(const Key& key) noexcept;
  /// Nothing of this publisher is left in its window. After withdraw().
  void release_window(std::uint64_t publisher) noexcept;
  /// That manager() has introduced this node to the window once, and nothing is mapped for the sake of it any more.
  void release_window(const wire::Window& window, std::uint64_t manager) noexcept;
  /// It is registered once more after a pause, which becomes longer when that did not help, so that the manager introduces it to all again. Nothing where that comes of itself, for want of a manager.
  void renew(const Key& key) noexcept;
  /// The same at once, where it is to be renewed: what was in the way is not any more.
  void renew_now(const Key& key) noexcept;
  /// As `key` was announced, whatever it is called at the manager since renew().
  Key announced_as(const Key& key) const;
  /// The publisher has so many bytes mapped.
  void tell_memory(std::uint64_t publisher, std::uint64_t bytes) noexcept;
  /// The node counts in this file, too: this manager is told, and those after it.
  void tell_counters(const std::shared_ptr<const os::Fd>& file, std::uint32_t size) noexcept;
  /// Why no manager could be had; empty when nothing is known to be in the way.
  std::string trouble() const;

 private:
  struct Note {
    Registration registration;
    std::uint64_t memory = 0;
    // Of the manager of now.
    bool is_told = false, is_answered = false, is_refused = false;
    std::string refusal{};                           // why it is, as it said last
    bool is_withdrawn = false, is_released = false;  // the latter: a publisher's that is out of its window. It has yet to hear one of them
    bool is_deleted = false;                         // it has heard the former
    bool was_taken = false;                          // by any manager
    bool is_detached = false;
    // It is to be registered once more then; it was then, for the last time; and so long behind what was the reason.
    std::int64_t renew_at = IoLoop::never, renewed_at = 0;
    std::chrono::nanoseconds renewal_pause{0};
    std::uint64_t renewed_as = 0;  // the id of its next registration, which has yet to be answered; 0: there is none
  };

  static bool is_ghost(const Note& note);
  /// By which this manager knows it.
  static std::uint64_t& id_of(Registration& registration);
  /// Null when it has none.
  static wire::Window* window_of(Note& note);
  std::shared_ptr<Channel> register_node(os::Fd socket) const;
  void start_to_seek();
  void seek();
  void pause(std::chrono::nanoseconds time);
  void note_trouble(const char* what) noexcept;
  std::function<void()> while_alive(std::function<void()> task) const;
  void resume(const std::shared_ptr<Channel>& channel);
  void tell_locked(Note& note);
  struct CounterFile {
    std::shared_ptr<const os::Fd> file;
    std::uint32_t size = 0;
  };
  void tell_locked(const CounterFile& counters);
  using Notes = std::map<Key, Note>;
  void tell_deleted_locked(const Key& key);
  void tell_withdrawn_locked(Notes::iterator note);
  void tell_ghosts();
  Key announced_as_locked(const Key& key) const;
  void renew_locked(Note& note) noexcept;
  void renew_at_locked(Note& note, std::int64_t when) noexcept;
  void renew_all_due();
  void register_again_locked(const Key& key, Note& note);
  void take_over_locked(const Key& key, Note& note);
  bool has_sent_all() noexcept;
  template <class Tell>
  bool insist(Tell tell) noexcept;

  const std::string node_;
  const std::string socket_path_;
  std::atomic<bool> stopped_{false};   // set under mutex_. relaxed: who misses it without looks again soon
  std::atomic<bool> is_short_{false};  // there was no memory for what it is to be told, which was said. relaxed: nothing follows from it

  // The loop's.
  IoLoop* loop_ = nullptr;
  std::weak_ptr<IoLoop::Handler> handler_;
  std::function<void()> resumed_;
  std::thread seeker_;
  IoLoop::TimerId seek_again_, ghosts_come_;  // made at the start: when they are wanted there may be no memory
  std::int64_t opened_at_ = 0;
  std::chrono::nanoseconds pause_{0};                     // before the next manager is sought
  std::array<std::atomic<std::uint64_t>, 3> last_ids_{};  // by Kind. relaxed: each is drawn once, and nothing follows from it

  mutable std::mutex mutex_;  // guards what follows; taken before the channel's
  std::condition_variable woken_;
  std::shared_ptr<Channel> channel_;  // null while lost_; changes on the loop's thread alone
  bool is_own_ = false;               // it runs as this user: then this process may start the next one
  bool lost_ = false;
  std::uint64_t managers_ = 1;
  Notes notes_;
  std::map<Key, std::uint64_t> renewed_;  // of what this manager knows by another id: as it was announced
  IoLoop::TimerId renewal_;               // made at the start, as the others
  std::vector<CounterFile> counters_;
  std::string trouble_;
};

}  // namespace sinew::session
