// Lidar: two recorded scans of 70,000 points, in turn, at 10 Hz.
#include <array>

#include "node.hpp"
#include "recording.hpp"

int main(int argc, char** argv) {
  return demo::run_node(argc, argv, "lidar", [](demo::DemoNode& node) {
    const std::array scans{demo::read_scan(node.options().data / "source.ply"), demo::read_scan(node.options().data / "target.ply")};
    auto& clouds = node.output<demo::Cloud>("lidar/points", 4);
    std::size_t turn = 0;
    node.every(std::chrono::milliseconds(100), [&] {
      clouds.publish([&](demo::Cloud& cloud) {
        cloud.header.stamp_ns = demo::now_ns();
        const auto& scan = scans[turn++ % scans.size()];
        cloud.points.assign(scan.begin(), scan.end());  // the driver writing what the sensor sent
      });
    });
  });
}
