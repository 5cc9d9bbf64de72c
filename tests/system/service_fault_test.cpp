// Whatever system call fails, once: every call of a service ends, with an answer or an error that says why; nothing leaks, and others go on.
#include "tests/system/faults.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceFaults : public WithFaults {};

// What a call came to: "right", the error, or that no provider is connected any more, for which it waits.
std::string end_of(const WorkClient& client, PendingCall<Work::Response> call, std::uint64_t number, std::uint64_t size) {
  const auto has_ended = [&] { return call.wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  if (!eventually([&] { return has_ended() || client.statistics().providers == 0; })) return "it hangs";
  if (!has_ended()) return "no provider";
  try {
    return is_right(call.get(), number, 1, size) ? "right" : "wrong";
  } catch (const ServiceError& error) {
    return std::string("error: ") + error.what();
  }
}

void expect_an_end(const WorkClient& client, std::uint64_t number, std::uint64_t size, const std::function<bool()>& may_fail) {
  Work::Request request = addition(number, 1, size);
  const std::string end = end_of(client, const_cast<WorkClient&>(client).call(std::move(request)), number, size);
  if (may_fail()) {
    EXPECT_TRUE(end == "right" || end == "no provider" || end.starts_with("error: ")) << end;
  } else {
    EXPECT_EQ(end, "right");
  }
}

class FaultsOfAClient : public ServiceFaults {
 protected:
  void walk_with(const std::string& options) {
    auto keeper = Node::create("keeper");  // the manager stays
    Child provider = worker("provider", options);
    walk([&](const auto& happened) {
      auto node = Node::create("node");
      auto client = node->create_service_client<Work::Request, Work::Response>("work");
      // Where it happens while the pair comes together, the pair may be given up.
      EXPECT_TRUE(eventually([&] { return client->statistics().providers == 1 || happened(); }));
      for (const std::uint64_t size : {10U, 3'000'000U, 10U}) expect_an_end(*client, size + 1, size, happened);
      auto left = client->call({.what = "wait", .terms = {}});
      left.cancel();
      EXPECT_EQ(kind_of_error(std::move(left)), ServiceError::Kind::cancelled);
      const bool has_happened = happened();
      os::fault::disarm();
      os::fault::arm(GetParam(), has_happened ? 1'000'000 : 1, likely_error(GetParam()));  // while it is destroyed
    });
    auto client = keeper->create_service_client<Work::Request, Work::Response>("work");
    EXPECT_TRUE(is_right(client->call(addition(7)).get(), 7));
    provider.end();
  }
};

TEST_P(FaultsOfAClient, EndNoCallWithoutAnAnswerOrAnError) {
  walk_with("parallel=2");
}

TEST_P(FaultsOfAClient, EndNoCallWithoutAnAnswerOrAnErrorAlsoWhereNoneIsExecutedTwice) {
  walk_with("once");
}

class FaultsOfAProvider : public ServiceFaults {};

// Calls with responses of so many bytes, on order.
ROLE(patient_caller) {
  auto node = Node::create("patient");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  say("ready");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "await") {
      await_providers(*client, 1);
      say("done");
    } else if (order == "leave") {
      await_providers(*client, 0);
      say("done");
    } else {
      say(end_of(*client, client->call(addition(5, 1, std::stoul(order))), 5, std::stoul(order)));
    }
  }
}

TEST_P(FaultsOfAProvider, EndNoCallWithoutAnAnswerOrAnError) {
  auto keeper = Node::create("keeper");
  Child caller("patient_caller");
  caller.expect("ready");
  walk([&](const auto& happened) {
    auto node = Node::create("node");
    auto provider = node->create_service_provider<Work::Request, Work::Response>(
        "work", [](const Work::Request& request) { return result_of(request, "provider"); }, {.parallel = 2});
    const auto end_of_one = [&](const std::string& size) {
      caller.order(size);
      return caller.line().value_or("nothing");
    };
    EXPECT_TRUE(eventually([&] { return end_of_one("1") == "right" || happened(); }));
    for (const char* size : {"10", "3000000", "10"}) {
      const std::string end = end_of_one(size);
      if (happened()) {
        EXPECT_TRUE(end == "right" || end == "no provider" || end.starts_with("error: ")) << end;
      } else {
        EXPECT_EQ(end, "right");
      }
    }
  });
  caller.order("leave");
  caller.expect("done");
  Child provider = worker("provider");
  caller.order("await");
  caller.expect("done");
  caller.order("1000");
  caller.expect("right");
  caller.order("end");
  caller.end();
  provider.end();
}

const auto name_of_call = [](const auto& call) { return std::to_string(static_cast<int>(call.param)); };
INSTANTIATE_TEST_SUITE_P(OfCall, FaultsOfAClient, ::testing::ValuesIn(every_call()), name_of_call);
INSTANTIATE_TEST_SUITE_P(OfCall, FaultsOfAProvider, ::testing::ValuesIn(every_call()), name_of_call);

}  // namespace
}  // namespace sinew::system
