// Who may publish and subscribe to what, as the manager's configuration says.
#include <fcntl.h>
#include <grp.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Access : public Domain {};

std::string outcome_of(const std::function<void()>& call) {
  try {
    call();
    return "allowed";
  } catch (const Error& error) {
    return (error.kind() == ErrorKind::denied ? "denied: " : "error: ") + std::string(error.what());
  }
}

void become(const Arguments& arguments) {
  const auto uid = static_cast<uid_t>(std::stoul(arguments.at(0)));
  const auto gid = static_cast<gid_t>(std::stoul(arguments.at(1)));
  require(::setgroups(0, nullptr) == 0 && ::setresgid(gid, gid, gid) == 0 && ::setresuid(uid, uid, uid) == 0, "cannot become another user");
}

// user, group, socket, configuration; opened before, since the other user may not reach the folder of the programs
ROLE(manager_of) {
  const int program = ::open((std::filesystem::read_symlink("/proc/self/exe").parent_path() / "sinewd").c_str(), O_RDONLY | O_CLOEXEC);
  become(arguments);
  std::array<std::string, 5> words = {"sinewd", "--socket", arguments.at(2), "--config", arguments.at(3)};
  std::array<char*, 6> pointers = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), words[4].data(), nullptr};
  ::fexecve(program, pointers.data(), environ);
  fail("sinewd does not start");
}

// user, group, name; does as told
ROLE(member_of) {
  become(arguments);
  auto node = Node::create(arguments.at(2));
  std::shared_ptr<Publisher<Sample>> publisher;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  std::uint64_t number = 0;
  say("in");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    const std::string topic = order.substr(order.find(' ') + 1);
    if (order.starts_with("publish ")) say(outcome_of([&] { publisher = node->create_publisher<Sample>(topic); }));
    if (order.starts_with("subscribe ")) say(outcome_of([&] { subscriber = node->create_subscriber<Sample>(topic); }));
    if (order == "send") {
      await_subscribers(*publisher, 1);
      publish_in_place(*publisher, 1, ++number, 10'000);
    }
    if (order == "take") {
      const auto message = take_soon(*subscriber);
      require(message && is_whole(*message), "nothing whole comes");
      say(std::to_string(message->number));
    }
  }
}

TEST_F(Access, ARuleRefusesWhoIsNotListedAndTellsWhichItIsWhileOthersGoOn) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  set_rules(R"({"access": [{"name": "cameras are ours", "topic": "camera/**", "publish": {"uid": [1000, 0], "gid": [44]},
                            "subscribe": {"gid": [45]}}]})");
  ASSERT_EQ(::chown(folder().c_str(), 1234, 1234), 0);
  Child manager("manager_of", {"1234", "1234", socket(), config()});
  manager.line();  // it listens

  Child camera("member_of", {"1234", "44", "camera"}), viewer("member_of", {"1234", "45", "viewer"});
  Child outsider("member_of", {"1234", "1234", "outsider"});
  for (Child* each : {&camera, &viewer, &outsider}) each->expect("in");
  const auto pass_on = [&](const std::string& number) {
    camera.order("send");
    viewer.order("take");
    viewer.expect(number);
  };
  camera.order("publish camera/left");
  camera.expect("allowed");
  viewer.order("subscribe camera/left");
  viewer.expect("allowed");
  pass_on("1");

  const std::string rule = "topic 'camera/left': access rule 'cameras are ours' (access[0] of " + config() + ") allows ";
  const std::string rest =
      "; you are uid 1234, gid 1234. Run this program as somebody who is allowed, or change the rule and start sinewd again.";
  outsider.order("publish camera/left");
  outsider.expect("denied: you may not publish " + rule + "uid 0, 1000 and gid 44" + rest);
  outsider.order("subscribe camera/left");
  outsider.expect("denied: you may not subscribe to " + rule + "gid 45" + rest);
  outsider.order("publish lidar");
  outsider.expect("allowed");
  pass_on("2");

  for (Child* each : {&camera, &viewer, &outsider}) {
    each->order("end");
    each->end();
  }
  manager.signal(SIGTERM);
  EXPECT_EQ(manager.wait(), 0) << manager.errors();
}

TEST_F(Access, AManagerStartedOnDemandHasTheRulesOfTheEnvironmentOfItsFirstNode) {
  const std::string another = std::to_string(::geteuid() + 1);
  set_rules(R"({"access": [{"topic": "theirs", "publish": {"uid": [)" + another + "]}}]}");
  auto node = Node::create("node");
  EXPECT_EQ(outcome_of([&] { (void)node->create_publisher<Sample>("theirs"); }).substr(0, 42),
            "denied: you may not publish topic 'theirs'");
  EXPECT_EQ(outcome_of([&] { (void)node->create_subscriber<Sample>("theirs"); }), "allowed");
}

TEST_F(Access, WithABadConfigurationNodesAreToldWhatIsWrongWithItAndGoOnOnceItIsRight) {
  set_rules(R"({"access": [{"topic": "theirs", "publish": {"uid": [-1]}}]})");
  for (int round = 0; round < 2; ++round) {
    const std::string said = outcome_of([] { (void)Node::create("node"); });
    for (const std::string& words : {socket(), config(), std::string("access[0].publish.uid[0] is -1, expected the number of a user")})
      EXPECT_NE(said.find(words), said.npos) << words << " is missing in: " << said;
    EXPECT_FALSE(std::filesystem::exists(socket()));
  }
  set_rules("{}");
  EXPECT_EQ(outcome_of([] { (void)Node::create("node"); }), "allowed");
}

TEST_F(Access, WithoutAConfigurationEverybodyInTheDomainMayDoEverything) {
  if (std::filesystem::exists("/etc/sinew/sinewd.json")) GTEST_SKIP() << "this machine has a configuration";
  auto node = Node::create("node");
  EXPECT_EQ(outcome_of([&] { (void)node->create_publisher<Sample>("topic"); }), "allowed");
  EXPECT_EQ(outcome_of([&] { (void)node->create_subscriber<Sample>("topic"); }), "allowed");
}

}  // namespace
}  // namespace sinew::system
