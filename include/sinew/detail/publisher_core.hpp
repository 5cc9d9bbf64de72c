// The part of a publisher that does not depend on the message type. Not for direct use.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sinew/error.hpp"
#include "sinew/message_info.hpp"
#include "sinew/msg/type.hpp"
#include "sinew/publish_result.hpp"

namespace sinew::detail {

/// A message that may be sent more than once, and nobody changes any more.
struct SharedMessage {
  std::shared_ptr<const void> object;
  std::uint64_t in_window = 0;  ///< its bytes, when all of it lies in the publisher's window
};

/// Thread-safe.
class SINEW_API PublisherCore {
 public:
  struct Impl;
  explicit PublisherCore(std::unique_ptr<Impl> impl) noexcept;
  ~PublisherCore();

  const std::string& topic() const noexcept;
  /// Has so many bytes mapped from now on. Throws Error(exhausted).
  void prefault(std::size_t bytes);

  /// Raw memory for one message object: in the window, or, when memory is refused there or `in_place` is false, on the heap.
  void* allocate_object(bool in_place);
  /// True in a child of fork(): shared memory is not there, and messages being built are not the child's to destroy.
  static bool in_forked_child() noexcept;
  /// Gives back the memory of an object that has been destroyed.
  void free_object(void* object) noexcept;
  // Null is `invalid`, in each of these.
  /// Publishes an object made in allocate_object()'s memory; audits it, copies in what lies outside. The object is no more, whatever the result.
  PublishResult publish_object(void* object);
  /// Publishes a copy.
  PublishResult publish_copy(const void* object);
  /// Publishes an object that `new` made. It is no more, whatever the result.
  PublishResult publish_owned(void* object);
  PublishResult publish_shared(std::shared_ptr<const void> object);
  // For services: to the reader with this endpoint only; `closed` also when there is none, `would_block` when it does not take what it was sent before. `why`, if given, says what is wrong with one that is `invalid`, or what there was `no_memory` for, which is logged nowhere else; empty: there was none for that either.
  /// `sequence`, if given, is that of the message for this reader, or 0.
  PublishResult send_shared(std::uint64_t endpoint, SharedMessage message, std::uint64_t* sequence = nullptr, std::string* why = nullptr);
  /// As publish_object().
  PublishResult send_object(std::uint64_t endpoint, void* object, std::string* why = nullptr);
  /// Makes an object made in allocate_object()'s memory one for send_shared(), which copies nothing of it then; audits it, copies in what lies outside. Where there is no memory for that, or it does not lie in the
  /// window, send_shared() copies it. Throws std::bad_alloc; then the object is no more.
  SharedMessage share_object(void* object);
  Impl& impl() noexcept { return *impl_; }

  void assert_liveliness();
  PublisherStatistics statistics() const;
  std::vector<MatchedSubscriber> subscribers() const;

  /// Makes operator new of this thread allocate from the window; leave_scope() takes what enter_scope() returned.
  struct ScopeToken {
    void* before = nullptr;
    const void* thread = nullptr;  ///< null: nothing was entered
  };
  ScopeToken enter_scope() noexcept;
  static void leave_scope(const ScopeToken& token) noexcept;
  /// The other way round: it allocates from the ordinary heap.
  static ScopeToken leave_window() noexcept;

  // For the probe of a calling module, see allocation_probe.hpp.
  /// How often operator new of this thread, inside a scope, has asked a window for memory, whether it got any or not.
  static std::uint64_t times_asked() noexcept;
  static bool is_replacement(void (*operator_delete)(void*) noexcept) noexcept;
  /// Says once per calling module that its loans are built on the heap and copied at publish.
  void report_not_replaced() const;

 private:
  // `endpoint` 0: to all subscribers.
  PublishResult publish_object_to(std::uint64_t endpoint, void* object, std::string* why);
  PublishResult publish_shared_loan(std::uint64_t endpoint, void* object, std::string* why);
  PublishResult publish_copy_to(std::uint64_t endpoint, const void* source, std::string* why);
  /// `variant`: the field that has no value; nothing: there is no message.
  PublishResult invalid(const std::optional<std::string>& variant, std::string* why_invalid = nullptr);

  std::unique_ptr<Impl> impl_;
};

/// Allocates in place while alive, if the calling module can. Same thread, strictly nested.
class AllocateInPlace {
 public:
  AllocateInPlace(PublisherCore& core, bool possible) noexcept : token_(possible ? core.enter_scope() : PublisherCore::ScopeToken{}) {}
  ~AllocateInPlace() {
    if (token_.thread) PublisherCore::leave_scope(token_);
  }
  AllocateInPlace(const AllocateInPlace&) = delete;
  AllocateInPlace& operator=(const AllocateInPlace&) = delete;

 private:
  PublisherCore::ScopeToken token_;
};

/// Allocates from the ordinary heap while alive, also within the other. Same thread, strictly nested.
class AllocateOnHeap {
 public:
  AllocateOnHeap() noexcept : token_(PublisherCore::leave_window()) {}
  ~AllocateOnHeap() { PublisherCore::leave_scope(token_); }
  AllocateOnHeap(const AllocateOnHeap&) = delete;
  AllocateOnHeap& operator=(const AllocateOnHeap&) = delete;

 private:
  PublisherCore::ScopeToken token_;
};

}  // namespace sinew::detail
