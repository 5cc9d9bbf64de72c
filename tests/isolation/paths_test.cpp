// Every way of messages, services and actions between containers that share nothing but the domain's socket.
#include "tests/system/paths.hpp"
#include <unistd.h>

#include <filesystem>

#include "tests/isolation/container.hpp"
#include "tests/system/action.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class Containers : public Isolated {};

TEST_F(Containers, HaveNothingOfEachOtherAndOfTheOutsideButTheDomainsFolder) {
  Contained one("inspector", ""), two("inspector", "init");
  EXPECT_EQ(one.ask("pid"), "1");
  const std::string second = two.ask("pid");  // threads of the first may have taken numbers
  EXPECT_NE(second, "1");
  EXPECT_EQ(one.ask("/proc"), "/proc/1 ");
  EXPECT_EQ(two.ask("/proc"), "/proc/1 /proc/" + second + " ");
  EXPECT_EQ(one.ask("interfaces"), "");
  EXPECT_EQ(one.ask("/shared"), "/shared/" + std::filesystem::path(folder()).filename().string() + " ");
  EXPECT_EQ(one.ask("/dev"), "/dev/null ");
  const auto space = [](pid_t process, const char* kind) {
    return std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/ns/" + kind);
  };
  for (const char* const kind : {"mnt", "pid", "ipc", "net"}) {
    EXPECT_NE(space(one.pid(), kind), space(two.pid(), kind)) << kind;
    EXPECT_NE(space(one.pid(), kind), space(::getpid(), kind)) << kind;
  }
  one.end();
  two.end();
}

const std::string as_stranger = "init as=" + std::to_string(stranger_id);

