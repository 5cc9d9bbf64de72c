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

/// Messages are built in a loan, or, for who wants to own them in this process, as objects that are given away.
template <class T>
class SinewOutlet final : public Outlet {
 public:
  SinewOutlet(std::shared_ptr<Publisher<T>> publisher, const Publication& publication, bool gives_away)
      : publisher_(std::move(publisher)), gives_away_(gives_away), publication_(publication) {}
  std::int64_t publish(std::uint32_t number) override {
    if (gives_away_) {
      auto message = std::make_unique_for_overwrite<T>();
      const std::int64_t stamp = fill(*message, publication_, number);
      publisher_->publish(std::move(message));
      return stamp;
    }
    auto message = publisher_->loan();
    const std::int64_t stamp = message.build([&](T& object) { return fill(object, publication_, number); });
    publisher_->publish(std::move(message));
    return stamp;
  }

 private:
  const std::shared_ptr<Publisher<T>> publisher_;
  const bool gives_away_;
  const Publication& publication_;
};

class SinewMember final : public Member {
 public:
  SinewMember(const GraphNode& node, const std::shared_ptr<Executor>& executor, bool alone)
      : node_(Node::create(node.name, {.executor = executor})), alone_(alone) {}

  void subscribe(const Subscription& subscription, Tally& tally) override {
    with_type(subscription.type, [&]<class T>() {
      create_subscriber<T>(subscription, [&tally](const std::shared_ptr<const T>& message) { take_down(*message, tally); });
    });
  }

  void relay(const Subscription& subscription, const Publication& publication, Tally& tally) override {
    const auto publisher = create_publisher<Image>(publication);
    if (!alone_) {
      create_subscriber<Image>(subscription, [&tally, publisher](std::unique_ptr<Image> image) {
        take_down(*image, tally);
        draw_mark(*image);
        publisher->publish(std::move(image));
      });
      return;
    }
    // What is another process' cannot be changed where it lies. To own it would be a copy to the heap, and publishing that one more.
    create_subscriber<Image>(subscription, [&tally, publisher](const Image& image) {
      take_down(image, tally);
      auto changed = publisher->loan();
      changed.build([&image](Image& copy) {
        copy = image;
        draw_mark(copy);
      });
      publisher->publish(std::move(changed));
    });
  }

  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() {
      outlet = std::make_unique<SinewOutlet<T>>(create_publisher<T>(publication), publication, publication.is_relayed && !alone_);
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
  template <class T, class Callback>
  void create_subscriber(const Subscription& subscription, Callback callback) {
    auto subscriber = node_->create_subscriber<T>(subscription.topic, std::move(callback), qos);
    connected_.emplace_back([subscriber = std::move(subscriber)] { return subscriber->statistics().publishers == 1; });
  }
  template <class T>
  std::shared_ptr<Publisher<T>> create_publisher(const Publication& publication) {
    auto publisher = node_->create_publisher<T>(publication.topic, qos);
    connected_.emplace_back(
        [publisher, subscribers = publication.subscriptions.size()] { return publisher->statistics().subscribers == subscribers; });
    return publisher;
  }

  const std::shared_ptr<Node> node_;
  const bool alone_;  // all other nodes are in processes of their own
  std::vector<std::function<bool()>> connected_;
  std::vector<std::shared_ptr<Timer>> timers_;
};

class SinewEngine final : public Engine {
 public:
  explicit SinewEngine(Nodes nodes) : nodes_(nodes), shared_(nodes == Nodes::on_threads ? nullptr : Executor::create()) {}
  std::unique_ptr<Member> add(const GraphNode& node, const Board&) override {
    return std::make_unique<SinewMember>(node, shared_, nodes_ == Nodes::in_processes);
  }

 private:
  const Nodes nodes_;
  const std::shared_ptr<Executor> shared_;  // null: each node has its own
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](Nodes nodes) -> std::unique_ptr<Engine> { return std::make_unique<SinewEngine>(nodes); });
}
