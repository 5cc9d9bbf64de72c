// sinew-bench-graph-ros1: nodes of a graph that are nodes of ROS 1, or, in one process, what nodelets are: messages go by pointer there, else by TCPROS. ROS_MASTER_URI says where rosmaster runs.
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <unistd.h>

#include <boost/make_shared.hpp>
#include <chrono>
#include <concepts>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "graphs/messages.hpp"
#include "graphs/worker.hpp"

namespace sinew::bench::graphs {

/// Those of messages.hpp.
template <class T>
concept GraphMessage = requires { msg::explicit_name<T>[0]; } && std::same_as<decltype(T::header), Header>;

}  // namespace sinew::bench::graphs

// As gencpp would have it, but for the sums, which only have to be the same on both sides.
namespace ros::message_traits {

template <sinew::bench::graphs::GraphMessage T>
struct MD5Sum<T> {
  static const char* value() { return "8000d7563c2d9d6f1bc9efacf19d2861"; }
  static const char* value(const T&) { return value(); }
};
template <sinew::bench::graphs::GraphMessage T>
struct DataType<T> {
  static const char* value() { return sinew::msg::explicit_name<T>; }
  static const char* value(const T&) { return value(); }
};
template <sinew::bench::graphs::GraphMessage T>
struct Definition<T> {
  static const char* value() { return "see messages.hpp"; }
  static const char* value(const T&) { return value(); }
};

}  // namespace ros::message_traits

namespace ros::serialization {

/// The header as it lies, a count where there may be any number, and the payload.
template <sinew::bench::graphs::GraphMessage T>
struct Serializer<T> {
  static constexpr bool counted = requires(T& message) { message.data.resize(0); };

  static std::uint32_t bytes_of(const T& message) { return static_cast<std::uint32_t>(std::span(message.data).size_bytes()); }
  template <typename Stream>
  static void write(Stream& stream, const T& message) {
    std::memcpy(stream.advance(sizeof message.header), &message.header, sizeof message.header);
    if constexpr (counted) stream.next(bytes_of(message));
    std::memcpy(stream.advance(bytes_of(message)), message.data.data(), bytes_of(message));
  }
  template <typename Stream>
  static void read(Stream& stream, T& message) {
    std::memcpy(&message.header, stream.advance(sizeof message.header), sizeof message.header);
    if constexpr (counted) {
      std::uint32_t size = 0;
      stream.next(size);
      message.data.resize(size);
    }
    std::memcpy(message.data.data(), stream.advance(bytes_of(message)), bytes_of(message));
  }
  static std::uint32_t serializedLength(const T& message) {
    return static_cast<std::uint32_t>(sizeof message.header + (counted ? sizeof(std::uint32_t) : 0)) + bytes_of(message);
  }
};

}  // namespace ros::serialization

namespace sinew::bench::graphs {

namespace {

constexpr std::uint32_t depth = 100;  // as sinew's

/// A callback queue and the thread that waits at it. Never destroyed: threads of roscpp's own know it until the process ends.
class Queue {
 public:
  ros::CallbackQueue& get() { return queue_; }
  void end() {
    thread_.request_stop();
    thread_.join();
  }

 private:
  ros::CallbackQueue queue_;
  std::jthread thread_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) queue_.callAvailable(ros::WallDuration(0.1));
  }};
};

template <class T>
class RosOutlet final : public Outlet {
 public:
  RosOutlet(ros::Publisher publisher, const Publication& publication) : publisher_(std::move(publisher)), publication_(publication) {}
  std::int64_t publish(std::uint32_t number) override {
    const auto message = boost::make_shared<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    publisher_.publish(message);
    return stamp;
  }

 private:
  const ros::Publisher publisher_;
  const Publication& publication_;
};

class RosMember final : public Member {
 public:
  explicit RosMember(Queue& queue) { node_.setCallbackQueue(&queue.get()); }

  void subscribe(const Subscription& subscription, Tally& tally) override {
    with_type(subscription.type, [&]<class T>() {
      subscribe<T, const T>(subscription, [&tally](const boost::shared_ptr<const T>& message) { take_down(*message, tally); });
    });
  }

  // To the only callback of its topic that is not for const ROS 1 gives the message itself, also within a process.
  void relay(const Subscription& subscription, const Publication& publication, Tally& tally) override {
    subscribe<Image, Image>(subscription,
                            [&tally, publisher = create_publisher<Image>(publication)](const boost::shared_ptr<Image>& image) {
                              take_down(*image, tally);
                              draw_mark(*image);
                              publisher.publish(image);
                            });
  }

  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() { outlet = std::make_unique<RosOutlet<T>>(create_publisher<T>(publication), publication); });
    return outlet;
  }

  void every(std::int64_t period, std::function<void()> tick) override {
    const auto call = [tick = std::move(tick)](const ros::SteadyTimerEvent&) { tick(); };
    timers_.push_back(node_.createSteadyTimer(ros::WallDuration(static_cast<double>(period) / 1e9), call));
  }

  bool connected() const override {
    return std::ranges::all_of(connected_, [](const auto& each) { return each(); });
  }

 private:
  template <class T, class Received>
  void subscribe(const Subscription& subscription, const boost::function<void(const boost::shared_ptr<Received>&)>& callback) {
    auto subscriber = node_.subscribe<T>(subscription.topic, depth, callback, nullptr, ros::TransportHints().tcpNoDelay());
    connected_.emplace_back([subscriber] { return subscriber.getNumPublishers() == 1; });
  }
  template <class T>
  ros::Publisher create_publisher(const Publication& publication) {
    auto publisher = node_.advertise<T>(publication.topic, depth);
    // Subscriptions of one process share a connection; those of others wait for theirs themselves.
    connected_.emplace_back([publisher, any = !publication.subscriptions.empty()] { return !any || publisher.getNumSubscribers() > 0; });
    return publisher;
  }

  ros::NodeHandle node_;
  std::vector<std::function<bool()>> connected_;
  std::vector<ros::SteadyTimer> timers_;
};

class RosEngine final : public Engine {
 public:
  explicit RosEngine(Nodes nodes) : threads_(nodes == Nodes::on_threads) {
    ros::init(ros::M_string{}, "graph_" + std::to_string(getpid()), ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
  }
  RosEngine(const RosEngine&) = delete;
  RosEngine& operator=(const RosEngine&) = delete;
  ~RosEngine() override {
    for (Queue* const queue : queues_) queue->end();
  }
  std::unique_ptr<Member> add(const GraphNode&, const Board&) override {
    if (threads_ || queues_.empty()) queues_.push_back(new Queue);
    return std::make_unique<RosMember>(*queues_.back());
  }

 private:
  const bool threads_;
  std::vector<Queue*> queues_;
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](Nodes nodes) -> std::unique_ptr<Engine> { return std::make_unique<RosEngine>(nodes); });
}
