// Every error says what was asked, what is there, and what to do.
#include <grp.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include "tests/system/angle.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace robot {
struct Header {
  double stamp;
  std::string frame;
};
struct Image {
  Header header;
  std::uint32_t height, width;
  std::vector<std::uint8_t> data;
};
}  // namespace robot

namespace other {
struct Header {
  std::uint64_t stamp;
  std::string frame;
};
struct Image {
  Header header;
  std::uint32_t height, width;
  std::vector<std::uint8_t> data;
};
}  // namespace other

namespace sinew::system {
namespace {

class Errors : public Domain {};

/// The kind of the error that `call` throws, and its text.
std::string outcome_of(const std::function<void()>& call) {
  try {
    call();
    return "no error";
  } catch (const Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
}

void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), text.npos) << "'" << word << "' is missing in: " << text;
}

TEST_F(Errors, EveryKindHasAName) {
  EXPECT_STREQ(to_string(ErrorKind::invalid_argument), "invalid_argument");
  EXPECT_STREQ(to_string(ErrorKind::system), "system");
  EXPECT_STREQ(to_string(ErrorKind{255}), "unknown");
}

TEST_F(Errors, WhatAProgramWouldPrintHasAName) {
  EXPECT_STREQ(to_string(PublishResult::published), "published");
  EXPECT_STREQ(to_string(PublishResult::closed), "closed");
  EXPECT_STREQ(to_string(PublishResult{255}), "unknown");
  EXPECT_STREQ(to_string(ServiceError::Kind::failed), "failed");
  EXPECT_STREQ(to_string(ServiceError::Kind::disconnected), "disconnected");
  EXPECT_STREQ(to_string(ServiceError::Kind{255}), "unknown");
  EXPECT_STREQ(to_string(Ghost::no), "no");
  EXPECT_STREQ(to_string(Ghost::observer), "observer");
  EXPECT_STREQ(to_string(Ghost{255}), "unknown");
  EXPECT_STREQ(to_string(Liveliness::manual_by_topic), "manual_by_topic");
  EXPECT_STREQ(to_string(Liveliness{255}), "unknown");
}

TEST_F(Errors, AnotherTypeOnATopicIsRefusedWithTheFirstFieldThatDiffers) {
  auto node = Node::create("node"), peer = Node::create("peer");
  auto publisher = node->create_publisher<robot::Image>("camera/image");
  const std::string subscriber = outcome_of([&] { (void)peer->create_subscriber<other::Image>("camera/image"); });
  expect_words(subscriber, {"type_mismatch", "topic 'camera/image'", "robot/Image", "other/Image", "header.stamp", "float64", "uint64"});
  const std::string second = outcome_of([&] { (void)peer->create_publisher<other::Image>("/camera/image"); });
  expect_words(second, {"type_mismatch", "header.stamp"});
  EXPECT_TRUE(peer->create_subscriber<robot::Image>("camera/image")) << "the node goes on";
}

TEST_F(Errors, TheNameOfAnotherNodeIsRefusedWithTheWayOut) {
  auto node = Node::create("camera");
  const std::string second = outcome_of([] { (void)Node::create("camera"); });
  expect_words(second, {"name_taken", "'camera'", "process " + std::to_string(::getpid()), "SINEW_NODE"});
  EXPECT_EQ(second.find("is set"), second.npos) << "which it is not: " << second;
  node.reset();
  EXPECT_TRUE(Node::create("camera"));
}

ROLE(program_of_two_nodes) {
  auto first = Node::create("first");
  say(outcome_of([] { (void)Node::create("second"); }));
}

TEST_F(Errors, AProgramOfSeveralNodesIsToldThatTheEnvironmentNamesThemAll) {
  Child renamed("program_of_two_nodes", {}, {{"SINEW_NODE", "robot"}});
  const std::string said = renamed.line().value_or("nothing");
  expect_words(said,
               {"name_taken", "'robot' is taken by process " + std::to_string(renamed.pid()), "SINEW_NODE is set", "'second'", "unset"});
  renamed.end();
  Child plain("program_of_two_nodes");
  plain.expect("no error");
  plain.end();
}

