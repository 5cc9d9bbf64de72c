#include "tests/faults/peer.hpp"

#include <atomic>
#include <functional>
#include <map>

#include "tests/system/foreign.hpp"

namespace sinew::system {
namespace {

std::string end_of_call(Node& node, std::uint64_t size) {
  const auto client = node.create_service_client<Work::Request, Work::Response>("served");
  if (!eventually([&] { return client->statistics().providers == 1; })) return "no provider comes";
  auto call = client->call(addition(5, 1, size));
  try {
    return is_right(call.get(), 5, 1, size) ? "done" : "a wrong answer";
  } catch (const ServiceError& error) {
    return error.what();
  }
}

std::string end_of_goal(Node& node) {
  const auto client = node.create_action_client<Move::Goal, Move::Feedback, Move::Result>("served");
  if (!eventually([&] { return client->servers() == 1; })) return "no server comes";
  return end_of(client->send_goal({.number = 1, .steps = 3, .what = {}}));
}

std::string end_of_late(Node& node) {
  const auto late = node.create_subscriber<Sample>("history", Qos{}.transient_local());
  for (const std::uint64_t number : {1U, 2U}) {
    const auto sample = take_soon(*late);
    if (!sample || !is_whole(*sample) || sample->number != number) return "not what was kept";
  }
  return "done";
}

ROLE(peer) {
  const bool stranger = !arguments.empty();
  if (stranger) become_stranger();
  auto node = Node::create("peer");
  std::atomic<std::uint64_t> last{0};
  auto out = node->create_subscriber<Sample>("out", [&](const Sample& sample) {
    require(is_whole(sample), "not whole");
    if (sample.number > last) last = sample.number;  // what an older publisher left behind may come later
  });
  // As much memory as it ever needs: what it gives back after two seconds would be counted as gone, and what it then needs again as a leak.
  auto in = node->create_publisher<Sample>("in", {}, {.prefault = 16 << 20});
  std::shared_ptr<Publisher<Sample>> kept;
  std::shared_ptr<WorkProvider> work, once;
  std::shared_ptr<MoveServer> move;
  if (!stranger) {
    kept = node->create_publisher<Sample>("kept", Qos{}.transient_local());
    for (const std::uint64_t number : {1U, 2U}) kept->publish(sample_of(1, number, 1000));
    work = node->create_service_provider<Work::Request, Work::Response>(
        "work",
        [](const Work::Request& request, ServiceCall<Work::Response>& call) {
          if (request.what == "wait") require(eventually([&] { return call.cancelled(); }), "it is not cancelled");
          return result_of(request, "peer");
        },
        {.parallel = 2});
    once = node->create_service_provider<Work::Request, Work::Response>(
        "once", [](const Work::Request& request) { return result_of(request, "peer"); }, {.at_most_once = true});
    move = create_move_server(*node, [](MoveGoal& goal) { return goal->what == "wait" ? waited(goal) : counted(goal); },
                              {.goals_at_a_time = 4});
  }
  std::uint64_t published = 0;
  const std::map<std::string, std::function<std::string(std::uint64_t)>> orders = {
      {"publish",
       [&](std::uint64_t size) {
         return publish_in_place(*in, 1, ++published, size) == PublishResult::published ? "done" : "not published";
       }},
      {"received", [&](std::uint64_t number) { return eventually([&] { return last == number; }) ? "done" : "it does not come"; }},
      {"late", [&](std::uint64_t) { return end_of_late(*node); }},
      {"call", [&](std::uint64_t size) { return end_of_call(*node, size); }},
      {"goal", [&](std::uint64_t) { return end_of_goal(*node); }},
  };
  say("ready");
  for (std::string order; std::getline(std::cin, order);) {
    std::istringstream words(order);
    std::string what;
    std::uint64_t number = 0;
    words >> what >> number;
    say(orders.at(what)(number));
  }
}

}  // namespace

Peer::Peer(bool stranger) : child_("peer", stranger ? Arguments{"stranger"} : Arguments{}) {
  child_.expect("ready");
}

std::string Peer::ask(const std::string& order) {
  child_.order(order);
  return child_.line().value_or("nothing");
}

void expect_to_publish(Publisher<Sample>& publisher, Peer& peer) {
  static std::uint64_t number = 1'000'000;
  await_subscribers(publisher, 1);
  EXPECT_EQ(publish_in_place(publisher, 1, ++number, 1000), PublishResult::published);
  peer.tell("received " + std::to_string(number));
}

void expect_to_receive(Subscriber<Sample>& subscriber, Peer& peer) {
  EXPECT_TRUE(eventually([&] { return subscriber.statistics().publishers == 1; })) << "no publisher";
  // It comes into the list of this side a little before it is in that of the other.
  std::shared_ptr<const Sample> sample;
  EXPECT_TRUE(eventually([&] {
    peer.tell("publish 1000");
    return (sample = subscriber.take(std::chrono::milliseconds(5))) != nullptr;
  }));
  EXPECT_TRUE(sample && is_whole(*sample));
}

void expect_topics_to_work(Node& node, Peer& peer) {
  const auto publisher = node.create_publisher<Sample>("out");
  expect_to_publish(*publisher, peer);
  const auto subscriber = node.create_subscriber<Sample>("in");
  expect_to_receive(*subscriber, peer);
}

void expect_service_to_work(Node& node) {
  const auto client = node.create_service_client<Work::Request, Work::Response>("work");
  EXPECT_TRUE(is_right(client->call(addition(7)).get(), 7));
}

}  // namespace sinew::system
