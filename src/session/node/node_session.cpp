#include "session/node/node_session.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "base/log.hpp"
#include "base/point.hpp"
#include "base/random.hpp"
#include "os/clock.hpp"
#include "os/domain.hpp"
#include "session/node/local_topics.hpp"
#include "session/publisher/foreign_end.hpp"
#include "session/publisher/publisher_end.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "shm/scope.hpp"
#include "sinew/error.hpp"
#include "wire/names.hpp"

namespace sinew::session {
namespace {

constexpr int window_attempts = 256;

// Among the subscriptions of its process. Streams are for nobody who takes pointers, and ghosts are the manager's to connect: it knows when they are on no topic any more.
bool finds_partners(const std::shared_ptr<const Objects>& objects, const Publisher::Options& options) noexcept {
  return objects && options.ghost == wire::Ghost::no;
}

}  // namespace

// --- coming and going --------------------------------------------------------------------------------------------------------------

NodeSession::NodeSession(const std::string& name, const std::string& socket_path, const Options& options)
    : link_(name, socket_path), executor_(options.executor ? options.executor : std::make_shared<Executor>(Executor::Options{})) {}

std::shared_ptr<NodeSession> NodeSession::create(const std::string& name, const Options& options) {
  base::check_log_level();
  if (const auto complaint = wire::complaint_about_length(wire::Named::node, name)) throw Error(ErrorKind::invalid_argument, *complaint);
  const std::string path = os::domain_socket_path(options.domain.empty() ? std::getenv("SINEW_DOMAIN") : options.domain.c_str());
  std::shared_ptr<NodeSession> session(new NodeSession(name, path, options));
  session->counters_ = std::make_shared<Counters>([weak = std::weak_ptr(session)](const auto& file, std::uint32_t size) {
    if (const auto alive = weak.lock()) alive->link_.tell_counters(file, size);
  });
  session->link_.open();
  session->loop_.start("sinew-io");
  session->link_.watch(session->loop_, session, [weak = std::weak_ptr(session)] {
    if (const auto alive = weak.lock()) alive->watch_anew();
  });
  return session;
}

NodeSession::~NodeSession() {
  close();
}

// Nothing of it may fail for want of memory: it is called from destructors. So the tables themselves say what is left to be closed.
void NodeSession::close() {
  Callbacks callbacks;
  std::shared_ptr<Executor> executor;  // goes last: threads of this node alone end with it
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    executor = std::move(executor_);
    callbacks = std::move(callbacks_);
  }
  remove_all();  // first: callbacks may wait for what these have
  callbacks.close();
  remove_all();  // what callbacks made meanwhile
  link_.stop();
  loop_.stop();
  link_.await_seeker();
}

void NodeSession::remove_all() {
  while (const auto subscription = any_of(subscriptions_)) remove(subscription);
  while (const auto publisher = any_of(publishers_)) remove(*publisher);
  while (const auto watch = any_of(watches_)) remove(watch);
}

// --- asking the manager --------------------------------------------------------------------------------------------------------------

void NodeSession::ask(const Question& question, const char* what, const std::function<void()>& send,
                      std::function<void(const wire::Message&)> on_success) {
  auto answer = std::make_shared<Answer>();
  answer->on_success = std::move(on_success);
  auto done = answer->done.get_future();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw destroyed();
    asked_.emplace(question, answer);
  }
  try {
    send();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    asked_.erase(question);
    throw;
  }
  const auto is_answered = [&done] {
    for (int looks = looks_for_an_answer; looks > 0; --looks) {
      if (done.wait_for(longest_look) == std::future_status::ready) return true;
    }
    return false;
  };
  if (!is_answered()) {
    bool is_over = false;
    {
      const std::lock_guard lock(mutex_);
      is_over = asked_.erase(question) > 0;
    }
    if (is_over) {
      link_.forget(question);  // what is answered from now on is taken back, or was a moment ago
      throw unanswered(what);
    }
  }
  if (const auto refusal = done.get()) throw Error(refusal->kind, refusal->text);
}

bool NodeSession::answered(const Question& question, const wire::Message& message, std::optional<Refusal> refusal) {
  std::shared_ptr<Answer> answer;
  {
    const std::lock_guard lock(mutex_);
    const auto found = asked_.find(question);
    if (found == asked_.end()) return false;
    answer = found->second;
    asked_.erase(found);
  }
  try {
    if (!refusal) answer->on_success(message);
  } catch (const Error& error) {
    refusal = refusal_of(error.kind(), [&] { return error.what(); });
  } catch (const std::exception& error) {
    refusal = refusal_of(ErrorKind::system, [&] { return error.what(); });
  }
  answer->on_success = nullptr;  // what users keep in it is not to end on this thread; whoever waits keeps it, too
  answer->done.set_value(std::move(refusal));
  return true;
}

