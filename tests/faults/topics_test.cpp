// Publishing and receiving while system calls fail.
#include <atomic>
#include <chrono>
#include <functional>
#include <utility>

#include "tests/faults/peer.hpp"
#include "tests/faults/walk.hpp"

namespace sinew::system {
namespace {

class TopicFaults : public BesidePeer {
 protected:
  /// The node lives on, and works.
  void walk_topics(const std::string& operation, const Scenario& scenario) {
    walk(operation,
         [&](Fault& fault) {
           scenario(fault);
           expect_topics_to_work(*node_, *peer_);
         },
         {&peer_->process()});
  }
  std::shared_ptr<Publisher<Sample>> connected_publisher(const PublisherOptions& options = {}) {
    auto publisher = node_->create_publisher<Sample>("out", {}, options);
    await_subscribers(*publisher, 1);
    return publisher;
  }
  std::shared_ptr<Subscriber<Sample>> connected_subscriber(const SubscriberOptions& options = {}) {
    auto subscriber = node_->create_subscriber<Sample>("in", Qos{}, options);
    expect_to_receive(*subscriber, *peer_);
    while (subscriber->take()) {
    }
    return subscriber;
  }
};

bool is_fair(PublishResult result) {
  return result == PublishResult::published || result == PublishResult::no_memory;
}

// --- publishers --------------------------------------------------------------------------------------------------------------------

TEST_F(TopicFaults, a_publisher_is_created_and_connected_or_it_says_why_not) {
  walk_topics("create_publisher", [&](Fault& fault) {
    std::shared_ptr<Publisher<Sample>> publisher;
    fault.during([&] {
      publisher = node_->create_publisher<Sample>("out");
      fault.await([&] { return publisher->statistics().subscribers == 1; });
    });
  });
}

TEST_F(TopicFaults, a_publisher_is_created_with_memory_of_its_own_or_it_says_why_not) {
  PublisherOptions options;
  options.prefault = 4 << 20;
  options.lock_memory = true;
  walk_topics("create_publisher with prefault and lock_memory", [&](Fault& fault) {
    std::shared_ptr<Publisher<Sample>> publisher;
    fault.during([&] {
      publisher = node_->create_publisher<Sample>("out", {}, options);
      fault.await([&] { return publisher->statistics().subscribers == 1; });
    });
    publisher.reset();
    expect_to_publish(*node_->create_publisher<Sample>("out", {}, options), *peer_);
  });
}

TEST_F(TopicFaults, a_ghost_publisher_is_created_or_it_says_why_not) {
  PublisherOptions options;
  options.ghost = Ghost::observer;
  walk_topics("create_publisher of a ghost", [&](Fault& fault) {
    std::shared_ptr<Publisher<Sample>> publisher;
    fault.during([&] {
      publisher = node_->create_publisher<Sample>("out", {}, options);
      fault.await([&] { return publisher->statistics().subscribers == 1; });
    });
  });
}

TEST_F(TopicFaults, every_way_to_publish_works_or_says_that_there_is_no_memory) {
  const std::pair<const char*, std::function<PublishResult(Publisher<Sample>&, std::size_t)>> ways[] = {
      {"publish of a loan", [](auto& publisher, std::size_t size) { return publish_in_place(publisher, 1, 1, size); }},
      {"publish of a reference", [](auto& publisher, std::size_t size) { return publisher.publish(sample_of(1, 1, size)); }},
      {"publish of a unique_ptr",
       [](auto& publisher, std::size_t size) { return publisher.publish(std::make_unique<Sample>(sample_of(1, 1, size))); }},
      {"publish of a shared_ptr",
       [](auto& publisher, std::size_t size) { return publisher.publish(std::make_shared<const Sample>(sample_of(1, 1, size))); }},
  };
  for (const auto& [name, publish] : ways) {
    walk_topics(name, [&](Fault& fault) {
      const auto publisher = connected_publisher();
      fault.during([&] {
        for (const std::size_t size : {std::size_t{10}, std::size_t{3'000'000}, std::size_t{10}}) {
          EXPECT_TRUE(is_fair(publish(*publisher, size)));
        }
        fault.await([&] {
          const auto readers = publisher->subscribers();
          return readers.empty() || readers[0].waiting == 0;
        });
      });
      expect_to_publish(*publisher, *peer_);
    });
  }
}

TEST_F(TopicFaults, a_publisher_that_grows_while_it_is_read_works_or_says_that_there_is_no_memory) {
  PublisherOptions options;
  options.memory_budget = 8 << 20;
  options.when_full = WhenFull::wait;
  options.max_blocking = std::chrono::milliseconds(5);
  walk_topics("publish with little memory", [&](Fault& fault) {
    const auto publisher = connected_publisher(options);
    fault.during([&] {
      for (int turn = 0; turn < 4; ++turn) EXPECT_TRUE(is_fair(publish_in_place(*publisher, 1, 1, 3'000'000)));
    });
    expect_to_publish(*publisher, *peer_);
  });
}

TEST_F(TopicFaults, messages_within_the_process_come_or_there_is_no_memory) {
  walk_topics("publish within the process", [&](Fault& fault) {
    std::atomic<int> received{0};
    const auto publisher = node_->create_publisher<Sample>("here");
    const auto shares = node_->create_subscriber<Sample>("here", [&](std::shared_ptr<const Sample>) { ++received; });
    const auto owns = node_->create_subscriber<Sample>("here", [&](std::unique_ptr<Sample>) { ++received; });
    fault.during([&] {
      EXPECT_TRUE(is_fair(publish_in_place(*publisher, 1, 1, 1'000'000)));
      EXPECT_TRUE(is_fair(publisher->publish(std::make_unique<Sample>(sample_of(1, 2, 10)))));
      fault.await([&] { return received == 4; });
    });
    EXPECT_TRUE(eventually([&] { return received == 4; }));
  });
}

TEST_F(TopicFaults, what_is_kept_for_late_subscribers_comes_to_the_next_one) {
  walk_topics("publish for late subscribers of other processes", [&](Fault& fault) {
    const auto publisher = node_->create_publisher<Sample>("history", Qos{}.transient_local());
    const auto here = node_->create_subscriber<Sample>("history", Qos{}.transient_local());  // so these are kept by pointer
    for (const std::uint64_t number : {1U, 2U}) {
      publisher->publish(std::make_unique<Sample>(sample_of(1, number, 1'000'000)));
      EXPECT_TRUE(take_soon(*here));
    }
    std::shared_ptr<Subscriber<Sample>> late;
    fault.during([&] {
      late = node_->create_subscriber<Sample>("history", Qos{}.transient_local(), as_from_elsewhere());
      std::shared_ptr<const Sample> sample;
      fault.await([&] { return (sample = late->take()) != nullptr; });
    });
    late.reset();
    peer_->tell("late");
  });
}

TEST_F(TopicFaults, a_publisher_goes_whatever_fails) {
  walk_topics("~Publisher", [&](Fault& fault) {
    auto publisher = connected_publisher();
    EXPECT_EQ(publish_in_place(*publisher, 1, 1, 100'000), PublishResult::published);
    fault.during([&] { publisher.reset(); });
  });
}

// --- subscribers -------------------------------------------------------------------------------------------------------------------

TEST_F(TopicFaults, a_subscriber_is_created_and_gets_messages_or_it_says_why_not) {
  const std::pair<const char*, SubscriberOptions> ways[] = {
      {"create_subscriber and take", {}},
      {"create_subscriber and take, Delivery::view", {.delivery = Delivery::view}},
      {"create_subscriber and take, Delivery::copy", {.delivery = Delivery::copy}},
  };
  for (const auto& way : ways) {
    const SubscriberOptions& options = way.second;
    walk_topics(way.first, [&](Fault& fault) {
      std::shared_ptr<Subscriber<Sample>> subscriber;
      fault.during([&] {
        subscriber = node_->create_subscriber<Sample>("in", Qos{}, options);
        std::shared_ptr<const Sample> sample;
        fault.await([&] {
          peer_->tell("publish 10");
          return (sample = subscriber->take(std::chrono::milliseconds(20))) != nullptr;
        });
      });
      subscriber.reset();
      connected_subscriber(options);
    });
  }
}

TEST_F(TopicFaults, a_subscriber_with_a_callback_is_created_and_called_or_it_says_why_not) {
  walk_topics("create_subscriber with a callback", [&](Fault& fault) {
    std::atomic<int> received{0};
    std::shared_ptr<Node> node = Node::create("called");  // without threads yet
    std::shared_ptr<Subscriber<Sample>> subscriber;
    const auto count = [&](const Sample& sample) { received += is_whole(sample) ? 1 : 0; };
    const auto create = [&] { subscriber = node->create_subscriber<Sample>("in", count); };
    const auto is_called = [&] {
      peer_->tell("publish 10");
      return received > 0;
    };
    fault.during([&] {
      create();
      fault.await(is_called);
    });
    subscriber.reset();
    received = 0;
    create();
    EXPECT_TRUE(eventually(is_called));
  });
}

TEST_F(TopicFaults, big_messages_come_while_the_reader_cannot_map_them_or_its_connection_ends) {
  walk_topics("take of messages that are to be mapped first", [&](Fault& fault) {
    const auto subscriber = connected_subscriber();
    fault.during([&] {
      for (const char* size : {"3000000", "6000000"}) {
        peer_->tell(std::string("publish ") + size);
        std::shared_ptr<const Sample> sample;
        fault.await([&] { return (sample = subscriber->take(std::chrono::milliseconds(20))) != nullptr; });
        EXPECT_TRUE(!sample || is_whole(*sample));
      }
    });
  });
}

TEST_F(TopicFaults, big_messages_come_to_a_callback_or_its_connection_ends) {
  walk_topics("a callback with messages that are to be mapped first", [&](Fault& fault) {
    std::atomic<std::size_t> last{0};
    const auto subscriber = node_->create_subscriber<Sample>("in", [&](const std::shared_ptr<const Sample>& sample) {
      EXPECT_TRUE(is_whole(*sample));
      last = sample->data.size();
    });
    EXPECT_TRUE(eventually([&] {
      peer_->tell("publish 10");
      return last > 0;
    }));
    fault.during([&] {
      for (const std::size_t size : {3'000'000U, 30'000'000U}) {
        peer_->tell("publish " + std::to_string(size));
        fault.await([&] { return last == size; });
      }
    });
  });
}

TEST_F(TopicFaults, a_late_subscriber_gets_what_is_kept_or_the_next_one_does) {
  walk_topics("create_subscriber for what is kept", [&](Fault& fault) {
    const auto both = [](Subscriber<Sample>& late, const std::function<void(const std::function<bool()>&)>& wait) {
      for (int number = 1; number <= 2; ++number) {
        std::shared_ptr<const Sample> sample;
        wait([&] { return (sample = late.take(std::chrono::milliseconds(20))) != nullptr; });
        EXPECT_TRUE(!sample || is_whole(*sample));
      }
    };
    std::shared_ptr<Subscriber<Sample>> late;
    fault.during([&] {
      late = node_->create_subscriber<Sample>("kept", Qos{}.transient_local());
      both(*late, [&](const auto& condition) { fault.await(condition); });
    });
    late = node_->create_subscriber<Sample>("kept", Qos{}.transient_local());
    both(*late, [&](const auto& condition) { EXPECT_TRUE(eventually(condition)); });
  });
}

TEST_F(TopicFaults, a_ghost_subscriber_is_created_or_it_says_why_not) {
  SubscriberOptions options;
  options.ghost = Ghost::observer;
  walk_topics("create_subscriber of a ghost", [&](Fault& fault) {
    std::shared_ptr<Subscriber<Sample>> subscriber;
    fault.during([&] {
      subscriber = node_->create_subscriber<Sample>("in", Qos{}, options);
      fault.await([&] { return subscriber->statistics().publishers == 1; });
    });
  });
}

TEST_F(TopicFaults, waiting_for_a_message_ends_with_one_or_none_or_says_why) {
  walk_topics("wait_for_message", [&](Fault& fault) {
    fault.during([&] {
      std::shared_ptr<const Sample> sample;
      fault.await([&] {
        sample = wait_for_message<Sample>(*node_, "kept", std::chrono::milliseconds(200), Qos{}.transient_local());
        return sample != nullptr;
      });
    });
  });
}

TEST_F(TopicFaults, what_is_held_stays_whole_while_everything_else_goes) {
  walk_topics("~Subscriber and ~Node with a message held", [&](Fault& fault) {
    auto node = Node::create("holder");
    auto subscriber = node->create_subscriber<Sample>("in");
    expect_to_receive(*subscriber, *peer_);
    peer_->tell("publish 3000000");
    auto held = take_soon(*subscriber);
    ASSERT_TRUE(held);
    fault.during([&] {
      subscriber.reset();
      node.reset();
      EXPECT_TRUE(is_whole(*held));
      held.reset();
    });
  });
}

}  // namespace
}  // namespace sinew::system
