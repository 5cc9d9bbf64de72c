#include "api/node_impl.hpp"

#include <cstdlib>
#include <new>

#include "api/options.hpp"
#include "api/publisher_impl.hpp"
#include "api/subscriber_impl.hpp"
#include "base/cancel.hpp"
#include "session/fork.hpp"
#include "session/node/counter_reader.hpp"
#include "shm/scope.hpp"

namespace sinew {
namespace {

/// Whether messages of publishers of this process come by pointer.
bool takes_pointers(const msg::Type& type, const SubscriberOptions& options) {
  return !type.has_views && (!options.delivery || *options.delivery == Delivery::pointer);
}

Buffer buffer_of(const std::string& topic, const detail::Handler& handler, const SubscriberOptions& options) {
  if (!options.buffer) return handler.call && handler.takes == detail::Handler::Takes::own ? Buffer::owned : Buffer::shared;
  switch (*options.buffer) {
    case Buffer::shared:
    case Buffer::owned:
    case Buffer::value:
      return *options.buffer;
  }
  throw Error(ErrorKind::invalid_argument, "topic '" + topic + "': buffer has a value that is none of Buffer's");
}

session::Reading reading_of(const std::string& topic, const msg::Type& type, const SubscriberOptions& options) {
  if (!options.delivery) return type.has_views ? session::Reading::view : session::Reading::as_possible;
  if ((type.has_views || !type.in_place) && options.delivery == Delivery::native) {
    throw Error(ErrorKind::invalid_argument,
                "topic '" + topic + "': " + type.name + " has " +
                    (type.has_views ? "views (std::span or std::string_view)" : "maps (std::map or std::unordered_map)") +
                    " and is made anew for each message: ask for delivery view or copy");
  }
  switch (*options.delivery) {
    case Delivery::native:
      return session::Reading::native;
    case Delivery::view:
      return session::Reading::view;
    case Delivery::copy:
      return session::Reading::copy;
    case Delivery::pointer:
      if (type.has_views) break;
      return session::Reading::by_pointer_only;
  }
  throw Error(ErrorKind::invalid_argument, "topic '" + topic +
                                               "': a subscriber can ask for delivery pointer (not where the type has views), native, view "
                                               "or copy");
}

}  // namespace

void detail::refuse_in_child(const std::string& node) {
  if (!session::forked()) return;
  throw Error(ErrorKind::invalid_argument, "node '" + node +
                                               "' belongs to the process that this one was forked from; create nodes after "
                                               "fork() and exec()");
}

Node::Node(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

std::shared_ptr<Node> Node::create(const std::string& name, const NodeOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  if (session::forked()) {
    throw Error(
        ErrorKind::invalid_argument,
        "node '" + name +
            "': this process was forked from one that uses sinew; create nodes after fork() and exec(), or fork before the first node");
  }
  const char* const variable = std::getenv("SINEW_NODE");
  const std::string renamed = variable ? variable : "";
  auto executor = options.executor ? options.executor : Executor::create();
  std::shared_ptr<session::NodeSession> session;
  try {
    session = session::NodeSession::create(renamed.empty() ? name : renamed, {.domain = options.domain, .executor = executor->shared_});
    return std::shared_ptr<Node>(new Node(std::make_unique<Impl>(Impl{std::move(executor), session})));
  } catch (const std::bad_alloc&) {
    if (session) session->close();  // else the last to have it may be its own thread, which cannot wait for itself
    throw;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::name_taken || renamed.empty()) throw;
    throw Error(error.kind(), error.what() + (" SINEW_NODE is set, and names every node of this program '" + renamed + "', so also '" +
                                              name + "': unset it for a program that has several."));
  }
}

Node::~Node() {
  if (session::forked()) {
    (void)impl_.release();
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  impl_->session->close();
  impl_.reset();  // while nobody can cancel it
}

const std::string& Node::name() const noexcept {
  return impl_->session->name();
}

const std::shared_ptr<Executor>& Node::executor() const noexcept {
  return impl_->executor;
}

std::shared_ptr<Timer> Node::create_timer(std::chrono::nanoseconds period, std::function<void()> callback, const TimerOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  if (period.count() <= 0) {
    throw Error(ErrorKind::invalid_argument,
                "node '" + name() + "': a timer's period of " + std::to_string(period.count()) + " ns is out of range, 1 ns or more");
  }
  if (!callback) throw Error(ErrorKind::invalid_argument, "node '" + name() + "': a timer needs a callback");
  const auto timer = impl_->session->create_timer(period.count(), std::move(callback), options.execution_thread);
  try {
    return std::shared_ptr<Timer>(new Timer(timer));
  } catch (const std::bad_alloc&) {
    timer->close();
    timer->thread()->remove(timer);
    throw;
  }
}

DomainState Node::domain_state() const {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  return impl_->session->domain_state();
}

void Node::disconnect(const std::string& other) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  impl_->session->disconnect(other);
}

std::shared_ptr<DomainWatch> Node::watch_domain(std::function<void(const DomainUpdate&)> callback, const DomainWatchOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  if (!callback) throw Error(ErrorKind::invalid_argument, "node '" + name() + "': to watch the domain needs a callback");
  const auto watch = impl_->session->watch_domain(std::move(callback), options.execution_thread);
  try {
    return std::shared_ptr<DomainWatch>(new DomainWatch(impl_->session, watch));
  } catch (const std::bad_alloc&) {
    impl_->session->remove(watch);
    throw;
  }
}

std::shared_ptr<DomainCounters> Node::domain_counters() {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  return std::shared_ptr<DomainCounters>(new DomainCounters(session::CounterReader::create(impl_->session)));
}

std::shared_ptr<detail::PublisherCore> Node::make_publisher(const std::string& topic, const msg::Message& type,
                                                            const detail::ObjectType& objects, const Qos& qos,
                                                            const PublisherOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  detail::require_topic(topic);
  auto core = detail::PublisherCore::Impl::create(impl_->session, topic, type, objects, detail::offered(topic, qos, options),
                                                  options.events, options.execution_thread);
  core->prefault(options.prefault);
  return core;
}

std::shared_ptr<detail::SubscriberCore> Node::make_subscriber(const std::string& topic, const msg::Message& type, detail::Handler handler,
                                                              const Qos& qos, const SubscriberOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(name());
  detail::require_topic(topic);
  session::Subscription::Options asked = detail::asked(topic, qos, options);
  asked.reading = reading_of(topic, *type.type, options);
  if (type.type->has_views && handler.call && handler.takes == detail::Handler::Takes::own) {
    throw Error(ErrorKind::invalid_argument,
                "topic '" + topic + "': " + type.name +
                    " has views (std::span or std::string_view) of memory that is not its own: take it as std::shared_ptr<const T>");
  }
  asked.buffer = buffer_of(topic, handler, options);
  asked.takes_pointers = asked.ghost == wire::Ghost::no && takes_pointers(*type.type, options);
  asked.in_place = type.type->in_place;
  const auto impl = std::make_shared<detail::SubscriberCore::Impl>();
  impl->handler = std::move(handler);
  return impl->create(impl_->session, topic, type, asked, options.events, options.execution_thread);
}

}  // namespace sinew
