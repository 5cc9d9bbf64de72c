#include "api/service_impl.hpp"

#include <functional>
#include <limits>
#include <new>
#include <utility>

#include "api/publisher_impl.hpp"
#include "api/service_client_core.hpp"
#include "api/service_provider_core.hpp"
#include "api/subscriber_impl.hpp"
#include "base/random.hpp"
#include "wire/topic_name.hpp"

namespace sinew::detail {
namespace {

constexpr std::size_t usual_notes = 16;  // so many need no memory

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

constexpr wire::Quality quality{.depth = 0, .reliable = true};

}  // namespace

std::uint64_t new_endpoint(bool at_most_once) {
  std::uint64_t number = 0;
  while (number == 0) number = base::random_number() & ~at_most_once_bit;
  return at_most_once ? number | at_most_once_bit : number;
}

void make_ends(ServiceEnds& ends, const EndsToMake& making) {
  ends.sends = PublisherCore::Impl::create(
      making.session, making.out.topic, making.out.type, making.objects,
      {.budget = making.memory_budget, .quality = quality, .endpoint = making.endpoint, .watcher = making.watcher, .ghost = making.ghost},
      {}, making.execution_thread);
  ends.publisher = ends.sends->impl().publisher;

  const auto receives = std::make_shared<SubscriberCore::Impl>();
  receives->handler = making.handler;
  receives->on_rejected = making.on_rejected;
  const msg::Type& type = *making.in.type.type;
  ends.receives = receives->create(making.session, making.in.topic, making.in.type,
                                   {.quality = quality,
                                    .thinning = {},
                                    .reading = type.has_views ? session::Reading::pieces : session::Reading::as_possible,
                                    .takes_pointers = !type.has_views && !making.ghost,
                                    .in_place = type.in_place,
                                    .endpoint = making.endpoint,
                                    .watcher = making.watcher,
                                    .ghost = making.ghost},
                                   {}, making.execution_thread);
  ends.subscription = receives->subscription;
}

std::unique_ptr<ServiceClientCore> make_client(const Making& making, ErrorOf error_of) {
  const auto impl = std::make_shared<ServiceClientCore::Impl>();
  impl->service = making.service;
  impl->session = making.session;
  impl->error_of = error_of;
  impl->destroyed.emplace(ServiceError::Kind::cancelled, "service '" + making.service + "' was not answered: the client was destroyed");
  const std::weak_ptr<ServiceClientCore::Impl> weak = impl;
  impl->in_short = errors_in_short(making.service);
  impl->left.reserve(usual_notes);
  impl->rejected.reserve(usual_notes);
  impl->timer = session::Timer::create(making.session->loop(), [weak] {
    const auto client = weak.lock();
    return client ? client->look_at_time() : session::Timer::never;
  });
  const std::string requests = wire::request_topic(making.service), responses = wire::response_topic(making.service);
  const std::function<void(const Rejected&)> on_rejected = [weak](const Rejected& response) {
    if (const auto client = weak.lock()) client->note_rejected(response);
  };
  make_ends(impl->ends, {.session = making.session,
                         .endpoint = new_endpoint(false),
                         .watcher = impl->watch,
                         .out = {requests, making.request},
                         .objects = making.objects,
                         .memory_budget = making.memory_budget,
                         .in = {responses, making.response},
                         .handler = {},
                         .on_rejected = on_rejected,
                         .ghost = making.ghost});
  impl->requests = impl->ends.sends;
  auto core = std::make_unique<ServiceClientCore>(impl);
  impl->ready();
  return core;
}

std::unique_ptr<ServiceProviderCore> make_provider(const Making& making, ServiceProviderCore::Serve serve,
                                                   ServiceProviderCore::MakeError make_error, const ServiceProviderOptions& options) {
  const auto impl = std::make_shared<ServiceProviderCore::Impl>();
  impl->service = making.service;
  impl->session = making.session;
  impl->serve = std::move(serve);
  impl->make_error = make_error;
  impl->parallel = options.parallel;
  impl->early_in_need.reserve(usual_notes);
  impl->owed.reserve(usual_notes);
  const std::weak_ptr<ServiceProviderCore::Impl> weak = impl;
  impl->timer = session::Timer::create(making.session->loop(), [weak] {
    const auto provider = weak.lock();
    return provider ? provider->try_again() : session::Timer::never;
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
                           .out = {responses, making.response},
                           .objects = making.objects,
                           .memory_budget = making.memory_budget,
                           .in = {requests, making.request},
                           .handler = handler,
                           .on_rejected = on_rejected,
                           .execution_thread = options.execution_thread,
                           .ghost = making.ghost});
    return std::make_unique<ServiceProviderCore>(impl);
  } catch (...) {
    impl->close();  // its own threads may be executing requests
    throw;
  }
}

}  // namespace sinew::detail
