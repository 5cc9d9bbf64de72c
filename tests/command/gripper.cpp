// A gripper beside the robot of the demo, which has topics alone: it provides the service gripper/move and executes the action gripper/grasp. Prints a line when
// it does so, and ends by SIGTERM.
#include <pthread.h>
#include <signal.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

#include "sinew/sinew.hpp"

namespace gripper {

struct Move {
  struct Request {
    double width_mm = 0;
  };
  struct Response {
    double moved_mm = 0;
  };
};

struct Grasp {
  struct Goal {
    double force_n = 0;
  };
  struct Feedback {
    double force_n = 0;
  };
  struct Result {
    double force_n = 0;
  };
};

namespace {

constexpr double most_mm = 80, most_n = 1000, step_n = 1;

Grasp::Result grasp(sinew::ServerGoal<Grasp::Goal, Grasp::Feedback>& goal) {
  Grasp::Result result;
  while (result.force_n < goal->force_n && !goal.accept_cancel()) {
    result.force_n += step_n;
    goal.feedback({result.force_n});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return result;
}

sinew::Acceptance accept(const Grasp::Goal& goal) {
  return goal.force_n <= most_n ? sinew::Acceptance::yes() : sinew::Acceptance::no("that would crush it");
}

}  // namespace
}  // namespace gripper

int main() {
  using gripper::Grasp, gripper::Move;
  // Before any thread starts, so that all of them leave it to this one.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);

  const auto node = sinew::Node::create("gripper");
  double width_mm = 0;
  const auto move = node->create_service_provider<Move::Request, Move::Response>("gripper/move", [&](const Move::Request& request) {
    if (request.width_mm > gripper::most_mm) throw std::invalid_argument("it opens no wider than 80 mm");
    const double moved_mm = request.width_mm - width_mm;
    width_mm = request.width_mm;
    return Move::Response{moved_mm};
  });
  const auto grasp =
      node->create_action_server<Grasp::Goal, Grasp::Feedback, Grasp::Result>("gripper/grasp", gripper::grasp, {.accept = gripper::accept});
  std::puts("ready");
  std::fflush(stdout);
  int signal = 0;
  sigwait(&end, &signal);
}