TEST_F(Errors, BadNamesAreRefusedWithWhatIsAllowed) {
  for (const std::string& name : {std::string(), std::string("two words"), std::string("caf\xc3\xa9"), std::string(256, 'x')}) {
    expect_words(outcome_of([&] { (void)Node::create(name); }), {"invalid_argument: node name '", "' is not allowed: "});
  }
  expect_words(outcome_of([] { (void)Node::create("two words"); }), {"'two words'", "letters"});
  auto node = Node::create("node");
  for (const std::string& topic : {std::string(), std::string("/"), std::string("a//b"), std::string("a/"), std::string("a b"),
                                   std::string("a-b"), std::string(256, 'x')}) {
    const std::vector<std::string> words = {"invalid_argument: topic name '", "' is not allowed: "};
    expect_words(outcome_of([&] { (void)node->create_publisher<int>(topic); }), words);
    expect_words(outcome_of([&] { (void)node->create_subscriber<int>(topic); }), words);
  }
  expect_words(outcome_of([&] { (void)node->create_publisher<int>("a b"); }), {"'a b'", "letters"});
  EXPECT_TRUE(node->create_publisher<int>("a/b")) << "the node goes on";
}

TEST_F(Errors, ANameThatIsEmptyOrTooLongIsRefusedAsItWasGivenWhateverIsMadeOfIt) {
  using robot::Header;
  struct Named {
    std::string what;
    std::size_t most;
    std::function<void(const std::string&)> create;
  };
  auto node = Node::create("node");
  const std::vector<Named> all = {
      {"node", 255, [](const std::string& name) { (void)Node::create(name); }},
      {"topic", 255, [&](const std::string& name) { (void)node->create_publisher<int>(name); }},
      {"topic", 255, [&](const std::string& name) { (void)node->create_subscriber<int>(name); }},
      {"service", 246, [&](const std::string& name) { (void)node->create_service_client<Header, Header>(name); }},
      {"service", 246,
       [&](const std::string& name) {
         (void)node->create_service_provider<Header, Header>(name, [](const Header& request) { return request; });
       }},
      {"action", 233, [&](const std::string& name) { (void)node->create_action_client<Header, Header, Header>(name); }},
      {"action", 233,
       [&](const std::string& name) {
         (void)node->create_action_server<Header, Header, Header>(name, [](ServerGoal<Header, Header>&) { return Header{}; });
       }},
  };
  for (const Named& each : all) {
    const auto outcome = [&](const std::string& name) { return outcome_of([&] { each.create(name); }); };
    const std::string begin = "invalid_argument: " + each.what + " name '", behind = each.what + " name is ";
    EXPECT_EQ(outcome(std::string(each.most, 'x')), "no error") << each.what;
    const std::string too_long = outcome(std::string(each.most + 1, 'x')), empty = outcome("");
    EXPECT_TRUE(too_long.starts_with(begin + std::string(64, 'x') + "...' is not allowed: it has " + std::to_string(each.most + 1) +
                                     " characters. "))
        << too_long;
    expect_words(too_long, {behind, std::to_string(each.most) + " characters"});
    EXPECT_TRUE(empty.starts_with(begin + "' is not allowed: it is empty. ")) << empty;
    expect_words(empty, {behind});
  }
}

TEST_F(Errors, ADepthOutOfRangeIsRefusedWithTheRange) {
  auto node = Node::create("node");
  for (const std::uint32_t depth : {0U, 513U}) {
    const std::vector<std::string> words = {"invalid_argument", "topic 'deep'", "keep_last(" + std::to_string(depth) + ")", "1 to 512",
                                            "keep_all"};
    expect_words(outcome_of([&] { (void)node->create_publisher<int>("deep", Qos{}.keep_last(depth)); }), words);
    expect_words(outcome_of([&] { (void)node->create_subscriber<int>("deep", Qos{}.keep_last(depth)); }), words);
  }
}

