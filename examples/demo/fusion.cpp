// Fusion: joins the obstacles with the drone's latest state and what moves before its camera. It keeps messages, not copies of them.
#include "fuse.hpp"
#include "node.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "fusion", [](demo::DemoNode& node) {
    std::shared_ptr<const demo::State> state;
    std::shared_ptr<const demo::Motion> motion;
    auto& worlds = node.output<demo::World>("fusion/world", 8);
    const demo::StopInputs stop_inputs{node};
    node.input<demo::State>("drone/state", 64, [&](auto latest, const demo::Arrival&) { state = std::move(latest); });
    node.input<demo::Motion>("detector/motion", 8, [&](auto latest, const demo::Arrival&) { motion = std::move(latest); });
    node.input<demo::Obstacles>("lidar/obstacles", 8, [&](const std::shared_ptr<const demo::Obstacles>& obstacles, const demo::Arrival&) {
      if (!state || !motion) return;
      worlds.publish([&](demo::World& world) { demo::fuse(*state, *obstacles, *motion, world); });
    });
    node.sleep_until_told_to_stop();
  });
}
