// Processes die in containers, with their containers and without, and others get back what they had of them.
#include <signal.h>

#include "tests/isolation/container.hpp"
#include "tests/system/paths.hpp"

namespace sinew::system {
namespace {

class ContainedDeath : public Isolated {};

TEST_F(ContainedDeath, OfASubscriberGivesItsMemoryBackToAPublisherThatCannotSeeItsProcess) {
  Contained keeper("keeper", "init", {"keeper"});
  Contained writer("writer", "init", {"reliable all"});
  for (const char* const words : {"", "init"}) {
    Contained holder("holder", words, {""});
    EXPECT_EQ(writer.ask("await 1"), "there");
    EXPECT_EQ(writer.ask("big 1 3000000"), "published");
    EXPECT_EQ(holder.ask("hold"), "1");
    EXPECT_EQ(writer.ask("big 2 1000"), "published");
    EXPECT_GT(std::stoull(writer.ask("memory")), 3'000'000U);
    holder.kill();
    EXPECT_EQ(writer.ask("await 0"), "there");
    EXPECT_EQ(writer.ask("big 3 1000"), "published");
    EXPECT_LT(std::stoull(writer.ask("memory")), 1'000'000U);
  }
  writer.end();
  keeper.end();
}

TEST_F(ContainedDeath, OfASubscriberIsSeenFromOutsideAlsoWhenACloneKeepsItsSockets) {
  auto node = Node::create("outside");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  Contained holder("holder", "lasting", {"clone"});
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 3'000'000);
  EXPECT_EQ(holder.ask("hold"), "1");
  publish_in_place(*publisher, 1, 2, 1000);
  EXPECT_GT(publisher->statistics().memory_in_use, 3'000'000U);
  ASSERT_GT(holder.pid(), 0);  // else it is whoever runs the tests
  ASSERT_EQ(::kill(holder.pid(), SIGKILL), 0);
  await_subscribers(*publisher, 0);
  publish_in_place(*publisher, 1, 3, 1000);
  EXPECT_LT(publisher->statistics().memory_in_use, 1'000'000U);
  EXPECT_FALSE(holder.child().has_ended()) << "the clone lived all the time";
  holder.child().finish();
  EXPECT_EQ(holder.child().wait(), -SIGKILL);
}

TEST_F(ContainedDeath, OfAPublisherLeavesItsMessagesToTheirReadersAndRoomForTheNext) {
  Contained keeper("keeper", "init", {"keeper"});
  Contained holder("holder", "init", {""});
  for (const char* const words : {"", "init"}) {
    Contained writer("writer", words, {"reliable all"});
    EXPECT_EQ(writer.ask("await 1"), "there");
    EXPECT_EQ(writer.ask("publish 1 3"), "published");
    EXPECT_EQ(holder.ask("hold"), "1");
    writer.kill();
    EXPECT_EQ(holder.ask("alone"), "alone");
    EXPECT_EQ(holder.ask("hold"), "2");
    EXPECT_EQ(holder.ask("hold"), "3");
    EXPECT_EQ(holder.ask("look"), "whole");
    EXPECT_EQ(holder.ask("drop"), "dropped");
  }
  holder.end();
  keeper.end();
}

TEST_F(ContainedDeath, OfTheContainerWithTheManagerDisturbsNoPairAndNewNodesStartAnother) {
  Contained keeper("keeper", "", {"keeper"});  // whose end is that of its container
  Contained writer("writer", "init", {"reliable all"});
  Contained reader("reader", "init", {"native", "reliable all"});
  EXPECT_EQ(writer.ask("await 1"), "there");
  const std::vector<pid_t> first = managers_inside();
  ASSERT_EQ(first.size(), 1U);
  keeper.kill();
  EXPECT_NE(managers_inside(), first) << "the next one may be there already";
  EXPECT_EQ(writer.ask("publish 1 20"), "published");
  EXPECT_EQ(reader.ask("take 20"), numbers(1, 20));

  Contained another("keeper", "init", {"keeper"});
  ASSERT_EQ(managers_inside().size(), 1U);
  EXPECT_NE(managers_inside(), first);
  auto outside = Node::create("outside");
  EXPECT_EQ(managers_inside().size() + managers(), 1U);
  EXPECT_EQ(writer.ask("publish 21 30"), "published");
  EXPECT_EQ(reader.ask("take 10"), numbers(21, 30));
  reader.end();
  writer.end();
  another.end();
}

TEST_F(ContainedDeath, OfTheNodeThatHasStartedTheManagerLeavesTheManagerWhereItsContainerGoesOn) {
  Contained first("keeper", "lasting", {"first"});
  ASSERT_GT(first.pid(), 0);
  ASSERT_EQ(::kill(first.pid(), SIGKILL), 0);
  const std::vector<pid_t> manager = managers_inside();
  ASSERT_EQ(manager.size(), 1U);
  {
    Contained writer("writer", "init", {"reliable all"});
    Contained reader("reader", "init", {"native", "reliable all"});
    EXPECT_EQ(managers_inside(), manager);
    EXPECT_EQ(writer.ask("await 1"), "there");
    EXPECT_EQ(writer.ask("publish 1 5"), "published");
    EXPECT_EQ(reader.ask("take 5"), numbers(1, 5));
    reader.end();
    writer.end();
  }
  EXPECT_EQ(first.child().wait(), -SIGKILL) << "when the manager has left, since nobody came";
}

}  // namespace
}  // namespace sinew::system
