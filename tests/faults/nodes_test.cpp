// Nodes, what runs callbacks, and what tells of the domain, while system calls fail.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>
#include <utility>

#include "tests/faults/peer.hpp"
#include "tests/faults/walk.hpp"

namespace sinew::system {
namespace {

class NodeFaults : public Domain {};

TEST_F(NodeFaults, a_node_joins_or_says_why_not) {
  const auto keeper = Node::create("keeper");
  walk("Node::create", [&](Fault& fault) {
    std::shared_ptr<Node> node;
    fault.during([&] { node = Node::create("node"); });
    node.reset();
    (void)Node::create("node");
  });
}

TEST_F(NodeFaults, a_node_starts_the_manager_or_says_why_not) {
  walk("Node::create without a manager", [&](Fault& fault) {
    std::shared_ptr<Node> node;
    fault.during([&] { node = Node::create("node"); });
    if (!node) node = Node::create("node");
    EXPECT_EQ(managers(), 1U);
    EXPECT_EQ(node->domain_state().nodes.size(), 1U);
    if (fault.is_none()) {
      EXPECT_EQ(fault.counts().at(static_cast<std::size_t>(os::fault::Call::spawn)), 1) << "it was there already";
    }
    node.reset();  // else it starts the next one
    end_manager();
  });
}

TEST_F(NodeFaults, a_node_goes_with_all_it_has) {
  Peer peer;
  walk("~Node",
       [&](Fault& fault) {
         auto node = Node::create("node");
         std::atomic<int> called{0};
         const auto publisher = node->create_publisher<Sample>("out");
         const auto subscriber = node->create_subscriber<Sample>("in", [&](const Sample&) { ++called; });
         const auto timer = node->create_timer(std::chrono::milliseconds(1), [&] { ++called; });
         const auto watch = node->watch_domain([&](const DomainUpdate&) { ++called; });
         const auto client = node->create_service_client<Work::Request, Work::Response>("work");
         expect_to_publish(*publisher, peer);
         fault.during([&] { node.reset(); });
         node = Node::create("node");  // the name is free
         expect_topics_to_work(*node, peer);
       },
       {&peer.process()});
  peer.end();
}

TEST_F(NodeFaults, a_timer_runs_or_says_why_not) {
  const auto keeper = Node::create("keeper");
  walk("create_timer", [&](Fault& fault) {
    const auto node = Node::create("node");
    std::atomic<int> called{0};
    std::shared_ptr<Timer> timer;
    const auto create = [&] { timer = node->create_timer(std::chrono::milliseconds(1), [&] { ++called; }); };
    fault.during([&] {
      create();
      fault.await([&] { return called > 1; });
      timer->cancel();
      called = 0;
      timer->reset();
      fault.await([&] { return called > 0; });
    });
    timer.reset();
    called = 0;
    create();
    EXPECT_TRUE(eventually([&] { return called > 1; }));
  });
}

TEST_F(NodeFaults, who_runs_callbacks_by_hand_does_so_or_is_told_why_not) {
  const auto keeper = Node::create("keeper");
  walk("Executor::create, fd and dispatch", [&](Fault& fault) {
    int called = 0;
    const auto use = [&](const Fault* bearing) {
      NodeOptions options;
      options.executor = Executor::create({.threads = {}, .by_caller = true});
      const auto node = Node::create("node", options);
      const auto publisher = node->create_publisher<Sample>("here");
      const auto subscriber = node->create_subscriber<Sample>("here", [&](const Sample&) { ++called; });
      const int fd = node->fd();
      EXPECT_GE(fd, 0);
      publisher->publish(std::make_unique<Sample>(sample_of(1, 1, 10)));
      const auto dispatched = [&] {
        node->dispatch();
        return called > 0;
      };
      if (bearing) {
        bearing->await(dispatched);
      } else {
        EXPECT_TRUE(eventually(dispatched));
      }
    };
    fault.during([&] { use(&fault); });
    called = 0;
    use(nullptr);
  });
}

TEST_F(NodeFaults, spinning_goes_on) {
  const auto keeper = Node::create("keeper");
  walk("Executor::spin and stop", [&](Fault& fault) {
    NodeOptions options;
    options.executor = Executor::create({.threads = {}, .by_caller = true});
    const auto node = Node::create("node", options);
    int called = 0;
    const auto timer = node->create_timer(std::chrono::milliseconds(1), [&] {
      if (++called % 3 == 0) options.executor->stop();
    });
    fault.during([&] { node->spin(); });
    EXPECT_EQ(called, 3);
    node->spin();
    EXPECT_EQ(called, 6);
  });
}

TEST_F(NodeFaults, a_thread_runs_as_wished_or_as_usual) {
  const auto keeper = Node::create("keeper");
  walk("Executor::create with Scheduling::fifo and cores", [&](Fault& fault) {
    const auto use = [&] {
      NodeOptions options;
      options.executor = Executor::create(
          {.threads = {{0, {.name = "wished", .scheduling = Scheduling::fifo, .priority = 1, .cpus = {0}}}}, .by_caller = false});
      const auto node = Node::create("node", options);
      std::atomic<int> called{0};
      const auto timer = node->create_timer(std::chrono::milliseconds(1), [&] { ++called; });
      EXPECT_TRUE(eventually([&] { return called > 0; }));
    };
    fault.during(use);
    use();
  });
}

TEST_F(NodeFaults, events_come_or_whoever_wants_them_is_told_why_not) {
  Peer peer;
  const auto keeper = Node::create("keeper");
  walk("create_publisher and create_subscriber with events, deadline and lease",
       [&](Fault& fault) {
         std::atomic<int> matched{0}, missed{0};
         PublisherOptions publishing;
         publishing.events.matched = [&](const MatchedEvent&) { ++matched; };
         publishing.events.deadline_missed = [&](const DeadlineMissedEvent&) { ++missed; };
         SubscriberOptions subscribing;
         subscribing.events.matched = [&](const MatchedEvent&) { ++matched; };
         subscribing.events.liveliness_changed = [](const LivelinessChangedEvent&) {};
         const Qos qos =
             Qos{}.deadline(std::chrono::milliseconds(5)).liveliness(Liveliness::manual_by_topic, std::chrono::milliseconds(50));
         const auto node = Node::create("node");
         std::shared_ptr<Publisher<Sample>> publisher;
         std::shared_ptr<Subscriber<Sample>> subscriber;
         const auto create = [&] {
           publisher = node->create_publisher<Sample>("out", qos, publishing);
           subscriber = node->create_subscriber<Sample>("in", Qos{}, subscribing);
         };
         fault.during([&] {
           create();
           fault.await([&] { return matched == 2; });
           publish_in_place(*publisher, 1, 1, 10);
           publisher->assert_liveliness();
           fault.await([&] { return missed > 0; });
         });
         publisher.reset();
         subscriber.reset();
         matched = missed = 0;
         create();
         EXPECT_TRUE(eventually([&] { return matched == 2; }));
         publish_in_place(*publisher, 1, 1, 10);
         EXPECT_TRUE(eventually([&] { return missed > 0; }));
       },
       {&peer.process()});
  peer.end();
}

TEST_F(NodeFaults, the_state_of_the_domain_is_told_or_why_not) {
  const auto node = Node::create("node");
  walk("domain_state", [&](Fault& fault) {
    fault.during([&] { EXPECT_EQ(node->domain_state().nodes.size(), 1U); });
    EXPECT_EQ(node->domain_state().nodes.size(), 1U);
  });
}

TEST_F(NodeFaults, the_domain_is_watched_or_it_is_said_why_not) {
  const auto keeper = Node::create("keeper");
  walk("watch_domain", [&](Fault& fault) {
    const auto node = Node::create("node");
    std::atomic<int> seen{0};
    std::shared_ptr<DomainWatch> watch;
    const auto create = [&] {
      watch = node->watch_domain([&](const DomainUpdate& update) {
        if (std::ranges::any_of(update.topics, [](const DomainTopic& topic) { return topic.name == "seen"; })) ++seen;
      });
    };
    fault.during([&] {
      create();
      const auto publisher = node->create_publisher<Sample>("seen");
      fault.await([&] { return seen > 0; });
    });
    watch.reset();
    seen = 0;
    create();
    const auto publisher = node->create_publisher<Sample>("seen");
    EXPECT_TRUE(eventually([&] { return seen > 0; }));
  });
}

}  // namespace
}  // namespace sinew::system
