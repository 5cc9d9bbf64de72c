#include "api/service_impl.hpp"

#include <functional>
#include <limits>
#include <new>
#include <random>
#include <utility>

#include "api/publisher_impl.hpp"
#include "api/service_client_core.hpp"
#include "api/service_provider_core.hpp"
#include "api/subscriber_impl.hpp"
#include "wire/topic_name.hpp"

namespace sinew::detail {
namespace {

constexpr wire::Quality quality{.depth = 0, .reliable = true};

wire::TypeDescription description_of(const msg::Message& type) {
  return {type.name, type.signature, type.hash, type.layout};
}

}  // namespace

std::uint64_t new_endpoint(bool at_most_once) {
  std::random_device random;
  std::uint64_t number = 0;
  while (number < 2) number = (std::uint64_t{random()} << 32U | random()) & ~at_most_once_bit;
  return at_most_once ? number | at_most_once_bit : number;
}

void make_ends(ServiceEnds& ends, const std::shared_ptr<session::NodeSession>& session, std::uint64_t endpoint,
               const std::weak_ptr<session::EndpointWatcher>& watcher, const ServiceSide& out, const ObjectType& objects,
               std::size_t memory_budget, const ServiceSide& in, Handler handler, std::function<void(std::uint64_t)> on_rejected,
               ThreadId execution_thread) {
  ends.session = session;
  auto sends = std::make_unique<PublisherCore::Impl>();
  sends->topic = out.topic;
  sends->type = out.type.type;
  sends->session = session;
  sends->storage = storage_of(*out.type.type);
  sends->objects = objects_of(*out.type.type, objects);
  sends->publisher = session->create_publisher(out.topic, description_of(out.type), sends->storage, sends->objects,
                                               {.budget = memory_budget, .quality = quality, .endpoint = endpoint, .watcher = watcher},
                                               PublisherEvents{}, execution_thread);
  ends.publisher = sends->publisher;
  try {
    ends.sends = std::make_shared<PublisherCore>(std::move(sends));
  } catch (const std::bad_alloc&) {
    session->remove(*ends.publisher);
    throw;
  }

  auto receives = std::make_shared<SubscriberCore::Impl>();
  receives->topic = in.topic;
  receives->type = in.type.type;
  receives->handler = std::move(handler);
  receives->session = session;
  receives->on_rejected = std::move(on_rejected);
  const bool has_views = in.type.type->has_views;
  receives->subscription =
      session->create_subscription(in.topic, description_of(in.type),
                                   {.quality = quality,
                                    .thinning = {},
                                    .reading = has_views ? session::Reading::pieces : session::Reading::as_possible,
                                    .takes_pointers = !has_views,
                                    .in_place = in.type.type->in_place,
                                    .endpoint = endpoint,
                                    .watcher = watcher},
                                   receives->handler.call ? receives.get() : nullptr, SubscriberEvents{}, execution_thread);
  ends.subscription = receives->subscription;
  try {
    ends.receives = std::make_shared<SubscriberCore>(std::move(receives));
  } catch (const std::bad_alloc&) {
    session->remove(ends.subscription);
    throw;
  }
}

std::unique_ptr<ServiceClientCore> make_client(const Making& making, ErrorOf error_of) {
  const auto impl = std::make_shared<ServiceClientCore::Impl>();
  impl->service = making.service;
  impl->session = making.session;
  impl->error_of = error_of;
  impl->destroyed.emplace(ServiceError::Kind::cancelled, "service '" + making.service + "' was not answered: the client was destroyed");
  const std::weak_ptr<ServiceClientCore::Impl> weak = impl;
  impl->timer = session::Timer::create(making.session->loop(), [weak] {
    const auto client = weak.lock();
    return client ? client->expire() : session::Timer::never;
  });
  const std::string requests = wire::request_topic(making.service), responses = wire::response_topic(making.service);
  make_ends(
      impl->ends, making.session, new_endpoint(false), impl->watch, {requests, making.request}, making.objects, making.memory_budget,
      {responses, making.response}, {},
      [weak](std::uint64_t endpoint) {
        if (const auto client = weak.lock()) client->note_rejected(endpoint);
      },
      0);
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
  const std::weak_ptr<ServiceProviderCore::Impl> weak = impl;
  impl->timer = session::Timer::create(making.session->loop(), [weak] {
    const auto provider = weak.lock();
    return provider ? provider->try_again() : session::Timer::never;
  });
  const std::string requests = wire::request_topic(making.service), responses = wire::response_topic(making.service);
  // What is executed later, on another thread, is kept until then.
  const Handler::Takes takes = options.parallel > 1 ? Handler::Takes::share : Handler::Takes::look;
  make_ends(
      impl->ends, making.session, new_endpoint(options.at_most_once), impl->watch, {responses, making.response}, making.objects,
      making.memory_budget, {requests, making.request},
      {takes, true,
       [weak](ReceivedMessage& message) {
         if (const auto provider = weak.lock()) provider->receive(message);
       }},
      [weak](std::uint64_t endpoint) {
        if (const auto provider = weak.lock()) provider->unreadable(endpoint);
      },
      options.execution_thread);
  return std::make_unique<ServiceProviderCore>(impl);
}

}  // namespace sinew::detail
