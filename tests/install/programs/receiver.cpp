// Checks twenty readings, whatever way they come, and exits with 0 when each was right. Prints the way of the last.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <sinew/sinew.hpp>
#include <thread>

#include "reading.hpp"

int main() {
  std::atomic<int> seen{0};
  std::atomic<int> wrong{0};
  std::atomic<sinew::Delivery> delivery{};
  auto node = sinew::Node::create("receiver");
  auto subscriber = node->create_subscriber<Reading>("readings", [&](const Reading& reading, const sinew::MessageInfo& info) {
    bool right = reading.number > 0 && reading.text == text_of(reading.number) && reading.values.size() == 1000;
    for (std::uint32_t i = 0; right && i < 1000; ++i) right = reading.values[i] == reading.number + i;
    wrong += right ? 0 : 1;
    delivery = info.delivery;
    ++seen;
  });
  while (seen < 20) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::printf("delivery=%s wrong=%d\n", sinew::to_string(delivery.load()), wrong.load());
  return wrong == 0 ? 0 : 1;
}