// A manager that was started after another died does not know of the windows of publishers that were gone by then.
std::shared_ptr<Publisher> NodeSession::create_publisher(const std::string& topic, const wire::TypeDescription& type,
                                                         const std::shared_ptr<const FrameStorage>& storage,
                                                         const std::shared_ptr<const Objects>& objects, const Publisher::Options& options,
                                                         const PublisherEvents& events, unsigned execution_thread) {
  for (int attempt = 0; attempt < window_attempts; ++attempt) {
    auto publisher = try_to_create_publisher(topic, type, storage, objects, options, events, execution_thread);
    if (!publisher) continue;
    try {
      if (finds_partners(objects, options)) LocalTopics::instance().add({link_.socket_path(), topic, type.layout, name()}, publisher);
      if (const auto& listener = publisher->status().listener()) listener->thread()->add(listener);
    } catch (...) {
      remove(*publisher);
      throw;
    }
    return publisher;
  }
  throw Error(ErrorKind::exhausted,
              "topic '" + topic +
                  "': this process still uses the windows of addresses that the manager has to give, from the time of "
                  "another manager: release the messages that are left of publishers of that time");
}

std::shared_ptr<Publisher> NodeSession::try_to_create_publisher(const std::string& topic, const wire::TypeDescription& type,
                                                                const std::shared_ptr<const FrameStorage>& storage,
                                                                const std::shared_ptr<const Objects>& objects,
                                                                const Publisher::Options& options, const PublisherEvents& events,
                                                                unsigned execution_thread) {
  const std::shared_ptr<Listener> listener = listener_for(events, execution_thread);
  const std::uint64_t identity = base::random_number();
  const std::uint64_t id = link_.next_id(Kind::publisher);
  auto made = std::make_shared<std::shared_ptr<Publisher>>();
  // Made on the loop's thread, before it can read the first introduction.
  ask(
      {Kind::publisher, id}, "RegisterPublisher",
      [&] {
        const std::uint64_t process = finds_partners(objects, options) ? LocalTopics::instance().process(link_.socket_path()) : 0;
        link_.announce({Kind::publisher, id},
                       wire::RegisterPublisher{id, topic, type, options.qos, process, options.endpoint, options.ghost, identity, {}});
      },
      [this, id, identity, topic, made, storage, objects, options, listener, events](const wire::Message& message) {
        const auto& registered = std::get<wire::PublisherRegistered>(message);
        const auto give_back = [&] {
          link_.withdraw({Kind::publisher, id});
          release_window_of(id);
        };
        if (shm::Window::owner_of(reinterpret_cast<const void*>(registered.window.base))) return give_back();
        try {
          *made = std::make_shared<Publisher>(shared_from_this(), Publisher::Registered{id, identity, registered.window}, topic, storage,
                                              objects, options);
          SINEW_POINT("node_session.publisher");
          (*made)->start_trimming(loop_);
          (*made)->status().start(loop_, listener, events);
          const std::lock_guard lock(mutex_);
          if (closed_) throw destroyed();
          publishers_[id] = *made;
          if (listener) callbacks_.add(listener);
        } catch (...) {
          made->reset();
          give_back();
          throw;
        }
      });
  return *made;
}

std::shared_ptr<Subscription> NodeSession::create_subscription(const std::string& topic, const wire::TypeDescription& type,
                                                               const Subscription::Options& options, Receiver* receiver,
                                                               const SubscriberEvents& events, unsigned execution_thread) {
  const std::shared_ptr<Listener> listener = listener_for(events, execution_thread);
  const std::shared_ptr<ExecutionThread> runs_on = receiver ? thread(execution_thread) : nullptr;
  const auto subscription =
      std::make_shared<Subscription>(link_.next_id(Kind::subscriber), topic, name(), counters_, options, runs_on, receiver);
  SINEW_POINT("node_session.subscriber");
  subscription->status().start(loop_, listener, events);
  {
    const std::lock_guard lock(mutex_);  // from here on close() finds them
    if (closed_) throw destroyed();
    if (runs_on) callbacks_.add(subscription);
    if (listener) callbacks_.add(listener);
  }
  const std::uint64_t id = subscription->id();
  try {
    ask(
        {Kind::subscriber, id}, "RegisterSubscriber",
        [&] {
          const std::uint64_t process = options.takes_pointers ? LocalTopics::instance().process(link_.socket_path()) : 0;
          link_.announce({Kind::subscriber, id}, wire::RegisterSubscriber{id, topic, type, options.qos, process, options.endpoint,
                                                                          options.ghost, subscription->identity()});
        },
        // On the loop's thread, before it can read the first introduction.
        [this, subscription](const wire::Message& answer) {
          {
            const std::lock_guard lock(mutex_);
            subscriptions_[subscription->id()] = subscription;
          }
          subscription->expect_histories(std::get<wire::SubscriberRegistered>(answer).histories);
          if (subscription->options().qos.durability != wire::Durability::transient_local) return;
          loop_.at(subscription->patient_until(), [weak = std::weak_ptr(subscription)] {
            if (const auto impatient = weak.lock()) impatient->wake();
          });
        });
  } catch (...) {
    remove(subscription);
    throw;
  }
  try {
    if (options.takes_pointers) LocalTopics::instance().add({link_.socket_path(), topic, type.layout, name()}, subscription);
    if (runs_on) runs_on->add(subscription);
    if (listener) listener->thread()->add(listener);
  } catch (...) {
    remove(subscription);
    throw;
  }
  return subscription;
}

