// Passes what the manager tells of its domain on to whoever wants to know.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "os/fd.hpp"
#include "session/callbacks/callback_slot.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/runnable.hpp"
#include "session/io/channel.hpp"
#include "sinew/domain.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class NodeSession;

/// What the manager has told: what users hear of it, and what it takes to read what others count.
struct ToldDomain {
  DomainUpdate update;
  struct Identity {
    std::uint64_t endpoint = 0, node = 0, identity = 0;
  };
  std::vector<Identity> identities{};  ///< of `update.endpoints`
  struct CounterFile {
    std::uint64_t id = 0, node = 0;
    std::size_t size = 0;
    os::Fd file;
  };
  std::vector<CounterFile> counters{};  ///< where nodes count, for watches that want to know
};

/// One batch at a time: the manager goes on when the handler has returned, so nothing piles up here.
class DomainWatch final : public Runnable {
 public:
  using Handler = std::function<void(const ToldDomain&)>;
  /// Without a thread the handler is called by take().
  DomainWatch(std::weak_ptr<NodeSession> session, std::uint64_t id, std::shared_ptr<ExecutionThread> thread, bool wants_counters,
              Handler handler)
      : session_(std::move(session)),
        thread_(std::move(thread)),
        wants_counters_(wants_counters),
        first_id_(id),
        id_(id),
        handler_(std::move(handler)) {}

  bool wants_counters() const noexcept { return wants_counters_; }
  /// As the manager knows it now.
  std::uint64_t id() const noexcept { return id_.load(std::memory_order_relaxed); }
  /// As it was made.
  std::uint64_t first_id() const noexcept { return first_id_; }
  /// Null without one.
  const std::shared_ptr<ExecutionThread>& thread() const noexcept { return thread_; }
  /// The watch that the message is for; nothing when it is none about the domain's state.
  static std::optional<std::uint64_t> addressee(const wire::Message& message) noexcept;
  /// On the loop's thread. True when a batch ends with it, and `complete`. REQUIRES: it is for this watch.
  bool take(Channel::Input& input);
  /// Something for it may have been lost, for want of memory: it begins anew, under another id. On the loop's thread.
  void lose() noexcept;
  // For the session, which tells the manager, under a mutex of its own.
  void begin(std::uint64_t id) noexcept;
  bool is_wanted = false;  ///< until it is removed
  bool is_known = false;   ///< to the manager of now

  /// The handler does not run any more when this returns, except the call that this is called from. Idempotent.
  void close() noexcept override { handler_.close(); }

  bool has_news() const noexcept override { return raised_.load(std::memory_order_seq_cst); }  // sync: WATCH_RAISED (with take)
  bool run_some(const Turn& turn) override;

 private:
  void answer(std::uint64_t id) noexcept;
  void renew() noexcept;

  const std::weak_ptr<NodeSession> session_;
  const std::shared_ptr<ExecutionThread> thread_;
  const bool wants_counters_;
  const std::uint64_t first_id_;
  std::atomic<std::uint64_t> id_;  // relaxed: what goes with it is in collected_
  // pair WATCH_LOST / WATCH_RAISED: what is lost while a batch is told of is seen when it has been, or else it was not being told of any more.
  std::atomic<bool> lost_{false};
  ToldDomain collected_{.update = {.anew = true}};  // the loop's, but while raised_ the thread's

  // pair WATCH_RAISED: whoever has collected_ hands it over whole.
  std::atomic<bool> raised_{false};
  CallbackSlot<Handler> handler_;
};

}  // namespace sinew::session
