#include <cstring>
#include <sinew/sinew.hpp>
#include <utility>

#include "clock.hpp"
#include "ends.hpp"

namespace sinew::bench::ros2 {
namespace {

/// As a node of ROS 2 has it by default.
Qos qos() {
  return Qos{}.reliable().keep_last(10);
}

class DomainPublisher final : public Publisher {
 public:
  explicit DomainPublisher(std::size_t size) : size_(size) {}
  bool is_connected() override { return publisher_->statistics().subscribers > 0; }
  void publish(std::uint64_t number) override {
    auto loan = publisher_->loan();
    loan->data.resize(size_);
    std::memset(loan->data.data(), static_cast<int>(number % 255), size_);
    loan->number = number;
    loan->sent = now_ns();
    publisher_->publish(std::move(loan));
  }

 private:
  std::size_t size_;
  std::shared_ptr<Node> node_ = Node::create("bench_publisher");
  std::shared_ptr<sinew::Publisher<Stamped>> publisher_ = node_->create_publisher<Stamped>(topic, qos());
};

class DomainSubscriber final : public Subscriber {
 public:
  explicit DomainSubscriber(OnMessage on_message)
      : subscriber_(node_->create_subscriber<Stamped>(
            topic, [on_message = std::move(on_message)](const Stamped& message) { on_message(message); }, qos())) {}

 private:
  std::shared_ptr<Node> node_ = Node::create("bench_subscriber");
  std::shared_ptr<sinew::Subscriber<Stamped>> subscriber_;
};

class DomainIdle final : public Subscriber {
 public:
  explicit DomainIdle(unsigned topics) {
    for (unsigned number = 0; number < topics; ++number) {
      publishers_.push_back(node_->create_publisher<Stamped>("idle_" + std::to_string(number), qos()));
    }
  }

 private:
  std::shared_ptr<Node> node_ = Node::create("bench_idle");
  std::vector<std::shared_ptr<sinew::Publisher<Stamped>>> publishers_;
};

}  // namespace

std::unique_ptr<Publisher> publish_in_domain(std::size_t size) {
  return std::make_unique<DomainPublisher>(size);
}

std::unique_ptr<Subscriber> subscribe_in_domain(OnMessage on_message) {
  return std::make_unique<DomainSubscriber>(std::move(on_message));
}

std::unique_ptr<Subscriber> idle_in_domain(unsigned topics) {
  return std::make_unique<DomainIdle>(topics);
}

}  // namespace sinew::bench::ros2