TEST_F(Errors, ADurationOrLivelinessOutOfRangeIsRefusedWithTheRange) {
  auto node = Node::create("node");
  const auto refused = [&](const Qos& qos, const std::vector<std::string>& words) {
    expect_words(outcome_of([&] { (void)node->create_publisher<int>("timed", qos); }), words);
    expect_words(outcome_of([&] { (void)node->create_subscriber<int>("timed", qos); }), words);
  };
  constexpr std::chrono::nanoseconds century{std::chrono::hours{24 * 36'525}}, tick{1};
  for (const std::chrono::nanoseconds wrong : {-tick, 0 * tick, century + tick}) {
    const std::string value = " of " + std::to_string(wrong.count()) + " ns";
    refused(Qos{}.deadline(wrong), {"invalid_argument", "topic 'timed'", "deadline" + value, "1 ns to 100 years", "leave it out"});
    refused(Qos{}.lifespan(wrong), {"invalid_argument", "topic 'timed'", "lifespan" + value, "1 ns to 100 years"});
    refused(Qos{}.liveliness(Liveliness::automatic, wrong), {"invalid_argument", "topic 'timed'", "lease" + value, "1 ns to 100 years"});
  }
  refused(Qos{}.liveliness(static_cast<Liveliness>(2), tick), {"invalid_argument", "topic 'timed'", "liveliness"});
  EXPECT_TRUE(node->create_publisher<int>("timed", Qos{}.deadline(century).lifespan(tick).liveliness(Liveliness::manual_by_topic, tick)));
}

TEST_F(Errors, ThinningOutOfRangeIsRefusedWithTheRange) {
  auto node = Node::create("node");
  const auto subscribe = [&](const SubscriberOptions& options) {
    return outcome_of([&] { (void)node->create_subscriber<int>("thin", Qos{}, options); });
  };
  expect_words(subscribe({.every = 0}), {"invalid_argument", "topic 'thin'", "every = 0", "1 takes every message"});
  for (const double rate : {-1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    expect_words(subscribe({.max_rate = rate}), {"invalid_argument", "topic 'thin'", "max_rate", "messages a second"});
  }
}

TEST_F(Errors, TakingFromASubscriberWithACallbackIsRefused) {
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<int>("topic", [](const int&) {});
  expect_words(outcome_of([&] { subscriber->take(); }), {"invalid_argument", "topic 'topic'", "take()", "without a callback"});
}

// --- no manager ----------------------------------------------------------------------------------------------------------------------------

// what to do first, with an argument
ROLE(node_in_trouble) {
  if (arguments[0] == "as_user" && ::geteuid() == 0) {
    const auto id = static_cast<uid_t>(std::stoul(arguments[1]));
    require(::setgroups(0, nullptr) == 0 && ::setresgid(id, id, id) == 0 && ::setresuid(id, id, id) == 0, "cannot become another user");
  }
  if (arguments[0] == "with_descriptors") {
    const rlimit limit{std::stoul(arguments[1]), std::stoul(arguments[1])};
    require(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "cannot limit descriptors");
  }
  say(outcome_of([] { (void)Node::create("node"); }));
}

std::string outcome_in(Child child) {
  const std::string said = child.line().value_or("");
  child.end();
  return said;
}

TEST_F(Errors, AMissingManagerProgramIsNamedWithTheWayToHaveIt) {
  const std::string elsewhere = folder() + "/elsewhere";
  std::filesystem::create_directory(elsewhere);
  std::filesystem::copy_file("/proc/self/exe", elsewhere + "/program");
  const std::string said =
      outcome_in(Child::program(elsewhere + "/program", {"--role", "node_in_trouble", "alone"}, {{"PATH", elsewhere}}));
  expect_words(said, {"unavailable", "sinewd", "PATH"});
  std::filesystem::remove_all(elsewhere);
}

TEST_F(Errors, AManagerProgramThatIsInPathAndFailsIsNotSaidToBeMissing) {
  const std::string elsewhere = folder() + "/elsewhere", in_path = elsewhere + "/in_path", manager = in_path + "/sinewd";
  std::filesystem::create_directories(in_path);
  std::filesystem::copy_file("/proc/self/exe", elsewhere + "/program");
  std::ofstream(manager) << "#!/bin/sh\nprintf 'the disk is full'\nexit 1\n";
  const auto said = [&] {
    return outcome_in(Child::program(elsewhere + "/program", {"--role", "node_in_trouble", "alone"}, {{"PATH", in_path}}));
  };
  expect_words(said(), {"unavailable", "'sinewd'", "must be in PATH"});  // nobody may execute it yet
  std::filesystem::permissions(manager, std::filesystem::perms::owner_exec, std::filesystem::perm_options::add);
  const std::string failed = said();
  EXPECT_TRUE(failed.ends_with("cannot start 'sinewd': it exited with status 1. It says: the disk is full")) << failed;
  std::filesystem::remove_all(elsewhere);
}

TEST_F(Errors, AFolderThatCannotBeWrittenIsNamed) {
  const std::string locked = folder() + "/locked";
  std::filesystem::create_directory(locked);
  ASSERT_EQ(::chmod(locked.c_str(), 0555), 0);
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  const std::string said = outcome_in(Child("node_in_trouble", {"as_user", "12345"}, {{"SINEW_DOMAIN", locked + "/domain.sock"}}));
  expect_words(said, {"unavailable", locked + "/domain.sock"});
  std::filesystem::remove_all(locked);
}

TEST_F(Errors, AMessageWithAVariantThatLostItsValueIsNotPublished) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Measurement>("readings");
  auto loan = publisher->loan();
  loan->value = "text";
  lose_value(*loan);
  const Measurement copy = *loan;
  EXPECT_EQ(publisher->publish(copy), PublishResult::invalid);
  EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::invalid);
  EXPECT_EQ(publisher->publish(Measurement{"text"}), PublishResult::published);
  EXPECT_EQ(publisher->statistics().refused, 2U);
}

TEST_F(Errors, AFileThatIsNoSocketIsNamedAndLeftAlone) {
  const std::string precious = folder() + "/precious";
  std::ofstream(precious) << "data";
  const std::string said = outcome_in(Child("node_in_trouble", {"alone"}, {{"SINEW_DOMAIN", precious}}));
  expect_words(said, {"unavailable", precious, "not a socket"});
  EXPECT_EQ(std::filesystem::file_size(precious), 4U);
  std::filesystem::remove(precious);
}

TEST_F(Errors, AFolderThatDoesNotExistIsNamed) {
  const std::string said = outcome_in(Child("node_in_trouble", {"alone"}, {{"SINEW_DOMAIN", folder() + "/nowhere/domain.sock"}}));
  expect_words(said, {"unavailable", folder() + "/nowhere"});
}

TEST_F(Errors, ADomainThatIsTooLongOrBadlyNamedIsRefused) {
  const std::string endless = folder() + "/" + std::string(150, 'x') + ".sock";
  expect_words(outcome_in(Child("node_in_trouble", {"alone"}, {{"SINEW_DOMAIN", endless}})), {"invalid_argument", endless, "shorter"});
  expect_words(outcome_in(Child("node_in_trouble", {"alone"}, {{"SINEW_DOMAIN", "two words"}})),
               {"invalid_argument", "'two words'", "letters"});
  expect_words(outcome_of([] { (void)Node::create("node", {.domain = "two words"}); }), {"invalid_argument", "'two words'"});
}

TEST_F(Errors, ADomainOfAnotherUserIsDenied) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  ASSERT_EQ(::chmod(folder().c_str(), 0755), 0);
  auto node = Node::create("of_this_user");
  const std::string said = outcome_in(Child("node_in_trouble", {"as_user", "12345"}));
  expect_words(said, {"denied", socket()});
}

TEST_F(Errors, TooFewDescriptorsAreSaidWithTheLimitToRaise) {
  if (sanitized) GTEST_SKIP() << "the sanitizer needs descriptors for its own checks";
  auto node = Node::create("first");  // the manager runs
  const std::string said = outcome_in(Child("node_in_trouble", {"with_descriptors", "4"}));
  expect_words(said, {"exhausted", "ulimit -n"});
}

ROLE(who_logs_nothing) {
  const auto node = Node::create("node"), other = Node::create("other");
}

TEST_F(Errors, ALevelOfTheLogThatIsNoneIsToldOfOnceAlsoWhereThereIsNothingToBeLogged) {
  Child child("who_logs_nothing", {}, {{"SINEW_LOG", "warning"}});
  child.end();
  EXPECT_EQ(child.errors(), "sinew: SINEW_LOG='warning' is no level, so it is warn. Set it to error, warn, info, debug or off.\n");
}

}  // namespace
}  // namespace sinew::system
