// Programs that are written for rclcpp: services and their clients.
#include <atomic>
#include <std_srvs/srv/trigger.hpp>
#include <thread>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

ROLE(adder) {
  begin();
  const auto node = std::make_shared<rclcpp::Node>("adder");
  const auto service = node->create_service<AddTwoInts>(
      "add", [](const std::shared_ptr<AddTwoInts::Request> request, std::shared_ptr<AddTwoInts::Response> response) {
        if (request->a < 0) throw std::runtime_error("that is too little");
        response->sum = request->a + request->b;
      });
  std::thread orders([] {
    until_finished();
    rclcpp::shutdown();
  });
  rclcpp::spin(node);
  orders.join();
}

class Services : public Rclcpp {
 protected:
  void SetUp() override {
    Rclcpp::SetUp();
    node = std::make_shared<rclcpp::Node>("node");
    client = node->create_client<AddTwoInts>("add");
  }
  void TearDown() override {
    client.reset();
    node.reset();
    Rclcpp::TearDown();
  }
  static std::shared_ptr<AddTwoInts::Request> request(std::int64_t a, std::int64_t b) {
    const auto made = std::make_shared<AddTwoInts::Request>();
    made->a = a;
    made->b = b;
    return made;
  }
  /// Until all that was asked for is answered, without spinning.
  void await_answers() { client->async_send_request(request(0, 0)).wait(); }

  std::shared_ptr<rclcpp::Node> node;
  rclcpp::Client<AddTwoInts>::SharedPtr client;
};

TEST_F(Services, ARequestIsAnsweredByAnotherProcess) {
  Child adder("adder");
  EXPECT_TRUE(client->wait_for_service());
  EXPECT_TRUE(eventually([&] { return client->service_is_ready(); }));
  auto result = client->async_send_request(request(20, 22));
  ASSERT_EQ(rclcpp::spin_until_future_complete(node, result), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(result.get()->sum, 42);
  // Also to who waits without spinning.
  EXPECT_EQ(client->async_send_request(request(1, 2)).get()->sum, 3);
  adder.end();
}

TEST_F(Services, AResponseThatTheCallbackKeepsStaysAsItWas) {
  using std_srvs::srv::Trigger;
  std::shared_ptr<Trigger::Response> kept;
  const auto service = node->create_service<Trigger>(
      "trigger", [&](const std::shared_ptr<Trigger::Request>, const std::shared_ptr<Trigger::Response> response) {
        response->message = "long enough to lie outside of the string itself";
        kept = response;
      });
  const auto caller = node->create_client<Trigger>("trigger");
  auto result = caller->async_send_request(std::make_shared<Trigger::Request>());
  ASSERT_EQ(rclcpp::spin_until_future_complete(node, result, std::chrono::hours(1)), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(result.get()->message, kept->message);
  EXPECT_NE(kept->message, "");
}

TEST_F(Services, ACallbackThatTakesTheRequestsIdIsCalledToo) {
  const auto service = node->create_service<AddTwoInts>(
      "add", [](const std::shared_ptr<rmw_request_id_t> id, const std::shared_ptr<AddTwoInts::Request> request,
                const std::shared_ptr<AddTwoInts::Response> response) { response->sum = id ? request->a - request->b : 0; });
  auto result = client->async_send_request(request(5, 3));
  ASSERT_EQ(rclcpp::spin_until_future_complete(node, result, std::chrono::hours(1)), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(result.get()->sum, 2);
}

TEST_F(Services, CallbacksOfAnswersRunInSpinAndFuturesAreReadyBehindThem) {
  Child adder("adder");
  using SharedFuture = rclcpp::Client<AddTwoInts>::SharedFuture;
  std::thread::id thread;
  std::int64_t sum = 0;
  const auto add = [&] {
    return client->async_send_request(request(1, 2), [&](SharedFuture answer) {
      thread = std::this_thread::get_id();
      sum = answer.get()->sum;
    });
  };
  auto sent = add();
  await_answers();
  EXPECT_EQ(sum, 0);
  EXPECT_NE(sent.wait_for(0s), std::future_status::ready);
  for (int i = 0; i < rounds(50); ++i) {
    ASSERT_EQ(rclcpp::spin_until_future_complete(node, sent), rclcpp::FutureReturnCode::SUCCESS);
    ASSERT_EQ(std::exchange(sum, 0), 3);
    sent = add();
  }
  EXPECT_EQ(thread, std::this_thread::get_id());
  adder.end();
}

TEST_F(Services, TheCallbackOfARequestThatIsRemovedIsNotCalledNorThatOfAClientThatIsGone) {
  using SharedFuture = rclcpp::Client<AddTwoInts>::SharedFuture;
  int calls = 0;
  const auto add = [&] { return client->async_send_request(request(1, 2), [&](SharedFuture) { ++calls; }); };
  const auto expect_none_and_an_error = [&](const auto& sent) {
    EXPECT_EQ(rclcpp::spin_until_future_complete(node, sent), rclcpp::FutureReturnCode::SUCCESS);
    rclcpp::spin_some(node);
    EXPECT_EQ(calls, 0);
    EXPECT_THROW(sent.get(), ServiceError);
  };
  auto sent = add();
  client->remove_pending_request(sent);
  expect_none_and_an_error(sent);
  sent = add();
  client.reset();
  expect_none_and_an_error(sent);

  // Also where the answer is there, and waits for who spins.
  client = node->create_client<AddTwoInts>("add");
  Child adder("adder");
  const auto removed = add();
  const auto other = add();
  await_answers();
  client->remove_pending_request(removed);
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, removed), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, other), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(calls, 1);
  const auto late = add();
  await_answers();
  client.reset();
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, late), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(late.get()->sum, 3);
  adder.end();
}

