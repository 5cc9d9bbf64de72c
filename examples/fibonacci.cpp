// An action, and who asks for it, here in one program: in two it would look just the same.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "sinew/sinew.hpp"

struct Fibonacci {
  struct Goal {
    std::size_t order = 0;
  };
  struct Feedback {
    std::vector<std::int64_t> sequence;
  };
  struct Result {
    std::vector<std::int64_t> sequence;
  };
};

int main() {
  using namespace std::chrono_literals;
  auto node = sinew::Node::create("fibonacci");
  const auto execute = [](sinew::ServerGoal<Fibonacci::Goal, Fibonacci::Feedback>& goal) {
    Fibonacci::Result result{{0, 1}};
    while (result.sequence.size() < goal->order && !goal.accept_cancel()) {
      result.sequence.push_back(*(result.sequence.end() - 1) + *(result.sequence.end() - 2));
      goal.feedback({result.sequence});
      std::this_thread::sleep_for(50ms);
    }
    return result;
  };
  const auto accept = [](const Fibonacci::Goal& goal) {
    return goal.order <= 90 ? sinew::Acceptance::yes() : sinew::Acceptance::no("that is too large for 64 bits");
  };
  auto server =
      node->create_action_server<Fibonacci::Goal, Fibonacci::Feedback, Fibonacci::Result>("fibonacci", execute, {.accept = accept});
  auto client = node->create_action_client<Fibonacci::Goal, Fibonacci::Feedback, Fibonacci::Result>("fibonacci");

  auto goal = client->send_goal(
      {10}, [](const Fibonacci::Feedback& feedback) { std::printf("%lld\n", static_cast<long long>(feedback.sequence.back())); });
  auto result = goal.result().get();
  std::printf("%s, %zu numbers\n", sinew::to_string(result->state), result->result.sequence.size());

  auto slow = client->send_goal({90});
  slow.accepted().wait();
  slow.cancel();
  result = slow.result().get();
  std::printf("%s\n", sinew::to_string(result->state));

  result = client->send_goal({100}).result().get();
  std::printf("%s: %s\n", sinew::to_string(result->state), result->text.c_str());
}
