// What a PublisherCore is made of.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "msg/walk.hpp"
#include "session/node/node_session.hpp"
#include "session/publisher/publisher.hpp"
#include "sinew/detail/object_type.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/events.hpp"
#include "sinew/executor.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::detail {

/// What there was no memory for, as Window::why_refused() or PublisherCore::send_shared() say it, or that there was none to say it.
inline std::string_view reason_in(const std::string& why) noexcept {
  return why.empty() ? "This process has no memory left." : std::string_view(why);
}

struct PublisherCore::Impl {
  /// Registers a publisher. Throws Error.
  static std::shared_ptr<PublisherCore> create(const std::shared_ptr<session::NodeSession>& session, const std::string& topic,
                                               const msg::Message& type, const ObjectType& objects,
                                               const session::Publisher::Options& options, const PublisherEvents& events,
                                               ThreadId execution_thread);

  /// What is known of the objects of a type; all null where messages are streams, but for the `storage` of those that are made of something else than bytes.
  struct Table {
    const msg::Type* type = nullptr;
    std::shared_ptr<const session::FrameStorage> storage{};
    std::shared_ptr<const session::Objects> objects{};
  };
  static std::shared_ptr<PublisherCore> create(const std::shared_ptr<session::NodeSession>& session, const std::string& topic,
                                               const wire::TypeDescription& description, const Table& table,
                                               const session::Publisher::Options& options, const PublisherEvents& events,
                                               ThreadId execution_thread);

  const msg::Type* type = nullptr;  // null: messages are streams, and there are no objects
  std::shared_ptr<session::NodeSession> session;
  std::shared_ptr<session::Publisher> publisher;
  // relaxed: told, or marks that stand for themselves
  std::atomic<std::uint64_t> repaired{0};
  std::atomic<bool> not_replaced{false};  // somewhere in this process
  mutable std::mutex mutex;
  std::string first_reason;  // guarded by mutex

  const std::string& topic() const noexcept { return publisher->topic(); }

  /// `endpoint` 0: to all subscribers; else `why`, if given, as Publisher::send().
  session::Publisher::Outcome deliver(std::uint64_t endpoint, session::GivenMessage message, session::NewFrame frame, std::string* why);
  /// Copies in what of an object in the window lies elsewhere. Its bytes; none: there is no memory for that, and the object is one all the same.
  std::optional<std::uint64_t> complete(void* object) noexcept;
  void repaired_in_place(const msg::Audit& audit) noexcept;
  /// `why()` makes the text.
  template <class Why>
  void count_repaired(Why why) noexcept;
  /// There is no memory for a message. Counts and reports it.
  PublishResult refused(std::uint64_t endpoint = 0);
  /// Says once what became of a message, where it was not published. `endpoint` 0: to all subscribers; else whoever sends it sends it again, or fails with the reason.
  PublishResult reported(session::Publisher::Outcome outcome, std::uint64_t endpoint);
  /// Counts a message that is none, and says why, once. Throws what `why()` throws, if `why_invalid` is to hear it.
  PublishResult invalid(const std::function<std::string()>& why, std::string* why_invalid);
  std::string why_repaired() const;
  const char* why_on_heap() const;
  std::atomic<bool> repair_reported{false}, refusal_reported{false}, wait_reported{false};  // relaxed: one thread is the first
};

}  // namespace sinew::detail