class BetweenContainers : public Isolated, public ::testing::WithParamInterface<Path> {
 protected:
  bool is_stranger() const { return GetParam().where == Where::other_user; }
  std::string words() const override {
    // The paths that one has to ask for, in user namespaces as well.
    return is_stranger() ? as_stranger : GetParam().asked ? "init users=0:" + std::to_string(::geteuid()) : "init";
  }
  void SetUp() override {
    if (is_stranger() && ::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Isolated::SetUp();
    if (!IsSkipped() && is_stranger()) let_stranger_join();
  }
  /// An export has eight messages.
  static void expect_all(Contained& writer, Contained& reader) {
    EXPECT_EQ(writer.ask("await 1"), "there");
    EXPECT_EQ(writer.ask("publish 1 8"), "published");
    EXPECT_EQ(reader.ask("take 8"), numbers(1, 8));
    for (std::uint64_t number = 9; number <= 30; ++number) {
      const std::string each = std::to_string(number);
      EXPECT_EQ(writer.ask("publish " + each + " " + each), "published");
      EXPECT_EQ(reader.ask("take 1"), numbers(number, number));
    }
    EXPECT_EQ(reader.ask("missed"), "0");
  }
};

TEST_P(BetweenContainers, MessagesComeWholeWithTheManagerInAThird) {
  Contained keeper("keeper", "init", {"keeper"});
  EXPECT_EQ(managers_inside().size(), 1U) << "the first node has started it where it is";
  Contained writer("writer", "init", {"reliable all"});
  Contained reader("reader", words(), {GetParam().name, "reliable all"});
  EXPECT_EQ(managers_inside().size() + managers(), 1U);
  expect_all(writer, reader);
  reader.end();
  writer.end();
  keeper.end();
}

TEST_P(BetweenContainers, MessagesComeWholeWithTheManagerInThePublishers) {
  Contained writer("writer", "", {"reliable all"});  // as process 1
  EXPECT_EQ(managers_inside().size(), 1U);
  Contained reader("reader", words(), {GetParam().name, "reliable all"});
  expect_all(writer, reader);
  reader.end();
  writer.end();
}

TEST_P(BetweenContainers, MessagesComeWholeWithTheManagerOutside) {
  auto node = Node::create("keeper");
  EXPECT_TRUE(manager());
  Contained writer("writer", "init", {"reliable all"});
  Contained reader("reader", words(), {GetParam().name, "reliable all"});
  EXPECT_EQ(managers_inside().size() + managers(), 1U);
  expect_all(writer, reader);
  reader.end();
  writer.end();
}

TEST_P(BetweenContainers, MessagesComeWholeIntoOneFromOutsideAndOut) {
  auto node = Node::create("outside");
  auto publisher = node->create_publisher<Sample>("topic", lossless());
  {
    Contained reader("reader", words(), {GetParam().name, "reliable all"});
    await_subscribers(*publisher, 1);
    publish_numbers(*publisher, 1, 8);
    EXPECT_EQ(reader.ask("take 8"), numbers(1, 8));
    reader.end();
  }
  publisher.reset();
  SubscriberOptions options;
  options.delivery = GetParam().asked;
  auto subscriber = node->create_subscriber<Sample>("topic", lossless(), options);
  Contained writer("writer", words(), {"reliable all"});
  EXPECT_EQ(writer.ask("await 1"), "there");
  EXPECT_EQ(writer.ask("publish 1 8"), "published");
  for (std::uint64_t number = 1; number <= 8; ++number) {
    MessageInfo info;
    const auto message = take_soon(*subscriber, &info);
    ASSERT_TRUE(message);
    EXPECT_TRUE(is_whole(*message) && message->number == number);
    EXPECT_EQ(info.delivery, GetParam().expected);
  }
  writer.end();
}

SINEW_ON_PATHS_BETWEEN_PROCESSES(BetweenContainers);

// --- services and actions ----------------------------------------------------------------------------------------------------------------

class Calls : public Isolated {
 protected:
  static void expect_all(const std::string& provider_words, const std::string& caller_words) {
    Contained keeper("keeper", "init", {"keeper"});
    Contained provider("provider", provider_words, {"provider"}), caller("caller", caller_words);
    EXPECT_EQ(caller.ask("await 1"), "there");
    EXPECT_EQ(caller.ask("call 30"), "answered");
    EXPECT_EQ(caller.ask("move 3"), "cancelled");
    EXPECT_EQ(caller.ask("wait 5"), "called");
    provider.expect("waits");
    EXPECT_EQ(caller.ask("cancel 5"), "told");
    provider.expect("cancelled");
    caller.end();
    provider.end();
    keeper.end();
  }
};

TEST_F(Calls, AreAnsweredAndCancelledBetweenContainers) {
  expect_all("init", "init");
}

TEST_F(Calls, GoToAnotherContainerWhenOneDies) {
  Contained keeper("keeper", "init", {"keeper"});
  Contained first("provider", "init", {"first"}), caller("caller", "");
  EXPECT_EQ(caller.ask("await 1"), "there");
  EXPECT_EQ(caller.ask("say 9"), "called");
  first.expect("9 of caller");
  Contained second("provider", "", {"second"});
  EXPECT_EQ(caller.ask("await 2"), "there");
  first.kill();
  second.expect("9 of caller");
  second.child().order("go on");
  EXPECT_EQ(caller.ask("result 9"), "second");
  caller.end();
  second.end();
  keeper.end();
}

class CallsOfUsers : public IsolatedUsers {};

TEST_F(CallsOfUsers, AreAnsweredAndCancelledBetweenContainersOfDifferentUsers) {
  for (const bool provides : {false, true}) {
    Contained keeper("keeper", "init", {"keeper"});
    Contained provider("provider", provides ? as_stranger : "init", {"provider"}), caller("caller", provides ? "init" : as_stranger);
    EXPECT_EQ(caller.ask("await 1"), "there");
    EXPECT_EQ(caller.ask("call 30"), "answered");
    EXPECT_EQ(caller.ask("move 3"), "cancelled");
    caller.end();
    provider.end();
    keeper.end();
  }
}

}  // namespace
}  // namespace sinew::system