TEST_F(Services, AServiceThatItsOwnCallbackDestroysAnswersFirst) {
  int runs = 0;
  rclcpp::Service<AddTwoInts>::SharedPtr service;
  service = node->create_service<AddTwoInts>(
      "add", [&](const std::shared_ptr<AddTwoInts::Request> request, std::shared_ptr<AddTwoInts::Response> response) {
        ++runs;
        response->sum = request->a + request->b;
        service.reset();
      });
  auto sent = client->async_send_request(request(20, 22));
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, sent, 10s), rclcpp::FutureReturnCode::SUCCESS);
  EXPECT_EQ(sent.get()->sum, 42);
  EXPECT_EQ(runs, 1);
}

TEST_F(Services, WhatTheServiceThrowsReachesTheCaller) {
  Child adder("adder");
  auto result = client->async_send_request(request(-1, 2));
  ASSERT_EQ(rclcpp::spin_until_future_complete(node, result), rclcpp::FutureReturnCode::SUCCESS);
  try {
    result.get();
    FAIL();
  } catch (const ServiceError& error) {
    EXPECT_STREQ(error.what(), "that is too little");
  }
  adder.end();
}

TEST_F(Services, WaitingEndsInTimeAndWhenTheServiceComes) {
  EXPECT_FALSE(client->service_is_ready());
  EXPECT_FALSE(client->wait_for_service(5ms));
  auto result = client->async_send_request(request(1, 2));
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, result, 5ms), rclcpp::FutureReturnCode::TIMEOUT);
  std::atomic<bool> found{false};
  std::thread waiting([&] { found = client->wait_for_service(std::chrono::hours(1)); });
  Child adder("adder");
  waiting.join();
  EXPECT_TRUE(found);
  EXPECT_EQ(rclcpp::spin_until_future_complete(node, result, std::chrono::hours(1)), rclcpp::FutureReturnCode::SUCCESS);
  adder.end();
}

TEST_F(Services, ARequestThatIsRemovedEndsWithAnError) {
  auto result = client->async_send_request(request(1, 2));
  client->remove_pending_request(result);
  EXPECT_THROW(result.get(), ServiceError);
}

TEST_F(Services, AClientMayOutliveItsNodeAndAnswersGoNowhere) {
  Child adder("adder");
  int calls = 0;
  const auto sent = client->async_send_request(request(1, 2), [&](rclcpp::Client<AddTwoInts>::SharedFuture) { ++calls; });
  await_answers();
  node.reset();
  EXPECT_EQ(sent.get()->sum, 3);  // who waits for it elsewhere has it all the same
  EXPECT_FALSE(client->wait_for_service(std::chrono::hours(1)));
  EXPECT_THROW(client->async_send_request(request(1, 2)).get(), ServiceError);
  EXPECT_EQ(calls, 0);
  adder.end();
}

}  // namespace
}  // namespace sinew::system
