// The manager comes when the first node does, goes after the last, and is missed by nobody in between.
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/point.hpp"
#include "os/socket.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Manager : public Domain {};

// name
ROLE(member) {
  say("up");
  next_order();
  auto node = Node::create(arguments[0]);
  say("registered");
  until_finished();
}

TEST_F(Manager, TenNodesThatStartAtOnceShareOneManager) {
  for (int round = 0; round < rounds(5); ++round) {
    std::vector<Child> members;
    for (int i = 0; i < 10; ++i) members.emplace_back("member", Arguments{"member" + std::to_string(i)});
    for (Child& member : members) member.expect("up");
    for (Child& member : members) member.order("go");
    for (Child& member : members) member.expect("registered");
    EXPECT_EQ(managers(), 1U);
    // All of them are in it: each name is taken.
    for (int i = 0; i < 10; ++i) EXPECT_THROW((void)Node::create("member" + std::to_string(i)), Error);
    for (Child& member : members) member.end();
    end_manager();
  }
}

TEST_F(Manager, ItKeepsTheStandardErrorOfTheNodeThatStartsItOnlyWhereALogIsAskedFor) {
  const auto keeps_it = [this](const Child::Environment& environment) {
    Child member("member", {"member"}, environment);
    member.expect("up");
    member.order("go");
    member.expect("registered");
    const auto errors = std::filesystem::read_symlink("/proc/" + std::to_string(manager().value_or(0)) + "/fd/2");
    member.end();
    end_manager();
    return errors != "/dev/null";
  };
  EXPECT_FALSE(keeps_it({}));
  EXPECT_FALSE(keeps_it({{"SINEW_LOG", "loud"}}));
  EXPECT_FALSE(keeps_it({{"SINEW_LOG", "off"}}));
  EXPECT_TRUE(keeps_it({{"SINEW_LOG", "warn"}}));
}

ROLE(demanding) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(::sched_getcpu(), &one);
  require(::sched_setaffinity(0, sizeof one, &one) == 0, "it cannot be bound to a core");
  const sched_param parameters{.sched_priority = 50};
  require(::geteuid() != 0 || ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0, "it cannot run in real time");
  auto node = Node::create("demanding");
  say("registered");
  until_finished();
}

TEST_F(Manager, ItHasNeitherThePriorityNorTheCoreOfTheNodeThatStartsIt) {
  Child demanding("demanding");
  demanding.expect("registered");
  const pid_t pid = manager().value_or(-1);
  EXPECT_EQ(::sched_getscheduler(pid), SCHED_OTHER);
  cpu_set_t here, there;
  ASSERT_EQ(::sched_getaffinity(0, sizeof here, &here), 0);
  ASSERT_EQ(::sched_getaffinity(pid, sizeof there, &there), 0);
  EXPECT_TRUE(CPU_EQUAL(&here, &there));
  demanding.end();
}

ROLE(told_why_there_is_no_manager) {
  try {
    auto node = Node::create(arguments[0]);
    say("there is one");
  } catch (const Error& error) {
    say(error.what());
  }
}

TEST_F(Manager, WhoWantsOneThatDoesNotGetReadyIsToldSoAndNothingOfItStays) {
  ASSERT_EQ(::mkfifo(config().c_str(), 0600), 0);  // which nobody writes
  std::vector<Child> wanting;
  for (const char* const name : {"first", "second"})
    wanting.emplace_back("told_why_there_is_no_manager", Arguments{name}, Child::Environment{{"SINEW_CONFIG", config()}});
  for (Child& child : wanting) {
    const std::string told = child.line().value_or("");
    EXPECT_NE(told.find("it was not ready within"), told.npos) << told;
    child.end();
  }
  EXPECT_EQ(managers(), 0U);
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

// domain
ROLE(late_reader) {
  auto node = Node::create("late", {.domain = arguments[0]});
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  say("there");
  next_order();
  require(take_soon(*subscriber) != nullptr, "the message does not come");
  say("got it");
  until_finished();
}

/// What `lose` does to the domain's socket does not make two domains of it: who comes then hears who was there before.
template <class Lose>
void expect_one_domain_after(const std::string& domain, const std::string& socket, Lose lose) {
  auto node = Node::create("old", {.domain = domain});
  auto publisher = node->create_publisher<Sample>("topic");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  ASSERT_EQ(managers_of(socket).size(), 1U);
  const pid_t first = managers_of(socket).front();
  lose(first);
  Child late("late_reader", {domain});
  late.expect("there");
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 1, 1000);
  EXPECT_TRUE(take_soon(*subscriber));
  late.order("take");
  late.expect("got it");
  EXPECT_TRUE(eventually([&] { return managers_of(socket).size() == 1; }));
  EXPECT_NE(managers_of(socket), std::vector{first});
  late.end();
}

