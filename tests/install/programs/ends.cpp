// A plugin that publishes a loan for its first subscriber, which takes the place of a message whose deleter ends the publisher.
#include <chrono>
#include <sinew/sinew.hpp>
#include <thread>

#include "reading.hpp"

extern "C" __attribute__((visibility("default"))) int run() {
  auto node = sinew::Node::create("ends");
  auto publisher = node->create_publisher<Reading>("readings", sinew::Qos{}.keep_last(1).transient_local());
  publisher->publish(std::shared_ptr<const Reading>(new Reading{1, text_of(1), {1}}, [&](const Reading* gone) {
    publisher.reset();
    delete gone;
  }));
  // It does not ask for what is kept, so that this stays where it is.
  while (publisher->statistics().subscribers == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  sinew::Publisher<Reading>& publishes = *publisher;
  auto loan = publishes.loan();
  loan.build([](Reading& reading) { reading = {2, text_of(2), {2, 2}}; });
  return publishes.publish(std::move(loan)) == sinew::PublishResult::published && !publisher ? 0 : 1;
}
