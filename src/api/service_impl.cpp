#include "api/service_impl.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "api/description.hpp"
#include "api/node_impl.hpp"
#include "api/options.hpp"
#include "api/publisher_impl.hpp"
#include "api/service_client_core.hpp"
#include "api/service_provider_core.hpp"
#include "api/subscriber_impl.hpp"
#include "api/type_storage.hpp"
#include "base/cancel.hpp"
#include "base/random.hpp"
#include "shm/scope.hpp"
#include "wire/names.hpp"
#include "wire/topic_name.hpp"

namespace sinew::detail {
namespace {

constexpr std::size_t usual_notes = 16;  // so many need no memory
constexpr std::uint32_t most_parallel = 1024;

// By their kinds.
std::vector<ServiceError> errors_in_short(const std::string& service) {
  using Kind = ServiceError::Kind;
  std::vector<ServiceError> errors;
  for (const auto& [kind, text] :
       {std::pair(Kind::failed, "the provider's handler failed"), std::pair(Kind::timeout, "gave no answer in time"),
        std::pair(Kind::cancelled, "the call was cancelled"),
        std::pair(Kind::lost, "the answer was lost: the request may have been executed, or not"),
        std::pair(Kind::no_memory, "there is no memory"), std::pair(Kind::invalid, "the request or the response could not be read"),
        std::pair(Kind::disconnected, "the client is disconnected")}) {
    errors.emplace_back(kind, "service '" + service + "': " + text + ", and there is no memory to say more");
  }
  return errors;
}

/// Finds out which call a message was about that could not be received.
class RejectedCalls final : public Rejections {
 public:
  explicit RejectedCalls(std::function<void(const Rejected&)> tell) noexcept : tell_(std::move(tell)) {}

  std::uint64_t number_of(const void* message) const noexcept override { return id_of(message); }
  std::uint64_t number_of(const session::Arrival& arrival, std::span<const msg::cdr::Piece> pieces) const noexcept override {
    std::array<std::byte, session::encapsulation + sizeof(std::uint64_t)> begin{};
    if (!arrival.in_pieces) {
      const std::byte* const root = arrival.chunks->find(arrival.frame.root, sizeof(std::uint64_t));
      return root ? id_of(root) : 0;
    }
    std::size_t read = 0;
    for (const msg::cdr::Piece& piece : pieces) {
      const std::size_t size = std::min(piece.size(), begin.size() - read);
      std::memcpy(begin.data() + read, piece.data(), size);
      read += size;
    }
    // C1.2: the least significant byte comes first.
    return read == begin.size() && begin[1] == std::byte{1} ? id_of(begin.data() + session::encapsulation) : 0;
  }
  void rejected(std::uint64_t endpoint, std::uint64_t number, bool no_memory) noexcept override {
    tell_({.endpoint = endpoint, .call = number, .no_memory = no_memory});
  }