TEST_F(Manager, ASocketThatIsRemovedDoesNotSplitTheDomain) {
  expect_one_domain_after(socket(), socket(), [this](pid_t first) {
    std::filesystem::remove(socket());
    await_end(first);
  });
}

// As logind does when the user of a robot logs out, and in again.
TEST_F(Manager, AFolderOfDomainsThatIsRemovedAndMadeAgainDoesNotSplitThem) {
  const std::string runtime = folder() + "/user", path = runtime + "/sinew/robot.sock";
  std::filesystem::create_directory(runtime);
  ::setenv("XDG_RUNTIME_DIR", runtime.c_str(), 1);
  for (const bool comes_back_later : {false, true}) {
    expect_one_domain_after("robot", path, [&](pid_t first) {
      std::filesystem::remove_all(comes_back_later ? runtime : runtime + "/sinew");
      await_end(first);
      std::filesystem::create_directory(runtime);
    });
    for (const pid_t pid : managers_of(path)) {
      ::kill(pid, SIGTERM);
      await_end(pid);
    }
  }
  std::filesystem::remove_all(runtime);
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST_F(Manager, ASocketThatNobodyListensAtIsReplaced) {
  {
    const os::Fd abandoned = os::listen_at(socket());
  }
  ASSERT_TRUE(std::filesystem::exists(socket()));
  EXPECT_TRUE(Node::create("node"));
}

TEST_F(Manager, WhatAStoppedManagerAnswersTooLateIsTakenBack) {
  auto node = Node::create("node");
  const pid_t pid = manager().value_or(0);
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  try {
    (void)node->create_publisher<Sample>("topic");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unavailable) << error.what();
    EXPECT_NE(std::string(error.what()).find("stopped"), std::string::npos) << error.what();
  }
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  EXPECT_TRUE(eventually([] { return all_windows_are_free(); }));
  EXPECT_TRUE(node->create_publisher<Sample>("topic")) << "the node goes on";
}

ROLE(asker) {
  auto node = Node::create("asker");
  say("up");
  next_order();
  say("asks");
  auto publisher = node->create_publisher<Sample>("topic");
  say("answered");
  until_finished();
}

TEST_F(Manager, WhoAsksItDoesNotCountForHowLongTheWholeMachineStandsStill) {
  Child asker("asker");
  asker.expect("up");
  const pid_t pid = manager().value_or(0);
  ASSERT_GT(pid, 0);
  ASSERT_EQ(::kill(pid, SIGSTOP), 0);
  asker.order("go");
  asker.expect("asks");
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  asker.stop();
  std::this_thread::sleep_for(std::chrono::milliseconds(5500));
  asker.go_on();
  ASSERT_EQ(::kill(pid, SIGCONT), 0);
  asker.expect("answered");
  asker.end();
}

TEST_F(Manager, ItEndsSomeTimeAfterTheLastNodeAndTheNextNodeStartsAnother) {
  (void)Node::create("node");
  const pid_t first = manager().value_or(0);
  ASSERT_GT(first, 0);
  await_end(first);
  EXPECT_FALSE(std::filesystem::exists(socket()));
  EXPECT_TRUE(Node::create("node"));
  EXPECT_NE(manager().value_or(first), first);
}

TEST_F(Manager, F3_the_windows_of_publishers_that_are_gone_are_used_again) {
  auto receiver = Node::create("receiver"), sender = Node::create("sender");
  std::atomic<int> received{0};
  auto subscriber = receiver->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; }, Qos{}, as_from_elsewhere());
  const int restarts = rounds(100);
  for (int round = 1; round <= restarts; ++round) {
    auto publisher = sender->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 1, 1, 10'000);
    EXPECT_TRUE(eventually([&] { return received == round; }));
  }
  // The manager is told when the last of it is unmapped, which is soon.
  EXPECT_TRUE(eventually([] { return all_windows_are_free(); }));
}

