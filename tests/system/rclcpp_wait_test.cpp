// Programs that are written for rclcpp: what ends their waiting, where nobody answers and in a child that was forked in a callback.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <future>
#include <memory>
#include <string>

#include "tests/system/rclcpp.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class Waiting : public Rclcpp {};

TEST_F(Waiting, ForAServiceGoesOnInACallbackOnWhateverThread) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto client = node->create_client<AddTwoInts>("add");
  std::atomic<bool> waits{false};
  std::promise<bool> found;
  const auto timer = node->sinew_node().create_timer(1ms,
                                                     [&] {
                                                       if (!waits.exchange(true)) found.set_value(client->wait_for_service(30s));
                                                     },
                                                     {.execution_thread = 1});
  ASSERT_TRUE(eventually([&] { return waits.load(); }));
  Child adder("adder");
  EXPECT_TRUE(found.get_future().get());
  adder.end();
}

TEST_F(Waiting, ForAServiceEndsInTimeWhereTheManagerIsStoppedAndGoesOnWhenItDoes) {
  const auto node = std::make_shared<rclcpp::Node>("node");
  const auto client = node->create_client<AddTwoInts>("add");
  Child adder("adder");
  ASSERT_TRUE(client->wait_for_service());
  const pid_t pid = manager().value_or(0);
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  EXPECT_FALSE(client->wait_for_service(5ms));
  EXPECT_FALSE(client->service_is_ready());
  auto waiting = std::async(std::launch::async, [&] { return client->wait_for_service(); });
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_TRUE(waiting.get());
  EXPECT_TRUE(eventually([&] { return client->service_is_ready(); }));
  adder.end();
}

/// Forks in a callback; the child goes on where its parent does, and comes to the line behind the spin.
ROLE(forks_while_it_spins) {
  begin();
  const auto node = std::make_shared<rclcpp::Node>("node");
  const pid_t parent = ::getpid();
  pid_t child = -1;
  const auto timer = node->create_wall_timer(1ms, [&] {
    if (child == -1) child = ::fork();
    if (::getpid() == parent) rclcpp::shutdown();
  });
  rclcpp::executors::SingleThreadedExecutor executor;
  if (arguments[0] == "node") {
    rclcpp::spin(node);
  } else {
    executor.add_node(node);
    std::promise<int> never;
    std::shared_future<int> answer = never.get_future().share();
    if (arguments[0] == "executor") {
      executor.spin();
    } else {
      executor.spin_until_future_complete(answer);
    }
  }
  if (::getpid() != parent) {
    const auto before = std::chrono::steady_clock::now();
    rclcpp::sleep_for(20ms);
    ::_exit(std::chrono::steady_clock::now() - before >= 20ms ? 0 : 1);
  }
  int status = 0;
  const bool has_ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!has_ended) ::kill(child, SIGKILL);
  require(has_ended && status == 0, "the child did not end well");
}

TEST_F(Waiting, EndsInAChildThatIsForkedInACallback) {
  for (const char* how : {"node", "executor", "future"}) {
    SCOPED_TRACE(how);
    Child("forks_while_it_spins", {how}).end();
  }
}

}  // namespace
}  // namespace sinew::system
