#include <memory>
#include <utility>

#include "api/service_raw.hpp"
#include "bindings/c/extents.hpp"
#include "bindings/c/frame.hpp"
#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

struct sinew_provider {
  detail::RawServiceProvider provider;
};

// A sinew_call is a detail::RawServiceCall.
static detail::RawServiceCall* call_of(sinew_call* call) {
  return reinterpret_cast<detail::RawServiceCall*>(call);
}
static const detail::RawServiceCall& call_of(const sinew_call* call) {
  return *reinterpret_cast<const detail::RawServiceCall*>(call);
}

static sinew_status status_of_answer(PublishResult result) {
  switch (result) {
    case PublishResult::published:
      return SINEW_OK;
    case PublishResult::would_block:
      return c::fail(SINEW_WOULD_BLOCK, "not answered: the client does not take the answers to its calls");
    case PublishResult::no_memory:
      return c::fail(SINEW_NO_MEMORY, "not answered: the provider's memory_budget or the machine's memory is used up; the client is told");
    case PublishResult::invalid:
    case PublishResult::closed:
      break;
  }
  return c::fail(SINEW_CLOSED, "not answered: the client has gone, or the provider was destroyed, or its node");
}

sinew_status sinew_provider_create(sinew_node* node, const char* service, const char* request_signature, const char* response_signature,
                                   const sinew_provider_options* options, sinew_provider** provider) {
  return c::guarded([&] {
    const sinew_provider_options asked = c::read(options, "sinew_provider_options");
    const std::shared_ptr<void> context = c::kept(asked.context, asked.release);
    sinew_provider*& into = c::given(provider, "provider");
    if (!asked.on_request) throw Error(ErrorKind::invalid_argument, "the option 'on_request' is NULL: a provider needs it");
    ServiceProviderOptions made;
    made.execution_thread = asked.execution_thread;
    if (asked.memory_budget != 0) made.memory_budget = asked.memory_budget;
    made.at_most_once = asked.at_most_once;
    made.ghost = c::ghost_of(asked.ghost);
    const auto handler = [call = asked.on_request, context](std::unique_ptr<detail::RawServiceCall> request) {
      call(context.get(), reinterpret_cast<sinew_call*>(request.release()));
    };
    into = new sinew_provider{detail::RawServiceProvider::create(*c::given(node, "node").node, &c::given(service, "service"),
                                                                 &c::given(request_signature, "request_signature"),
                                                                 &c::given(response_signature, "response_signature"), handler, made)};
    return SINEW_OK;
  });
}

void sinew_provider_destroy(sinew_provider* provider) {
  delete provider;
}

const sinew_frame* sinew_call_request(const sinew_call* call) {
  return c::shown(call_of(call).request());
}

bool sinew_call_is_cancelled(const sinew_call* call) {
  return call_of(call).is_cancelled();
}

sinew_status sinew_call_answer(sinew_call* call, const sinew_extent* extents, size_t count) {
  const std::unique_ptr<detail::RawServiceCall> owned(call_of(call));
  return c::guarded([&] { return status_of_answer(c::given(owned.get(), "call").answer(c::Extents(extents, count).all())); });
}

sinew_status sinew_call_fail(sinew_call* call, const char* text) {
  const std::unique_ptr<detail::RawServiceCall> owned(call_of(call));
  return c::guarded([&] {
    return c::given(owned.get(), "call").fail(&c::given(text, "text")) ? sinew_status{SINEW_OK} : status_of_answer(PublishResult::closed);
  });
}

void sinew_call_release(sinew_call* call) {
  delete call_of(call);
}

sinew_status sinew_provider_get_statistics(const sinew_provider* provider, sinew_provider_statistics* statistics) {
  return c::guarded([&] {
    sinew_provider_statistics& into = c::given(statistics, "statistics");
    const ServiceProviderStatistics told = c::given(provider, "provider").provider.statistics();
    into = {.answered = told.answered,
            .threw = told.threw,
            .cancelled = told.cancelled,
            .undelivered = told.undelivered,
            .excess = told.excess,
            .rejected = told.rejected,
            .running = told.running,
            .bytes_copied = told.bytes_copied,
            .clients = told.clients,
            .detached = told.detached};
    return SINEW_OK;
  });
}
