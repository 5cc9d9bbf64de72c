// Publishes readings built in loans until its first subscriber has left, then prints how many bytes publish() copied.
// A program of its own, or with -DPLUGIN a shared object with the one function run().
#include <chrono>
#include <cstdio>
#include <sinew/sinew.hpp>
#include <thread>

#include "reading.hpp"

namespace {

int send_readings() {
  auto node = sinew::Node::create("sender");
  auto publisher = node->create_publisher<Reading>("readings");
  bool seen_a_subscriber = false;
  for (std::uint32_t number = 1;; ++number) {
    auto loan = publisher->loan();
    loan.build([&](Reading& reading) {
      reading.number = number;
      reading.text = text_of(number);
      for (std::uint32_t i = 0; i < 1000; ++i) reading.values.push_back(number + i);
    });
    publisher->publish(std::move(loan));
    const bool subscriber = publisher->statistics().subscribers > 0;
    if (seen_a_subscriber && !subscriber) break;
    seen_a_subscriber = seen_a_subscriber || subscriber;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  std::printf("bytes_copied=%llu\n", static_cast<unsigned long long>(publisher->statistics().bytes_copied));
  std::fflush(stdout);
  return 0;
}

}  // namespace

#if defined(PLUGIN)
extern "C" __attribute__((visibility("default"))) int run() {
  return send_readings();
}
#else
int main() {
  return send_readings();
}
#endif