TEST_F(Manager, F3_a_window_that_somebody_still_holds_messages_of_is_given_to_nobody) {
  auto receiver = Node::create("receiver"), sender = Node::create("sender");
  auto subscriber = receiver->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  std::shared_ptr<const Sample> held;
  {
    auto publisher = sender->create_publisher<Sample>("topic");
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 1, 1, 10'000);
    held = take_soon(*subscriber);
  }
  ASSERT_TRUE(held);
  Stranger stranger("counter");
  EXPECT_EQ(stranger.count_free_windows(), stranger.welcome.window_count - 1);
  EXPECT_TRUE(is_whole(*held));
}

TEST_F(Manager, NodesOfOneProcessThatNameItDifferentlyMeet) {
  const std::string link = folder() + ".link";
  std::filesystem::create_directory_symlink(folder(), link);
  {
    auto here = Node::create("here"), there = Node::create("there", {.domain = link + "/domain.sock"});
    auto publisher = here->create_publisher<Sample>("topic");
    auto subscriber = there->create_subscriber<Sample>("topic");
    await_subscribers(*publisher, 1);
    EXPECT_EQ(publisher->publish(sample_of(1, 1, 10)), PublishResult::published);
    EXPECT_TRUE(take_soon(*subscriber));
    EXPECT_EQ(managers(), 1U);
  }
  std::filesystem::remove(link);
}

TEST_F(Manager, NodesOfTwoDomainsDoNotMeetNorDoTheirMessages) {
  const std::string elsewhere = folder() + "/elsewhere.sock";
  auto here = Node::create("here"), there = Node::create("there", {.domain = elsewhere});
  const auto publisher_here = here->create_publisher<Sample>("topic"), publisher_there = there->create_publisher<Sample>("topic");
  for (const SubscriberOptions& options : {SubscriberOptions{}, as_from_elsewhere()}) {
    const auto subscriber_here = here->create_subscriber<Sample>("topic", Qos{}, options);
    const auto subscriber_there = there->create_subscriber<Sample>("topic", Qos{}, options);
    await_subscribers(*publisher_here, 1);
    await_subscribers(*publisher_there, 1);
    publish_in_place(*publisher_here, 1, 1, 10);
    publish_in_place(*publisher_there, 2, 1, 10);
    for (const auto& [subscriber, writer] : {std::pair(subscriber_here, 1U), std::pair(subscriber_there, 2U)}) {
      const auto message = take_soon(*subscriber);
      EXPECT_TRUE(message && message->writer == writer);
      EXPECT_FALSE(subscriber->take());
      EXPECT_EQ(subscriber->statistics().publishers, 1u);
    }
    EXPECT_EQ(here->domain_state().nodes.size(), 1u);
    EXPECT_EQ(there->domain_state().nodes.size(), 1u);
  }
  there.reset();
  for (const pid_t pid : managers_of(elsewhere)) {
    ::kill(pid, SIGTERM);
    await_end(pid);
  }
  std::filesystem::remove(elsewhere);
}

ROLE(hears_the_answer_when_nobody_waits_any_more) {
  auto node = Node::create("node");
  bool is_refused = false;
  try {
    (void)node->create_publisher<Sample>("topic");
  } catch (const Error& error) {
    is_refused = error.kind() == ErrorKind::unavailable;
  }
  require(is_refused && base::is_held(), "the answer was not too late");
  base::let_go();
  auto publisher = node->create_publisher<std::uint64_t>("topic");  // another type: the manager has not kept the first
  auto subscriber = node->create_subscriber<std::uint64_t>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
}

TEST_F(Manager, WhatItAnswersAtTheVeryEndOfTheWaitingIsTakenBack) {
  Child("hears_the_answer_when_nobody_waits_any_more", {}, {{"SINEW_AT", "node_session.registered:1:hold"}}).end();
}

}  // namespace
}  // namespace sinew::system
