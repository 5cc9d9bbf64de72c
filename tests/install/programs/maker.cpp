// A plugin that builds a message in a loan, lets another plugin change it and take storage out of it, and publishes it.
#include <sinew/sinew.hpp>

#include "reading.hpp"

extern "C" __attribute__((visibility("default"))) int run(void (*change)(Reading&, std::vector<std::uint32_t>&)) {
  auto node = sinew::Node::create("maker");
  auto publisher = node->create_publisher<Reading>("readings");
  auto subscriber = node->create_subscriber<Reading>("readings");
  while (publisher->statistics().subscribers == 0) {
  }
  for (std::uint32_t number = 1; number <= 20; ++number) {
    std::vector<std::uint32_t> taken;
    auto loan = publisher->loan();
    loan.build([&](Reading& reading) {
      reading.number = number;
      reading.text = text_of(number);
      reading.values.assign(1000, number);
      change(reading, taken);
    });
    change(*loan, taken);
    if (taken != std::vector<std::uint32_t>(1001, number)) return 4;
    if (publisher->publish(std::move(loan)) != sinew::PublishResult::published) return 5;
    std::shared_ptr<const Reading> message;
    while (!(message = subscriber->take())) {
    }
    if (message->number != number || message->text != text_of(number) + "!!" || message->values != std::vector<std::uint32_t>(2, number))
      return 6;
  }
  return 0;
}
