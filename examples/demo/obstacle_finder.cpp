// Obstacle finder: finds what stands on the ground in the lidar's scans.
#include "node.hpp"
#include "obstacles.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "obstacle_finder", [](demo::DemoNode& node) {
    auto& results = node.output<demo::Obstacles>("lidar/obstacles", 8);
    const demo::StopInputs stop_inputs{node};
    node.input<demo::Cloud>("lidar/points", 4, [&](const std::shared_ptr<const demo::Cloud>& cloud, const demo::Arrival&) {
      const auto found = demo::find_obstacles(cloud->points);
      results.publish([&](demo::Obstacles& message) {
        message.header.stamp_ns = cloud->header.stamp_ns;
        message.obstacles.assign(found.begin(), found.end());
      });
    });
    node.sleep_until_told_to_stop();
  });
}
