// Publishing messages.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "sinew/detail/allocation_probe.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/events.hpp"
#include "sinew/executor.hpp"
#include "sinew/ghost.hpp"
#include "sinew/message_info.hpp"
#include "sinew/msg/reflect.hpp"
#include "sinew/publish_result.hpp"

namespace sinew {

/// What becomes of older messages, and of the new one, when the publisher's memory is full: messages that no subscriber wants any more have made room already.
/// Messages that a subscriber holds, and those that a reliable keep-all subscriber has yet to take, are never touched. The first three
/// are TZC's best, medium and worst effort (III-E).
enum class WhenFull {
  withdraw,       ///< The oldest messages are withdrawn until there is room; subscribers that have yet to take them miss them.
  withdraw_some,  ///< The same, but at most PublisherOptions::withdraw_at_most for one new message; then the new one is refused.
  refuse,         ///< What was published stays; the new message is refused.
  wait,           ///< The new message waits for subscribers, at most max_blocking, also while it is being built; then it is refused.
};

struct PublisherOptions {
  /// Bytes of shared memory that this publisher may take, for messages being built, kept for subscribers, and held by them. More than the size of a window (1 to 4 GiB,
  /// the manager says) is as much as that; with 0 nothing can be published but by pointer, within the process; else at least 64 KiB. Memory is taken as it is needed, so a message that needs all of it at once is refused when it is larger.
  /// What was given back and is mapped by a subscriber that is stopped stays in memory beside it: a chunk, as a rule, and never more than as much again. So do copies for subscribers of other users, the newest 8 messages of them, also up to as much again: of messages larger than an eighth of that they may miss some, which they count, and publish() does not tell.
  std::size_t memory_budget = std::size_t{1} << 30;
  /// Bytes of it to have mapped from the start and to keep: while messages fit into them, no system call maps memory, and no page fault comes later.
  /// create_publisher throws Error(exhausted) when they cannot be had.
  std::size_t prefault = 0;
  /// Lock the memory, so that it is never written to a swap device (mlock). Needs a high enough limit of locked memory (ulimit -l): beyond it
  /// prefault throws Error(exhausted), and messages are refused as when memory is used up.
  bool lock_memory = false;
  WhenFull when_full = WhenFull::withdraw;
  /// For WhenFull::withdraw_some; at least 1.
  std::uint32_t withdraw_at_most = 3;
  /// How long publish() may wait when a reliable keep-all subscriber is a whole ring (1024 messages) behind, or for WhenFull::wait; 0 or less: never; nanoseconds::max(): for ever. On the execution thread that runs that subscriber's callback it waits for itself, and in vain.
  std::chrono::nanoseconds max_blocking = std::chrono::milliseconds(100);
  /// Which execution thread calls the event handlers, see Executor.
  ThreadId execution_thread = 0;
  /// A ghost is only there as long as others are. When it is detached (PublisherEvents::detached, PublisherStatistics::detached), publish() returns closed.
  Ghost ghost = Ghost::no;
  /// What to call when something happens beside publishing.
  PublisherEvents events = {};
};

template <class T>
class Publisher;

/// A message being built where subscribers will read it; unique ownership, as a unique_ptr. Move-only. Not thread-safe; may be moved to another thread.
///
/// Storage that the message allocates goes into the publisher's shared memory when the growth happens
/// * inside an expression that begins with `loan->`, as `loan->data.resize(n)`, or
/// * inside `loan.build([&](T& message) { ... })`, the way to go for more than a line.
/// Everywhere else (`*loan`, a reference kept from an expression before, the right side of `loan->data = make()`, which C++ evaluates before the left) storage comes from the ordinary heap, and
/// publish() copies it in: slower, never wrong, and visible in statistics().bytes_copied.
/// What lies in shared memory is no malloc()'s: malloc_usable_size(), realloc() and free() must not see its address.
/// Nor must it be moved into a module that replaces operator delete by one of its own, as a plugin may that was loaded with RTLD_LOCAL.
/// A temporary made inside such an expression lives in shared memory too; so does whatever a function called inside of it keeps.
/// A message with maps is built on the ordinary heap as a whole, whose nodes other processes could not follow; they get it as a stream, written once for all of them.
template <class T>
class Loan {
 public:
  /// None, as one that was moved from.
  Loan() noexcept = default;
  Loan(Loan&& other) noexcept : core_(std::move(other.core_)), object_(std::exchange(other.object_, nullptr)) {}
  Loan& operator=(Loan&& other) noexcept {
    if (this != &other) {
      reset();
      core_ = std::move(other.core_);
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  /// An unpublished message is destroyed and its memory used again.
  ~Loan() { reset(); }

  /// The expression's temporary: allocates in place until the end of the full expression.
  class Access {
   public:
    T* operator->() const noexcept { return object_; }

   private:
    friend class Loan;
    Access(detail::PublisherCore& core, T* object) noexcept : scope_(core, detail::builds_in_place<T>(core)), object_(object) {}
    detail::AllocateInPlace scope_;
    T* object_;
  };
  /// REQUIRES: there is one. Not on a temporary loan: what it gives access to would be gone.
  Access operator->() & { return Access(*core_, object_); }
  Access operator->() && = delete;

  /// The message; allocates as usual.
  T& operator*() & noexcept { return *object_; }
  const T& operator*() const& noexcept { return *object_; }

  /// Runs `fill(T&)` with this thread allocating in place; returns what it returns. Exceptions pass through, the loan stays usable.
  /// Do not suspend a coroutine inside. Not on a temporary loan: what was built would be gone.
  template <class Fill>
  decltype(auto) build(Fill&& fill) & {
    const detail::AllocateInPlace scope(*core_, detail::builds_in_place<T>(*core_));
    return std::forward<Fill>(fill)(*object_);
  }
  template <class Fill>
  decltype(auto) build(Fill&& fill) && = delete;

  /// False when there is none: also after it was moved from or published.
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// For the library.
  static Loan make(std::shared_ptr<detail::PublisherCore> core) {
    const bool in_place = detail::builds_in_place<T>(*core);
    void* const memory = core->allocate_object(in_place);
    try {
      const detail::AllocateInPlace scope(*core, in_place);
      T* const object = ::new (memory) T{};
      return Loan(std::move(core), object);
    } catch (...) {
      core->free_object(memory);
      throw;
    }
  }
  T* release() noexcept {
    core_.reset();  // who still has the loan keeps no publisher
    return std::exchange(object_, nullptr);
  }

 private:
  Loan(std::shared_ptr<detail::PublisherCore> core, T* object) noexcept : core_(std::move(core)), object_(object) {}
  void reset() noexcept {
    T* const object = std::exchange(object_, nullptr);
    if (!object || detail::PublisherCore::in_forked_child()) return;
    object->~T();
    core_->free_object(object);
  }

  std::shared_ptr<detail::PublisherCore> core_;
  T* object_ = nullptr;
};

/// Made by Node::create_publisher. Thread-safe: publish() and loan() may be called from any thread, also inside callbacks.
/// Messages of one thread arrive in the order of its publish() calls.
///
/// publish() may wait, in each of its forms: for another thread's publish() of the same publisher; for a reliable keep-all subscriber that is a whole ring behind, at most max_blocking; and with WhenFull::wait
/// for memory, at most max_blocking in vain. Where subscribers have yet to unmap too much of what was given back (memory_budget), it waits for them with any WhenFull, 0.1 s and
/// no longer than max_blocking, but not again before they have unmapped some; so does who builds a loan. For subscribers in other processes it allocates nothing on the heap, once its lists have grown; for those
/// in this one what a shared pointer needs, and the copies that it speaks of.
///
/// When the publisher is destroyed, or its process dies, messages that were published stay
/// readable: for subscribers that hold them, and for subscribers that were connected and have yet to take them.
template <class T>
class Publisher {
 public:
  /// An empty message, value-initialised, to be filled in shared memory. Where there is no shared memory for it, it is built on the heap, and publish() says no_memory if there still is none; throws
  /// std::bad_alloc when the heap has none either. System calls only when the publisher's memory must grow. A loan keeps the publisher: that is there, with its topic, until both are gone.
  Loan<T> loan() { return Loan<T>::make(core_); }

  /// Makes the message visible to all subscribers, in place: no byte of it is copied if all of it was built inside the loan, and it has no maps.
  /// Subscribers of this process share it as it is; each that takes `std::unique_ptr<T>` gets a copy.
  /// REQUIRES: the loan is this publisher's. `invalid` when it holds no message. At most one wake-up system call per sleeping subscriber thread. For subscribers of other
  /// users, all of them together, the message is copied once, after everybody else was served.
  PublishResult publish(Loan<T>&& message) { return core_->publish_object(message.release()); }

  /// Copies the message once into shared memory, however many subscribers there are in other processes, and publishes that. Subscribers of this process get it from there, or one copy
  /// that they share; who wants to own it gets one more. The caller keeps its object.
  PublishResult publish(const T& message) { return core_->publish_copy(std::addressof(message)); }

  /// Gives the message away: to subscribers of this process as the object it is, for other processes copied once into shared memory. The first subscriber here that takes
  /// `std::unique_ptr<T>` gets this very object and the others copies; where none does, all share it. Copies, by who subscribes here: N that own: N-1; N that share: none; both: one for each that owns. With subscribers in other processes those that share use their copy.
  /// `invalid` when it is null. Within this process nothing of that depends on the size of the message, but for the copies.
  PublishResult publish(std::unique_ptr<T> message) { return core_->publish_owned(message.release()); }

  /// The same for a message that others keep, and nobody changes any more: subscribers of this process that share get this very object, each that owns gets a copy. Whoever lets go of it last, a thread of the library also, runs its deleter, which must not wait for callbacks nor destroy nodes.
  /// `invalid` when it is null.
  PublishResult publish(std::shared_ptr<const T> message) { return core_->publish_shared(std::move(message)); }

  /// Shows that the publisher is alive without publishing anything, for Liveliness::manual_by_topic. A lock and no system call. With Liveliness::automatic it changes nothing.
  void assert_liveliness() { core_->assert_liveliness(); }

  PublisherStatistics statistics() const { return core_->statistics(); }
  /// Every subscriber that is connected now, or still holds a message after it unsubscribed. A snapshot.
  std::vector<MatchedSubscriber> subscribers() const { return core_->subscribers(); }
  const std::string& topic() const noexcept { return core_->topic(); }

  /// For Node::create_publisher.
  explicit Publisher(std::shared_ptr<detail::PublisherCore> core) noexcept : core_(std::move(core)) {}

 private:
  const std::shared_ptr<detail::PublisherCore> core_;
};

}  // namespace sinew
