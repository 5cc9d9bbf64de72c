#include "registration/crowd.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>
#include <utility>

#include "os/clock.hpp"

namespace sinew::bench {

namespace {

constexpr std::int64_t patience_ns = 60'000'000'000;

wire::TypeDescription some_type() {
  wire::TypeDescription type;
  type.name = "bench/Image";
  type.signature = "bench/Image{stamp_ns:int64;width:uint32;height:uint32;data:uint8[];}";
  type.hash[0] = 1;
  type.layout = 1;
  return type;
}

}  // namespace

std::size_t Crowd::add_node() {
  auto socket = os::connect_to(path_);
  if (!socket) throw std::runtime_error("no manager listens at " + path_);
  const std::size_t node = nodes_.size();
  poller_.add(*socket, node);
  nodes_.emplace_back().socket = std::move(*socket);
  send(node, wire::RegisterNode{wire::protocol_version, "node_" + std::to_string(node)});
  work_until([&] { return nodes_[node].registered; }, "the manager does not register a node");
  return node;
}

void Crowd::remove_last_node() {
  poller_.remove(nodes_.back().socket);
  nodes_.pop_back();
}

void Crowd::add(std::size_t node, bool publishes, const std::string& topic, std::uint64_t endpoint) {
  static const wire::TypeDescription type = some_type();
  Node& of = nodes_[node];
  const std::uint64_t id = publishes ? ++of.last_publisher : ++of.last_subscriber;  // each without gaps, as nodes have them
  interfaces_.push_back({node, id, publishes});
  if (publishes) {
    send(node, wire::RegisterPublisher{id, topic, type, {.depth = 10}, 0, endpoint});
  } else {
    send(node, wire::RegisterSubscriber{id, topic, type, {.depth = 10}, 0, endpoint});
  }
}

void Crowd::remove_last() {
  const auto [node, id, publishes] = interfaces_.back();
  interfaces_.pop_back();
  if (!publishes) return send(node, wire::DeleteSubscriber{id});
  send(node, wire::DeletePublisher{id});
  const auto window = nodes_[node].windows.extract(id);
  if (window.empty()) throw std::runtime_error("the manager has not answered a registration");
  send(node, wire::WindowReleased{window.mapped()});
}

template <class Done>
void Crowd::work_until(Done done, const char* otherwise) {
  const std::int64_t until = os::now_ns() + patience_ns;
  while (!done()) {
    if (os::now_ns() > until) throw std::runtime_error(otherwise);
    read_all();
    for (; !answers_.empty(); answers_.pop_front()) send(answers_.front().first, answers_.front().second);
  }
}

void Crowd::settle(std::uint64_t introductions) {
  work_until([&] { return ends_met_ >= 2 * introductions; }, "the manager does not make all introductions");
  if (ends_met_ > 2 * introductions) throw std::runtime_error("the manager made more introductions than there are pairs");
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const std::uint64_t id = nodes_[node].asked = ++nodes_[node].last_subscriber;
    send(node, wire::RegisterSubscriber{id, "no such name", some_type(), {}, 0, 0});  // which is refused, after all that was sent before it
  }
  work_until([&] { return std::ranges::all_of(nodes_, [](const Node& node) { return node.asked == 0; }); }, "the manager does not answer");
}

void Crowd::send(std::size_t node, const wire::Message& message) {
  const std::vector<std::byte> bytes = wire::encode(message);
  const std::int64_t until = os::now_ns() + patience_ns;
  for (;;) {
    const os::SendResult result = os::send_packet(nodes_[node].socket, bytes);
    if (result == os::SendResult::sent) return;
    if (result == os::SendResult::closed) throw std::runtime_error("the manager ended a connection");
    if (os::now_ns() > until) throw std::runtime_error("the manager does not read");
    read_all();  // what it has to say may be what holds it up
  }
}

void Crowd::read_all() {
  constexpr std::int64_t moment = 1'000'000;
  std::array<os::Poller::Event, 64> events;
  const std::size_t count = poller_.wait(events, os::now_ns() + moment);
  for (const os::Poller::Event& event : std::span(events).first(count)) {
    const auto node = static_cast<std::size_t>(event.key);
    for (;;) {
      os::Received received = os::receive_packet(nodes_[node].socket, buffer_);
      if (received.kind == os::Received::Kind::would_block) break;
      if (received.kind != os::Received::Kind::packet) throw std::runtime_error("the manager ended a connection");
      handle(node, received);
    }
  }
}

void Crowd::handle(std::size_t node, os::Received& received) {
  const auto decoded = wire::decode(std::span(buffer_).first(received.size));
  if (const auto* complaint = std::get_if<wire::Complaint>(&decoded)) throw std::runtime_error(complaint->text);
  const auto& message = std::get<wire::Message>(decoded);
  Node& self = nodes_[node];
  if (std::holds_alternative<wire::NodeRegistered>(message)) {
    self.registered = true;
  } else if (const auto* registered = std::get_if<wire::PublisherRegistered>(&message)) {
    self.windows.emplace(registered->id, registered->window);
  } else if (std::holds_alternative<wire::SubscriberRegistered>(message)) {
    return;
  } else if (const auto* to_publisher = std::get_if<wire::ConnectPublisher>(&message)) {
    meet(node, to_publisher->connection, received);
  } else if (const auto* to_subscriber = std::get_if<wire::ConnectSubscriber>(&message)) {
    meet(node, to_subscriber->connection, received);
    answers_.emplace_back(node, wire::WindowReleased{to_subscriber->window});
  } else if (const auto* answer = std::get_if<wire::SubscriberRefused>(&message); answer && answer->id == self.asked) {
    self.asked = 0;
  } else {
    const auto* refused = std::get_if<wire::PublisherRefused>(&message);
    throw std::runtime_error(refused ? refused->text : std::string("the manager said ") + wire::name_of(message));
  }
}

void Crowd::meet(std::size_t node, std::uint64_t connection, os::Received& received) {
  for (os::Fd& end : received.descriptors) os::close_connection(std::move(end));
  ++ends_met_;
  answers_.emplace_back(node, wire::ConnectTaken{connection});
}

}  // namespace sinew::bench
