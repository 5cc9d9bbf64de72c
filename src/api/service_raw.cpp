#include "api/service_raw.hpp"

#include <new>

#include "api/node_impl.hpp"
#include "api/options.hpp"
#include "api/service_impl.hpp"
#include "api/service_provider_core.hpp"
#include "base/cancel.hpp"
#include "base/cut.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"
#include "wire/topic_name.hpp"

namespace sinew::detail {
namespace {

constexpr std::size_t longest_error = 64 * 1024;

struct Streams {
  Streams(const std::string& service, const std::string& request, const std::string& response)
      : requests(std::make_shared<ServiceStream>(wire::request_topic(service), ServiceStream::Part::request, request)),
        responses(std::make_shared<ServiceStream>(wire::response_topic(service), ServiceStream::Part::response, response)) {}
  std::shared_ptr<const ServiceStream> requests, responses;
};

ServiceOut out_of(const std::shared_ptr<const ServiceStream>& streams) {
  return {streams->type(), {.type = nullptr, .storage = streams, .objects = nullptr}};
}
ServiceIn in_of(const std::shared_ptr<const ServiceStream>& streams) {
  return {.type = streams->type(), .objects = nullptr, .opener = streams};
}

const ReceivedStream& received(const void* message) noexcept {
  return *static_cast<const ReceivedStream*>(message);
}

class RawAnswer final : public AwaitedAnswer {
 public:
  explicit RawAnswer(RawServiceClient::Callback callback) : AwaitedAnswer(true), callback_(std::move(callback)) {}
  void answer(std::shared_ptr<const void>&&, const void* response) override { callback_(received(response).body, nullptr); }
  void fail(const ServiceError& error) override { callback_(nullptr, &error); }

 private:
  const RawServiceClient::Callback callback_;
};

SharedMessage message_of(const ServiceStream& streams, std::uint64_t id, Extents stream) {
  return {std::make_shared<const StreamToSend>(streams.to_send(id, stream))};
}

}  // namespace

// --- clients -----------------------------------------------------------------------------------------------------------------------------

RawServiceClient RawServiceClient::create(const Node& node, const std::string& service, const std::string& request,
                                          const std::string& response, const ServiceClientOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  refuse_in_child(node.name());
  require_budget_of_streams("service '" + service + "'", options.memory_budget);
  const Streams streams(service, request, response);
  const ErrorOf error_of = [](const void* message) { return received(message).error; };
  return {make_client({NodeAccess::session(node), service, out_of(streams.requests), in_of(streams.responses), options.memory_budget,
                       options.ghost},
                      error_of),
          streams.requests};
}

std::uint64_t RawServiceClient::call(Extents request, Callback callback, std::chrono::nanoseconds timeout) const {
  const shm::HeapScope heap;
  const std::uint64_t id = core_->next_id();
  SharedMessage message = message_of(*requests_, id, request);
  core_->call(id, std::move(message), std::make_shared<RawAnswer>(std::move(callback)), timeout);
  return id;
}

std::shared_ptr<RawFrame> RawServiceClient::call_and_wait(Extents request, std::chrono::nanoseconds timeout) const {
  const shm::HeapScope heap;
  const std::uint64_t id = core_->next_id();
  return received(core_->call_and_wait(id, message_of(*requests_, id, request), timeout).get()).body;
}

// --- calls -------------------------------------------------------------------------------------------------------------------------------

RawServiceCall::~RawServiceCall() {
  const shm::HeapScope heap;
  fail("the provider let go of the request without an answer");
}

PublishResult RawServiceCall::answer(Extents response) {
  const shm::HeapScope heap;
  const auto provider = std::exchange(provider_, {}).lock();
  if (!provider || session::forked()) return PublishResult::closed;
  try {
    return provider->reply(*call_, std::make_shared<const StreamToSend>(responses_->to_send(call_->id, response)));
  } catch (const std::bad_alloc&) {
    provider->fail(*call_, ServiceStatus::no_memory, {"the provider has no memory for the response"});
    return PublishResult::no_memory;
  } catch (const ServiceError& error) {
    provider->fail(*call_, ServiceStatus::threw, {"the response cannot be sent: ", error.what()});
    throw;
  }
}

bool RawServiceCall::fail(std::string_view text) {
  const shm::HeapScope heap;
  const auto provider = std::exchange(provider_, {}).lock();
  if (!provider || session::forked()) return false;
  provider->fail(*call_, ServiceStatus::threw, {base::cut(text, longest_error)});
  return true;
}

// --- providers ---------------------------------------------------------------------------------------------------------------------------

RawServiceProvider RawServiceProvider::create(const Node& node, const std::string& service, const std::string& request,
                                              const std::string& response, Handler handler, const ServiceProviderOptions& options) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  refuse_in_child(node.name());
  require_budget_of_streams("service '" + service + "'", options.memory_budget);
  const Streams streams(service, request, response);
  if (streams.responses->least() > options.memory_budget) {
    throw Error(ErrorKind::invalid_argument, "service '" + service + "': memory_budget = " + std::to_string(options.memory_budget) +
                                                 " is out of range: the least response takes " +
                                                 std::to_string(streams.responses->least()) + " bytes, for its arrays have lengths");
  }
  const auto serve = [handler = std::move(handler), responses = streams.responses](
                         const void* message, const std::shared_ptr<RunningCall>& call, ServiceProviderCore::Impl& provider) {
    handler(std::make_unique<RawServiceCall>(call, provider.weak_from_this(), responses, received(message).body));
  };
  const auto make_error = [](std::uint64_t id, ServiceStatus status, const std::string& text) -> std::shared_ptr<const void> {
    return std::make_shared<const StreamToSend>(StreamToSend{.id = id, .status = static_cast<std::uint64_t>(status), .error = text});
  };
  return RawServiceProvider(make_provider(
      {NodeAccess::session(node), service, out_of(streams.responses), in_of(streams.requests), options.memory_budget, options.ghost}, serve,
      make_error, options));
}

}  // namespace sinew::detail
