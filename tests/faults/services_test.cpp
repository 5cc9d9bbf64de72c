// Calls of services while system calls fail: each ends, with an answer or with an error that says why.
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <optional>
#include <utility>

#include "tests/faults/peer.hpp"
#include "tests/faults/walk.hpp"

namespace sinew::system {
namespace {

class ServiceFaults : public BesidePeer {
 protected:
  /// The node lives on, and works.
  void walk_services(const std::string& operation, const Scenario& scenario) {
    walk(operation,
         [&](Fault& fault) {
           scenario(fault);
           expect_service_to_work(*node_);
         },
         {&peer_->process()});
  }
  std::shared_ptr<WorkClient> create_client(const char* service = "work") {
    return node_->create_service_client<Work::Request, Work::Response>(service);
  }
  std::shared_ptr<WorkClient> connected_client(const char* service = "work") {
    auto client = create_client(service);
    await_providers(*client, 1);
    return client;
  }
};

template <class Future>
bool is_ready(const Future& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// The call has ended, or it waits for a provider, having lost the one that there is; then it can be cancelled.
template <class Call>
void expect_an_end(Call call, const WorkClient& client, const Fault& fault, const std::function<bool(Call&)>& is_right) {
  EXPECT_TRUE(eventually([&] { return is_ready(call) || client.statistics().providers == 0; })) << "it hangs";
  if (!is_ready(call)) {
    EXPECT_TRUE(fault.was_reached());
    call.cancel();
  }
  try {
    EXPECT_TRUE(is_right(call));
  } catch (const ServiceError& error) {
    EXPECT_TRUE(fault.was_reached()) << error.what();
    EXPECT_GT(std::string(error.what()).size(), 20U);
  }
}

TEST_F(ServiceFaults, a_client_is_created_and_connected_or_it_says_why_not) {
  walk_services("create_service_client", [&](Fault& fault) {
    std::shared_ptr<WorkClient> client;
    fault.during([&] {
      client = create_client();
      fault.await([&] { return client->statistics().providers == 1; });
    });
  });
}

TEST_F(ServiceFaults, a_call_for_a_future_ends) {
  for (const char* const service : {"work", "once"}) {  // the second executes no request twice
    for (const std::uint64_t size : {10U, 3'000'000U}) {
      walk_services(std::string("call of ") + service + " for a future, response of " + std::to_string(size), [&](Fault& fault) {
        const auto client = connected_client(service);
        std::optional<PendingCall<Work::Response>> call;
        fault.during([&] {
          call = client->call(addition(1, 1, size));
          fault.await([&] { return is_ready(*call); });
        });
        if (call)
          expect_an_end<PendingCall<Work::Response>>(std::move(*call), *client, fault,
                                                     [&](auto& it) { return is_right(it.get(), 1, 1, size); });
      });
    }
  }
}

TEST_F(ServiceFaults, a_call_with_a_loaned_request_ends) {
  using Call = PendingCall<std::shared_ptr<const Work::Response>>;
  walk_services("call with a loaned request", [&](Fault& fault) {
    const auto client = connected_client();
    std::optional<Call> call;
    fault.during([&] {
      call = client->call_shared(loaned_addition(*client, 1, 300'000));
      fault.await([&] { return is_ready(*call); });
    });
    if (call) expect_an_end<Call>(std::move(*call), *client, fault, [](auto& it) { return is_right(*it.get(), 1); });
  });
}

TEST_F(ServiceFaults, a_call_with_a_callback_ends_with_one_call_of_it) {
  walk_services("call with a callback", [&](Fault& fault) {
    std::atomic<int> right = 0, errors = 0;
    auto client = connected_client();
    bool is_called = false;
    fault.during([&] {
      client->call(addition(1), [&](std::shared_ptr<const Work::Response> response, const ServiceError*) {
        response&& is_right(*response, 1) ? ++right : ++errors;
      });
      is_called = true;
      fault.await([&] { return right + errors > 0; });
    });
    const auto has_ended = [&] { return !is_called || right + errors > 0 || client->statistics().providers == 0; };
    EXPECT_TRUE(eventually(has_ended)) << "it hangs";
    client.reset();  // which calls back for what has not ended
    EXPECT_EQ(right + errors, is_called ? 1 : 0);
  });
}

TEST_F(ServiceFaults, a_blocking_call_ends) {
  walk_services("call_and_wait", [&](Fault& fault) {
    const auto client = connected_client();
    const auto call = [&](std::chrono::nanoseconds timeout) { EXPECT_TRUE(is_right(*client->call_and_wait(addition(1), timeout), 1)); };
    fault.during([&] {
      try {
        call(std::chrono::milliseconds(300));
      } catch (const ServiceError& error) {
        // Where the provider was lost, nothing but the time ends it; else it was slow.
        if (fault.happened() || error.kind() != ServiceError::Kind::timeout) throw;
        call(std::chrono::seconds(60));
      }
    });
  });
}

TEST_F(ServiceFaults, a_call_is_cancelled) {
  walk_services("cancel and recall", [&](Fault& fault) {
    const auto client = connected_client();
    std::optional<PendingCall<Work::Response>> call;
    fault.during([&] {
      call = client->call({.what = "wait", .terms = {}});
      call->cancel();
      EXPECT_FALSE(client->recall(0));
    });
    if (!call) return;
    const auto kind = kind_of_error(std::move(*call));
    EXPECT_TRUE(kind == ServiceError::Kind::cancelled || (fault.was_reached() && kind)) << "it ends without an error";
  });
}

TEST_F(ServiceFaults, a_client_goes_with_calls_that_wait) {
  walk_services("~ServiceClient", [&](Fault& fault) {
    auto client = connected_client();
    auto call = client->call({.what = "wait", .terms = {}});
    fault.during([&] { client.reset(); });
    EXPECT_EQ(kind_of_error(std::move(call)), ServiceError::Kind::cancelled);
  });
}

TEST_F(ServiceFaults, a_provider_is_created_and_serves_or_the_next_one_does) {
  for (const std::uint32_t parallel : {1U, 2U}) {
    const auto create = [&] {
      return node_->create_service_provider<Work::Request, Work::Response>(
          "served", [](const Work::Request& request) { return result_of(request, "here"); }, {.parallel = parallel});
    };
    walk_services("create_service_provider, parallel=" + std::to_string(parallel), [&](Fault& fault) {
      std::shared_ptr<WorkProvider> provider;
      // The client that waits is one of this process: the other one is asked when nothing fails any more.
      const auto client = node_->create_service_client<Work::Request, Work::Response>("served");
      auto call = client->call(addition(2));
      fault.during([&] {
        provider = create();
        fault.await([&] { return is_ready(call); });
      });
      provider.reset();
      provider = create();
      EXPECT_TRUE(eventually([&] { return is_ready(call); }));
      peer_->tell("call 1000000");
    });
  }
}

TEST_F(ServiceFaults, a_provider_answers_those_elsewhere_or_they_are_told_why_not) {
  walk_services("a response to another process", [&](Fault& fault) {
    auto provider = node_->create_service_provider<Work::Request, Work::Response>(
        "served",
        [](const Work::Request& request, ServiceCall<Work::Response>& call) {
          call.build([&](Work::Response& response) { response = result_of(request, "here"); });
        },
        {});
    // One that would wait for ever is ended by the provider's end.
    std::future<std::string> end;
    fault.during([&] {
      end = std::async(std::launch::async, [&] { return peer_->ask("call 1000000"); });
      fault.await([&] { return is_ready(end); });
    });
    if (end.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
      EXPECT_TRUE(fault.was_reached());
      provider.reset();
      provider = node_->create_service_provider<Work::Request, Work::Response>(
          "served", [](const Work::Request& request) { return result_of(request, "here"); });
    }
    const std::string said = end.get();
    EXPECT_TRUE(said == "done" || (fault.was_reached() && said.size() > 20)) << said;
  });
}

}  // namespace
}  // namespace sinew::system
