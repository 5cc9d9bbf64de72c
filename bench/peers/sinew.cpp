// sinew: a struct with a std::vector, built in a loan, received in a callback.
#include <unistd.h>

#include <memory>
#include <sinew/sinew.hpp>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace sinew::bench::peers {

struct Message {
  std::int64_t began, sent;
  std::uint64_t number;
  std::vector<std::uint8_t> data;
};

namespace {

constexpr std::size_t depth = 8;

std::shared_ptr<Node> node_of(const Run& run) {
  return Node::create("driver_" + std::to_string(getpid()), {.domain = run.folder + "/domain.sock"});
}

void publish(const Run& run) {
  const auto node = node_of(run);
  const auto publisher = node->create_publisher<Message>(run.topic, Qos{}.keep_last(depth));
  connect([&] { return publisher->statistics().subscribers == run.subscribers; });
  publish_all(run, [&](Header header) {
    auto loan = publisher->loan();
    loan.build([&](Message& message) { message.data.assign(run.size, header.value()); });
    loan->began = header.began;
    loan->number = header.number;
    loan->sent = now_ns();
    publisher->publish(std::move(loan));
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const auto node = node_of(run);
  const auto subscriber = node->create_subscriber<Message>(
      run.topic, [&arrivals](const Message& message) { arrivals.add({message.began, message.sent, message.number}, message.data); },
      Qos{}.keep_last(depth));
  connect([&] { return subscriber->statistics().publishers == 1; });
  arrivals.wait();
}

}  // namespace

}  // namespace sinew::bench::peers

int main(int argc, char** argv) {
  using namespace sinew::bench::peers;
  return drive(argc, argv, publish, subscribe);
}
