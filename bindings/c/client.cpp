#include <memory>
#include <utility>

#include "api/service_raw.hpp"
#include "bindings/c/extents.hpp"
#include "bindings/c/frame.hpp"
#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

struct sinew_client {
  detail::RawServiceClient client;
};

sinew_status sinew_client_create(sinew_node* node, const char* service, const char* request_signature, const char* response_signature,
                                 const sinew_client_options* options, sinew_client** client) {
  return c::guarded([&] {
    const sinew_client_options asked = c::read(options, "sinew_client_options");
    sinew_client*& into = c::given(client, "client");
    ServiceClientOptions made;
    if (asked.memory_budget != 0) made.memory_budget = asked.memory_budget;
    made.ghost = c::ghost_of(asked.ghost);
    into = new sinew_client{detail::RawServiceClient::create(*c::given(node, "node").node, &c::given(service, "service"),
                                                             &c::given(request_signature, "request_signature"),
                                                             &c::given(response_signature, "response_signature"), made)};
    return SINEW_OK;
  });
}

void sinew_client_destroy(sinew_client* client) {
  delete client;
}

sinew_status sinew_client_call(sinew_client* client, const sinew_extent* extents, size_t count, int64_t timeout_ns,
                               sinew_frame** response) {
  return c::guarded([&] {
    sinew_frame*& into = c::given(response, "response");
    const detail::RawServiceClient& from = c::given(client, "client").client;
    into = c::given_away(from.call_and_wait(c::Extents(extents, count).all(), c::timeout_of(timeout_ns)));
    return SINEW_OK;
  });
}

sinew_status sinew_client_call_async(sinew_client* client, const sinew_extent* extents, size_t count, int64_t timeout_ns,
                                     sinew_response_callback on_response, void* context, uint64_t* call) {
  return c::guarded([&] {
    const detail::RawServiceClient& from = c::given(client, "client").client;
    if (!on_response) throw Error(ErrorKind::invalid_argument, "the argument 'on_response' is NULL");
    const auto tell = [on_response, context](std::shared_ptr<detail::RawFrame> response, const ServiceError* error) {
      if (error) return on_response(context, c::status_of(error->kind()), nullptr, error->what());
      on_response(context, SINEW_OK, c::given_away(std::move(response)), "");
    };
    const std::uint64_t made = from.call(c::Extents(extents, count).all(), tell, c::timeout_of(timeout_ns));
    if (call) *call = made;
    return SINEW_OK;
  });
}

void sinew_client_cancel(sinew_client* client, uint64_t call) {
  if (client) client->client.cancel(call);
}

sinew_status sinew_client_get_statistics(const sinew_client* client, sinew_client_statistics* statistics) {
  return c::guarded([&] {
    sinew_client_statistics& into = c::given(statistics, "statistics");
    const ServiceClientStatistics told = c::given(client, "client").client.statistics();
    into = {.calls = told.calls,
            .answered = told.answered,
            .failed = told.failed,
            .resent = told.resent,
            .strays = told.strays,
            .rejected = told.rejected,
            .pending = told.pending,
            .bytes_copied = told.bytes_copied,
            .providers = told.providers,
            .detached = told.detached};
    return SINEW_OK;
  });
}