 private:
  const std::function<void(const Rejected&)> tell_;
};

constexpr wire::Qos qos{.depth = 0, .reliable = true};

}  // namespace

std::uint64_t new_endpoint(bool at_most_once) {
  std::uint64_t number = 0;
  while (number == 0) number = base::random_number() & ~at_most_once_bit;
  return at_most_once ? number | at_most_once_bit : number;
}

ServiceOut out_of(const msg::Message& message, const ObjectType& objects) {
  return {description_of(message), {message.type, storage_of(*message.type), objects_of(*message.type, objects)}};
}

ServiceIn in_of(const msg::Message& message) {
  return {description_of(message), message.type};
}

void make_ends(ServiceEnds& ends, const EndsToMake& making) {
  ends.sends = PublisherCore::Impl::create(
      making.session, making.out_topic, making.out.type, making.out.table,
      {.budget = making.memory_budget, .qos = qos, .endpoint = making.endpoint, .watcher = making.watcher, .ghost = making.ghost}, {},
      making.execution_thread);
  ends.publisher = ends.sends->impl().publisher;

  const auto receives = std::make_shared<SubscriberCore::Impl>();
  const msg::Type* const type = making.in.objects;
  receives->type = type;
  receives->opener = making.in.opener;
  receives->handler = making.handler;
  if (making.on_rejected) receives->rejections = std::make_unique<RejectedCalls>(making.on_rejected);
  const bool in_views = !type || type->has_views;
  ends.receives = receives->create(making.session, making.in_topic, making.in.type,
                                   {.qos = qos,
                                    .thinning = {},
                                    .reading = in_views ? session::Reading::view : session::Reading::as_possible,
                                    .takes_pointers = !in_views && making.ghost == wire::Ghost::no,
                                    .in_place = !type || type->in_place,  // of streams nobody says that maps are in their way
                                    .endpoint = making.endpoint,
                                    .watcher = making.watcher,
                                    .ghost = making.ghost},
                                   {}, making.execution_thread);
  ends.subscription = receives->subscription;
}

std::unique_ptr<ServiceClientCore> make_client(const Making& making, ErrorOf error_of) {
  require_name(wire::Named::service, making.service);
  const auto impl = std::make_shared<ServiceClientCore::Impl>();
  impl->service = making.service;
  impl->session = making.session;
  impl->error_of = error_of;
  impl->destroyed.emplace(ServiceError::Kind::cancelled, "service '" + making.service + "' was not answered: the client was destroyed");
  const std::weak_ptr<ServiceClientCore::Impl> weak = impl;
  impl->in_short = errors_in_short(making.service);
  impl->left.reserve(usual_notes);
  impl->rejected.reserve(usual_notes);
  impl->timer = session::LoopTimer::create(making.session->loop(), [weak] {
    const auto client = weak.lock();
    return client ? client->look_at_time() : session::LoopTimer::never;
  });
  const std::string requests = wire::request_topic(making.service), responses = wire::response_topic(making.service);
  const std::function<void(const Rejected&)> on_rejected = [weak](const Rejected& response) {
    if (const auto client = weak.lock()) client->note_rejected(response);
  };
  make_ends(impl->ends, {.session = making.session,
                         .endpoint = new_endpoint(false),
                         .watcher = impl->watch,
                         .out_topic = requests,
                         .out = making.out,
                         .memory_budget = budget_of("service '" + making.service + "'", making.memory_budget),
                         .in_topic = responses,
                         .in = making.in,
                         .handler = {},
                         .on_rejected = on_rejected,
                         .ghost = ghost_of("service '" + making.service + "'", making.ghost)});
  impl->requests = impl->ends.sends;
  auto core = std::make_unique<ServiceClientCore>(impl);
  impl->ready();
  return core;
}

std::unique_ptr<ServiceProviderCore> make_provider(const Making& making, ServiceProviderCore::Serve serve,
                                                   ServiceProviderCore::MakeError make_error, const ServiceProviderOptions& options) {
  require_name(wire::Named::service, making.service);
  const auto impl = std::make_shared<ServiceProviderCore::Impl>();
  impl->service = making.service;
  impl->session = making.session;
  impl->serve = std::move(serve);
  impl->make_error = make_error;
  impl->parallel = options.parallel;
  impl->early_in_need.reserve(usual_notes);
  impl->owed.reserve(usual_notes);
  const std::weak_ptr<ServiceProviderCore::Impl> weak = impl;
  impl->timer = session::LoopTimer::create(making.session->loop(), [weak] {
    const auto provider = weak.lock();
    return provider ? provider->try_again() : session::LoopTimer::never;
  });
  const std::string requests = wire::request_topic(making.service), responses = wire::response_topic(making.service);
  // What is executed later, on another thread, is kept until then.
  const Handler::Takes takes = options.parallel > 1 ? Handler::Takes::share : Handler::Takes::look;
  const Handler handler{takes, true, [weak](ReceivedMessage& message) {
                          if (const auto provider = weak.lock()) provider->receive(message);
                        }};
  const std::function<void(const Rejected&)> on_rejected = [weak](const Rejected& request) {
    if (const auto provider = weak.lock()) provider->rejected(request);
  };
  try {
    make_ends(impl->ends, {.session = making.session,
                           .endpoint = new_endpoint(options.at_most_once),
                           .watcher = impl->watch,
                           .out_topic = responses,
                           .out = making.out,
                           .memory_budget = budget_of("service '" + making.service + "'", making.memory_budget),
                           .in_topic = requests,
                           .in = making.in,
                           .handler = handler,
                           .on_rejected = on_rejected,
                           .execution_thread = options.execution_thread,
                           .ghost = ghost_of("service '" + making.service + "'", making.ghost)});
    return std::make_unique<ServiceProviderCore>(impl);
  } catch (...) {
    impl->close();  // its own threads may be executing requests
    throw;
  }
}

}  // namespace sinew::detail

namespace sinew {

std::unique_ptr<detail::ServiceClientCore> Node::make_service_client(const std::string& name, const msg::Message& request,
                                                                     const detail::ObjectType& request_objects,
                                                                     const msg::Message& response, detail::ErrorOf error_of,
                                                                     const ServiceClientOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(this->name());
  return detail::make_client(
      {impl_->session, name, detail::out_of(request, request_objects), detail::in_of(response), options.memory_budget, options.ghost},
      error_of);
}

std::unique_ptr<detail::ServiceProviderCore> Node::make_service_provider(
    const std::string& name, const msg::Message& request, const msg::Message& response, const detail::ObjectType& response_objects,
    detail::ServiceProviderCore::Serve serve, detail::ServiceProviderCore::MakeError make_error, const ServiceProviderOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  detail::refuse_in_child(this->name());
  if (options.parallel == 0 || options.parallel > detail::most_parallel) {
    throw Error(ErrorKind::invalid_argument, "service '" + name + "': parallel = " + std::to_string(options.parallel) +
                                                 " is out of range: 1 executes one request at a time, " +
                                                 std::to_string(detail::most_parallel) + " are the most");
  }
  return detail::make_provider(
      {impl_->session, name, detail::out_of(response, response_objects), detail::in_of(request), options.memory_budget, options.ghost},
      std::move(serve), make_error, options);
}

}  // namespace sinew
