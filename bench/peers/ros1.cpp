// ROS 1 (roscpp): a struct with a std::vector, received in a callback. Between processes by TCPROS without Nagle's delay, or UDPROS with
// the largest receive buffer that the kernel allows (its datagrams are of 1500 bytes: its receiver cuts larger ones off); in one process by
// pointer, as nodelets do. Queues keep the newest eight of each publisher. rosmaster runs beside; ROS_MASTER_URI says where.
#include <ros/callback_queue.h>
#include <ros/ros.h>
#include <sys/socket.h>

#include <boost/make_shared.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace sinew::bench::peers {

struct Message {
  std::int64_t began, sent;
  std::uint64_t number, publisher;
  std::vector<std::uint8_t> data;
};

}  // namespace sinew::bench::peers

// As gencpp would have it.
ROS_IMPLEMENT_SIMPLE_TOPIC_TRAITS(sinew::bench::peers::Message, "8000d7563c2d9d6f1bc9efacf19d2861", "sinew_bench/Message",
                                  "int64 began\nint64 sent\nuint64 number\nuint64 publisher\nuint8[] data\n")

namespace ros::serialization {

/// What is generated, too, except that the vector is written out: roscpp's own code for it is older than C++20.
template <>
struct Serializer<sinew::bench::peers::Message> {
  using Message = sinew::bench::peers::Message;

  template <typename Stream, typename Fields>
  static void allInOne(Stream& stream, Fields fields) {
    stream.next(fields.began);
    stream.next(fields.sent);
    stream.next(fields.number);
    stream.next(fields.publisher);
  }
  template <typename Stream>
  static void write(Stream& stream, const Message& message) {
    allInOne<Stream, const Message&>(stream, message);
    const auto size = static_cast<std::uint32_t>(message.data.size());
    stream.next(size);
    std::memcpy(stream.advance(size), message.data.data(), size);
  }
  template <typename Stream>
  static void read(Stream& stream, Message& message) {
    allInOne<Stream, Message&>(stream, message);
    std::uint32_t size = 0;
    stream.next(size);
    message.data.resize(size);
    std::memcpy(message.data.data(), stream.advance(size), size);
  }
  static std::uint32_t serializedLength(const Message& message) {
    LStream stream;
    allInOne<LStream, const Message&>(stream, message);
    return stream.getLength() + static_cast<std::uint32_t>(sizeof(std::uint32_t) + message.data.size());
  }
};

}  // namespace ros::serialization

namespace sinew::bench::peers {

namespace {

constexpr std::uint32_t depth = 8;

void join(const Run& run, const std::string& name) {
  // Logs go there, and what else ROS writes; and nothing outside of this machine can meet it.
  for (const char* const variable : {"ROS_HOME", "ROS_LOG_DIR"}) setenv(variable, run.folder.c_str(), 1);
  setenv("ROS_IP", "127.0.0.1", 1);
  ros::init(ros::M_string{}, name, ros::init_options::NoSigintHandler | ros::init_options::NoRosout);
}

ros::TransportHints hints_of(const Run& run) {
  if (run.way == "tcp") return ros::TransportHints().tcpNoDelay();
  if (run.way == "udp") return ros::TransportHints().udp();
  throw std::runtime_error("ROS 1 carries messages by tcp or udp");
}

ros::Subscriber subscribe_to(const Run& run, ros::CallbackQueue& queue, const ros::TransportHints& hints, Arrivals& arrivals) {
  auto options = ros::SubscribeOptions::create<Message>(
      run.topic, depth * run.publishers,
      [&arrivals](const boost::shared_ptr<const Message>& message) {
        arrivals.add({message->began, message->sent, message->number, message->publisher, message->data.size()}, message->data);
      },
      nullptr, &queue);
  options.transport_hints = hints;
  return ros::NodeHandle().subscribe(options);
}

/// Sleeps as ros::spin() does, or does not sleep at the queue; roscpp's thread that reads the sockets always sleeps.
void spin(const Run& run, ros::CallbackQueue& queue, Arrivals& arrivals) {
  const ros::WallDuration patience(run.spins ? 0 : 0.1);
  while (arrivals.more()) queue.callAvailable(patience);
}

void fill(Message& message, const Header& header, Work& work) {
  work.fill(header, message.data);
  message.began = header.began;
  message.number = header.number;
  message.publisher = header.publisher;
}

void stamp(Message& message, Header& header) {
  message.sent = header.sent = now_ns();
}

void publish(const Run& run) {
  hints_of(run);  // the subscriber's choice, but a word for none is an error here as well
  join(run, "publisher_" + std::to_string(run.index));
  ros::NodeHandle node;
  const ros::Publisher publisher = node.advertise<Message>(run.topic, depth);
  connect([&] { return publisher.getNumSubscribers() == run.subscribers; });
  Message message{};
  publish_all(run, [&](Header& header, Work& work) {
    fill(message, header, work);
    stamp(message, header);
    publisher.publish(message);
  });
}

/// UDPROS leaves its sockets what the kernel gives to all, which a large message overruns. This is what setting net.core.rmem_default would
/// do, which is everybody's.
void enlarge_datagram_buffers() {
  const int wanted = std::numeric_limits<int>::max() / 2;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int descriptor = std::stoi(entry.path().filename());
    int type = 0;
    socklen_t length = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_DGRAM) continue;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof wanted);
  }
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const ros::TransportHints hints = hints_of(run);
  join(run, "subscriber_" + std::to_string(run.index));
  const ros::NodeHandle node;  // ROS shuts down with the last
  ros::CallbackQueue queue;
  const ros::Subscriber subscriber = subscribe_to(run, queue, hints, arrivals);
  connect([&] {
    if (subscriber.getNumPublishers() < run.publishers) return false;
    if (run.way == "udp") enlarge_datagram_buffers();
    return true;
  });
  spin(run, queue, arrivals);
}

/// As nodelets of one manager, which run beside each other: each has a callback queue, and here a thread of its own that waits at it, where
/// a manager has one thread wait for all queues and hand callbacks to a pool.
void both(const Run& run, std::vector<std::unique_ptr<Arrivals>>& arrivals) {
  join(run, "nodelets");
  ros::NodeHandle node;
  const ros::Publisher publisher = node.advertise<Message>(run.topic, depth);
  std::vector<std::unique_ptr<ros::CallbackQueue>> queues;
  std::vector<ros::Subscriber> subscribers;
  std::vector<std::jthread> threads;
  for (const auto& each : arrivals) {
    queues.push_back(std::make_unique<ros::CallbackQueue>());
    subscribers.push_back(subscribe_to(run, *queues.back(), {}, *each));
    threads.emplace_back([&run, &queue = *queues.back(), &each = *each](const std::stop_token& stop) {
      const std::stop_callback end(stop, [&each] { each.let_end(); });
      spin(run, queue, each);
    });
  }
  connect([&] { return publisher.getNumSubscribers() == 1; });  // they share one connection
  publish_all(run, [&](Header& header, Work& work) {
    const auto message = boost::make_shared<Message>();
    fill(*message, header, work);
    stamp(*message, header);
    publisher.publish(message);
  });
}

}  // namespace

}  // namespace sinew::bench::peers

int main(int argc, char** argv) {
  using namespace sinew::bench::peers;
  return drive(argc, argv, {publish, subscribe, both});
}
