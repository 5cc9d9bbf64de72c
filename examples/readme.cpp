// The example of README.md: two nodes in two processes would look just the same.
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

#include "sinew/sinew.hpp"

struct Scan {
  double time = 0;
  std::vector<float> ranges;
};

int main() {
  auto laser = sinew::Node::create("laser");
  auto pilot = sinew::Node::create("pilot");
  auto scans = laser->create_publisher<Scan>("scan");
  auto eyes =
      pilot->create_subscriber<Scan>("scan", [](const Scan& scan) { std::printf("%.1f: %zu ranges\n", scan.time, scan.ranges.size()); });
  for (int i = 0; i < 10; ++i) {
    auto scan = scans->loan();  // built in place ...
    scan.build([&](Scan& s) { s = {i / 10.0, std::vector<float>(1000, 2.5F)}; });
    scans->publish(std::move(scan));  // ... read in place
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}
