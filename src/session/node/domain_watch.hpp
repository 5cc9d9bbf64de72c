// Passes what the manager tells of its domain on to whoever wants to know.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "session/callbacks/callback_slot.hpp"
#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/runnable.hpp"
#include "sinew/domain.hpp"
#include "wire/messages.hpp"

namespace sinew::session {

class NodeSession;

/// One batch at a time: the manager goes on when the handler has returned, so nothing piles up here.
class DomainWatch final : public Runnable {
 public:
  using Handler = std::function<void(const DomainUpdate&)>;
  /// Without a thread the handler is called by take().
  DomainWatch(std::weak_ptr<NodeSession> session, std::uint64_t id, std::shared_ptr<ExecutionThread> thread, Handler handler)
      : session_(std::move(session)), thread_(std::move(thread)), first_id_(id), id_(id), handler_(std::move(handler)) {}

  /// As the manager knows it now.
  std::uint64_t id() const noexcept { return id_.load(std::memory_order_relaxed); }
  /// As it was made.
  std::uint64_t first_id() const noexcept { return first_id_; }
  /// Null without one.
  const std::shared_ptr<ExecutionThread>& thread() const noexcept { return thread_; }
  /// The watch that the message is for; nothing when it is none about the domain's state.
  static std::optional<std::uint64_t> addressee(const wire::Message& message) noexcept;
  /// On the loop's thread. True when a batch ends with it, and `complete`. REQUIRES: it is for this watch.
  bool take(const wire::Message& message);
  /// Something for it may have been lost, for want of memory: it begins anew, under another id. On the loop's thread.
  void lose() noexcept;
  // For the session, which tells the manager, under a mutex of its own.
  void begin(std::uint64_t id) noexcept;
  bool is_wanted = false;  ///< until it is removed
  bool is_known = false;   ///< to the manager of now

  /// The handler does not run any more when this returns, except the call that this is called from. Idempotent.
  void close() noexcept override { handler_.close(); }

  bool has_news() const noexcept override { return raised_.load(std::memory_order_seq_cst); }  // sync: WATCH_RAISED (with take)
  bool run_some(const std::atomic<bool>& end) override;

 private:
  void answer(std::uint64_t id) noexcept;
  void renew() noexcept;

  const std::weak_ptr<NodeSession> session_;
  const std::shared_ptr<ExecutionThread> thread_;
  const std::uint64_t first_id_;
  std::atomic<std::uint64_t> id_;  // relaxed: what goes with it is in collected_
  // pair WATCH_LOST / WATCH_RAISED: what is lost while a batch is told of is seen when it has been, or else it was not being told of any more.
  std::atomic<bool> lost_{false};
  DomainUpdate collected_{.anew = true};  // the loop's, but while raised_ the thread's

  // pair WATCH_RAISED: whoever has collected_ hands it over whole.
  std::atomic<bool> raised_{false};
  CallbackSlot<Handler> handler_;
};

}  // namespace sinew::session
