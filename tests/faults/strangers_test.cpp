// What goes between users while system calls fail.
#include <chrono>
#include <memory>
#include <optional>

#include "tests/faults/peer.hpp"
#include "tests/faults/walk.hpp"
#include "tests/system/foreign.hpp"

namespace sinew::system {
namespace {

class StrangerFaults : public Foreign {
 protected:
  void walk_with_stranger(const std::string& operation, const std::function<void(Node&, Peer&, Fault&)>& scenario) {
    const auto node = Node::create("node");
    Peer stranger(true);
    {
      // What a publisher has for readers of other users only grows.
      const auto subscriber = node->create_subscriber<Sample>("in");
      expect_to_receive(*subscriber, stranger);
      for (int i = 0; i < 20; ++i) stranger.tell("publish 1000000");
    }
    walk(operation,
         [&](Fault& fault) {
           scenario(*node, stranger, fault);
           expect_topics_to_work(*node, stranger);
         },
         {&stranger.process()});
    stranger.end();
  }
};

TEST_F(StrangerFaults, a_reader_of_another_user_gets_messages_or_the_next_one_does) {
  walk_with_stranger("publish for another user", [](Node& node, Peer&, Fault& fault) {
    fault.during([&] {
      const auto publisher = node.create_publisher<Sample>("out");
      fault.await([&] { return publisher->statistics().subscribers == 1; });
      for (const std::size_t size : {std::size_t{10}, std::size_t{1'000'000}}) {
        const PublishResult result = publish_in_place(*publisher, 1, 1, size);
        EXPECT_TRUE(result == PublishResult::published || result == PublishResult::no_memory);
      }
    });
  });
}

TEST_F(StrangerFaults, messages_of_another_user_come_or_the_next_ones_do) {
  walk_with_stranger("take from another user", [](Node& node, Peer& stranger, Fault& fault) {
    fault.during([&] {
      const auto subscriber = node.create_subscriber<Sample>("in");
      for (const char* size : {"publish 10", "publish 1000000"}) {
        std::shared_ptr<const Sample> sample;
        fault.await([&] {
          stranger.tell(size);
          return (sample = subscriber->take(std::chrono::milliseconds(20))) != nullptr;
        });
        EXPECT_TRUE(!sample || is_whole(*sample));
      }
    });
  });
}

}  // namespace
}  // namespace sinew::system
