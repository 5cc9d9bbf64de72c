// Drone state: a recorded flight's pose, velocity and sensor biases, each at its recorded time (200 Hz), round and round.
#include "node.hpp"
#include "recording.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "drone_state", [](demo::DemoNode& node) {
    const auto flight = demo::read_flight(node.options().data / "V102_groundtruth.csv");
    auto& states = node.output<demo::State>("drone/state", 64);
    for (auto takeoff = demo::DemoNode::Clock::now();; takeoff = demo::DemoNode::Clock::now()) {
      for (const demo::State& recorded : flight) {
        const auto since_takeoff = std::chrono::nanoseconds(recorded.header.stamp_ns - flight.front().header.stamp_ns);
        if (!node.sleep_until(takeoff + since_takeoff)) return;
        states.publish([&](demo::State& state) {
          state = recorded;
          state.header.stamp_ns = demo::now_ns();
        });
      }
    }
  });
}
