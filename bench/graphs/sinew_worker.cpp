// sinew-bench-graph-sinew: nodes of a graph whose messages sinew carries.
#include <algorithm>
#include <chrono>
#include <functional>
#include <sinew/sinew.hpp>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "worker.hpp"

namespace sinew::bench::graphs {

namespace {

// A second of the fastest topics: a machine that stands still for a moment is no loss of the middleware's. Sockets get their share of that in udp_worker.cpp.
const Qos qos = Qos{}.keep_last(100);

/// How a message is made and given away. `fill` returns the time in it.
template <class T, class Fill>
std::int64_t publish_one(Publisher<T>& publisher, Fill fill) {
  auto message = publisher.loan();
  const std::int64_t stamp = message.build(fill);
  publisher.publish(std::move(message));
  return stamp;
}

template <class T>
class SinewOutlet final : public Outlet {
 public:
  SinewOutlet(std::shared_ptr<Publisher<T>> publisher, const Publication& publication)
      : publisher_(std::move(publisher)), publication_(publication) {}
  std::int64_t publish(std::uint32_t number) override {
    return publish_one(*publisher_, [&](T& message) { return fill(message, publication_, number); });
  }

 private:
  const std::shared_ptr<Publisher<T>> publisher_;
  const Publication& publication_;
};

class SinewMember final : public Member {
 public:
  SinewMember(const GraphNode& node, const std::shared_ptr<Executor>& executor) : node_(Node::create(node.name, {.executor = executor})) {}

  void subscribe(const Subscription& subscription, Tally& tally) override {
    with_type(subscription.type, [&]<class T>() {
      auto subscriber = node_->create_subscriber<T>(
          subscription.topic,
          [&tally](const std::shared_ptr<const T>& message) {
            const std::int64_t now = now_ns();
            tally.add(now, stamp_of(message->header), is_whole(*message));
          },
          qos);
      connected_.emplace_back([subscriber = std::move(subscriber)] { return subscriber->statistics().publishers == 1; });
    });
  }

  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() {
      auto publisher = node_->create_publisher<T>(publication.topic, qos);
      outlet = std::make_unique<SinewOutlet<T>>(publisher, publication);
      connected_.emplace_back([publisher = std::move(publisher), subscribers = publication.subscriptions.size()] {
        return publisher->statistics().subscribers == subscribers;
      });
    });
    return outlet;
  }

  void every(std::int64_t period, std::function<void()> tick) override {
    timers_.push_back(node_->create_timer(std::chrono::nanoseconds(period), std::move(tick)));
  }

  bool connected() const override {
    return std::ranges::all_of(connected_, [](const auto& each) { return each(); });
  }

 private:
  const std::shared_ptr<Node> node_;
  std::vector<std::function<bool()>> connected_;
  std::vector<std::shared_ptr<Timer>> timers_;
};

class SinewEngine final : public Engine {
 public:
  explicit SinewEngine(bool threads) : shared_(threads ? nullptr : Executor::create()) {}
  std::unique_ptr<Member> add(const GraphNode& node, const Board&) override { return std::make_unique<SinewMember>(node, shared_); }

 private:
  const std::shared_ptr<Executor> shared_;  // null: each node has its own
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](bool threads) -> std::unique_ptr<Engine> { return std::make_unique<SinewEngine>(threads); });
}
