// sinew: a struct with a std::vector, received in a callback. Published from a loan, or from the heap; read in place, by a view, from a copy, or, within a process, by pointer.
#include <chrono>
#include <memory>
#include <optional>
#include <sinew/sinew.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace sinew::bench::peers {

struct Message {
  std::int64_t began, sent;
  std::uint64_t number, publisher;
  std::vector<std::uint8_t> data;
};

/// The same, whose array refers to where it lies.
struct MessageView {
  std::int64_t began, sent;
  std::uint64_t number, publisher;
  std::span<const std::uint8_t> data;
};

}  // namespace sinew::bench::peers

SINEW_NAME(sinew::bench::peers::MessageView, "sinew/bench/peers/Message");

namespace sinew::bench::peers {

namespace {

constexpr std::size_t depth = 8;

std::shared_ptr<Node> node_of(const Run& run, const std::string& name) {
  const ThreadOptions thread{.spin = std::chrono::hours(run.spins ? 1 : 0)};
  return Node::create(name, {.domain = run.folder + "/domain.sock", .executor = Executor::create({.threads = {{0, thread}}})});
}

void fill(Message& message, const Header& header, Work& work) {
  work.fill(header, message.data);
  message.began = header.began;
  message.number = header.number;
  message.publisher = header.publisher;
}

template <class T>
Header header_of(const T& message) {
  return {message.began, message.sent, message.number, message.publisher, message.data.size()};
}

void stamp(Message& message, Header& header) {
  message.sent = header.sent = now_ns();
}

void publish(const Run& run) {
  if (run.way != "loan" && run.way != "heap") throw std::runtime_error("a publisher publishes from a loan, or from the heap");
  const auto node = node_of(run, "publisher_" + std::to_string(run.index));
  // Where payloads grow publishers that build in place know how far, as those of iceoryx2 must.
  const std::size_t prefault = run.size_step > 0 && run.way == "loan" ? run.largest() : 0;
  const auto publisher = node->create_publisher<Message>(run.topic, Qos{}.keep_last(depth), {.prefault = prefault});
  connect([&] { return publisher->statistics().subscribers == run.subscribers; });
  Message mine{};
  publish_all(run, [&](Header& header, Work& work) {
    if (run.way == "heap") {
      fill(mine, header, work);
      stamp(mine, header);
      publisher->publish(mine);
    } else {
      auto loan = publisher->loan();
      loan.build([&](Message& message) { fill(message, header, work); });
      stamp(*loan, header);
      publisher->publish(std::move(loan));
    }
  });
}

template <class T>
void subscribe_as(const Run& run, Arrivals& arrivals, std::optional<Delivery> delivery) {
  const auto node = node_of(run, "subscriber_" + std::to_string(run.index));
  const auto subscriber =
      node->create_subscriber<T>(run.topic, [&arrivals](const T& message) { arrivals.add(header_of(message), message.data); },
                                 Qos{}.keep_last(depth), {.delivery = delivery});
  connect([&] { return subscriber->statistics().publishers == run.publishers; });
  arrivals.wait();
}

void subscribe(const Run& run, Arrivals& arrivals) {
  if (run.way.empty()) return subscribe_as<Message>(run, arrivals, std::nullopt);
  if (run.way == "native") return subscribe_as<Message>(run, arrivals, Delivery::native);
  if (run.way == "copy") return subscribe_as<Message>(run, arrivals, Delivery::copy);
  if (run.way == "view") return subscribe_as<MessageView>(run, arrivals, Delivery::view);
  throw std::runtime_error("a subscriber reads natively, by a view, or a copy");
}

/// The subscribers have an execution thread each, as if they were processes.
void both(const Run& run, std::vector<std::unique_ptr<Arrivals>>& arrivals) {
  const auto node = node_of(run, "publisher");
  const auto publisher = node->create_publisher<Message>(run.topic, Qos{}.keep_last(depth));
  std::vector<std::shared_ptr<Node>> nodes;
  std::vector<std::shared_ptr<Subscriber<Message>>> subscribers;
  for (const auto& each : arrivals) {
    nodes.push_back(node_of(run, "subscriber_" + std::to_string(nodes.size())));
    subscribers.push_back(nodes.back()->create_subscriber<Message>(
        run.topic, [&each](const std::shared_ptr<const Message>& message) { each->add(header_of(*message), message->data); },
        Qos{}.keep_last(depth)));
  }
  connect([&] { return publisher->statistics().subscribers == run.subscribers; });
  publish_all(run, [&](Header& header, Work& work) {
    auto message = std::make_unique<Message>();
    fill(*message, header, work);
    stamp(*message, header);
    publisher->publish(std::move(message));
  });
}

}  // namespace

}  // namespace sinew::bench::peers

int main(int argc, char** argv) {
  using namespace sinew::bench::peers;
  return drive(argc, argv, {publish, subscribe, both});
}