std::shared_ptr<PeriodicTimer> NodeSession::create_timer(std::int64_t period, std::function<void()> callback, unsigned execution_thread) {
  auto timer = std::make_shared<PeriodicTimer>(period, std::move(callback), thread(execution_thread));
  {
    const std::lock_guard lock(mutex_);
    if (closed_) throw destroyed();
    callbacks_.add(timer);
  }
  timer->thread()->add(timer);
  timer->reset();
  return timer;
}

Error NodeSession::destroyed() const {
  return {ErrorKind::disconnected, "node '" + name() + "' has been destroyed"};
}

Error NodeSession::unanswered(const char* what) const {
  const std::string manager = "the manager at " + link_.socket_path();
  if (link_.manager() > 0)
    return {ErrorKind::unavailable, manager + " did not answer " + what + " within 5 s: it may be stopped, or get no processor"};
  const std::string trouble = link_.trouble();
  return {ErrorKind::disconnected, manager + " is gone, and within 5 s there was no other one to answer " + what +
                                       (trouble.empty() ? "" : " (" + trouble + ")") + ": the node goes on seeking one, try again"};
}

std::shared_ptr<ExecutionThread> NodeSession::thread(unsigned id) {
  std::shared_ptr<Executor> executor;
  {
    const std::lock_guard lock(mutex_);
    executor = executor_;
  }
  if (!executor) throw destroyed();
  return executor->thread(id);
}

template <class Events>
std::shared_ptr<Listener> NodeSession::listener_for(const Events& events, unsigned execution_thread) {
  return any(events) ? std::make_shared<Listener>(thread(execution_thread)) : nullptr;
}

// One that is still there; those that are not are forgotten.
template <class Map>
auto NodeSession::any_of(Map& all) -> decltype(all.begin()->second.lock()) {
  const std::lock_guard lock(mutex_);
  while (!all.empty()) {
    if (auto one = all.begin()->second.lock()) return one;
    all.erase(all.begin());
  }
  return nullptr;
}

void NodeSession::remove(Publisher& publisher) {
  bool is_known = false;
  LocalTopics::instance().remove(publisher);  // also what came in while the node was being closed
  {
    const std::lock_guard lock(mutex_);
    is_known = publishers_.erase(publisher.id()) > 0;
  }
  // Also when it was removed before: create_publisher() may have come in between.
  if (const auto& listener = publisher.status().listener()) listener->thread()->remove(listener);
  if (!is_known) return publisher.status().stop();  // who closes it may be in one of its handlers
  link_.withdraw({Kind::publisher, publisher.id()});
  publisher.close();
}

void NodeSession::remove(const std::shared_ptr<Subscription>& subscription) {
  {
    const std::lock_guard lock(mutex_);
    subscriptions_.erase(subscription->id());
  }
  link_.withdraw({Kind::subscriber, subscription->id()});
  // Also when it was removed before: create_subscription() may have come in between.
  if (subscription->thread()) subscription->thread()->remove(subscription);
  if (const auto& listener = subscription->status().listener()) listener->thread()->remove(listener);
  subscription->close();                          // or waits for the callback of who is closing it
  LocalTopics::instance().remove(*subscription);  // after close(): publishers forget what is closed
}

void NodeSession::release_window(const wire::Window& window, std::uint64_t manager) noexcept {
  if (window.size == 0) return;  // that of a publisher of another user, which is none of our business
  link_.release_window(window, manager);
}

}  // namespace sinew::session
