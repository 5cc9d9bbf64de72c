// What the cores of services have in common.
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "api/publisher_impl.hpp"
#include "api/subscriber_impl.hpp"
#include "session/endpoint.hpp"
#include "session/node/node_session.hpp"
#include "shm/layout.hpp"
#include "sinew/detail/object_type.hpp"
#include "sinew/detail/publisher_core.hpp"
#include "sinew/detail/service_core.hpp"
#include "sinew/detail/subscriber_core.hpp"
#include "sinew/ghost.hpp"
#include "sinew/msg/type.hpp"
#include "sinew/service.hpp"
#include "wire/messages.hpp"

namespace sinew::detail {

/// What a service's client or provider is made of: a publisher and a subscription of one endpoint.
struct ServiceEnds {
  std::shared_ptr<PublisherCore> sends;
  std::shared_ptr<session::Publisher> publisher;  // of `sends`
  std::shared_ptr<SubscriberCore> receives;
  std::shared_ptr<session::Subscription> subscription;  // of `receives`
};

/// Passes on what publisher and subscription tell, until it is stopped: they hold locks then, under which nobody's last reference must go.
class Watch final : public session::EndpointWatcher {
 public:
  explicit Watch(session::EndpointWatcher& to) noexcept : to_(&to) {}
  void peers_changed() noexcept override {
    const std::lock_guard lock(mutex_);
    if (to_) to_->peers_changed();
  }
  void peer_left(std::uint64_t endpoint, std::uint64_t taken, bool is_here) noexcept override {
    const std::lock_guard lock(mutex_);
    if (to_) to_->peer_left(endpoint, taken, is_here);
  }
  void call_cancelled(std::uint64_t endpoint, std::uint64_t call) noexcept override {
    const std::lock_guard lock(mutex_);
    if (to_) to_->call_cancelled(endpoint, call);
  }
  void messages_lost(std::uint64_t endpoint, std::uint64_t count) noexcept override {
    const std::lock_guard lock(mutex_);
    if (to_) to_->messages_lost(endpoint, count);
  }
  void stop() noexcept {
    const std::lock_guard lock(mutex_);
    to_ = nullptr;
  }

 private:
  std::mutex mutex_;
  session::EndpointWatcher* to_;
};

/// A message of a service that could not be received.
struct Rejected {
  std::uint64_t endpoint = 0;  ///< who sent it
  std::uint64_t call = 0;      ///< 0: nobody knows which
  std::uint64_t count = 1;     ///< of messages like that
  bool no_memory = false;      ///< there was no memory for it; else it made no sense
};

/// An endpoint whose provider executes no request twice says so by this bit of its number (spec/services.md).
inline constexpr std::uint64_t at_most_once_bit = 1;
/// Drawn by lot; never 0.
std::uint64_t new_endpoint(bool at_most_once);

/// Of a client, at a time, with a provider (spec/services.md). A provider takes requests in their order, and answers each once: so many on their way leave room for as many answers, and 1024 of either are
/// as many as a lane has.
constexpr std::uint32_t most_calls(session::Reach reach) noexcept {
  return reach == session::Reach::other_user ? shm::export_depth : shm::ring_capacity / 4;
}

/// Messages of one of a service's two topics, for who sends them.
struct ServiceOut {
  wire::TypeDescription type;
  PublisherCore::Impl::Table table;
};
/// And for who receives them.
struct ServiceIn {
  wire::TypeDescription type;
  const msg::Type* objects = nullptr;               ///< null: streams
  std::shared_ptr<const StreamOpener> opener = {};  ///< of streams, likewise
};
/// Of objects.
ServiceOut out_of(const msg::Message& message, const ObjectType& objects);
ServiceIn in_of(const msg::Message& message);

struct EndsToMake {
  const std::shared_ptr<session::NodeSession>& session;
  std::uint64_t endpoint = 0;
  std::weak_ptr<session::EndpointWatcher> watcher{};
  const std::string& out_topic;
  const ServiceOut& out;  ///< what is sent
  std::size_t memory_budget = 0;
  const std::string& in_topic;
  const ServiceIn& in;     ///< what is received
  const Handler& handler;  ///< of it; without one it waits to be taken
  const std::function<void(const Rejected&)>& on_rejected;
  ThreadId execution_thread = 0;
  wire::Ghost ghost = wire::Ghost::no;
};
/// The publisher first: whoever meets the subscription's endpoint finds the publisher's, and the handler may run before this returns. Throws Error.
void make_ends(ServiceEnds& ends, const EndsToMake& making);

struct Making {
  const std::shared_ptr<session::NodeSession>& session;
  const std::string& service;
  const ServiceOut& out;
  const ServiceIn& in;
  std::size_t memory_budget;
  Ghost ghost;
};
/// Throw Error.
std::unique_ptr<ServiceClientCore> make_client(const Making& making, ErrorOf error_of);
std::unique_ptr<ServiceProviderCore> make_provider(const Making& making, ServiceProviderCore::Serve serve,
                                                   ServiceProviderCore::MakeError make_error, const ServiceProviderOptions& options);

/// What all ServiceRequests and ServiceResponses begin with.
inline std::uint64_t id_of(const void* message) noexcept {
  std::uint64_t id = 0;
  std::memcpy(&id, message, sizeof id);
  return id;
}
inline std::uint64_t status_of(const void* response) noexcept {
  std::uint64_t status = 0;
  std::memcpy(&status, static_cast<const std::byte*>(response) + sizeof(std::uint64_t), sizeof status);
  return status;
}

}  // namespace sinew::detail
