#include "manager/state/config.hpp"

#include <gtest/gtest.h>

#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

/// A machine with one user and one group.
const Accounts accounts{[](const std::string& name) { return name == "robot" ? std::optional<uid_t>(1000) : std::nullopt; },
                        [](const std::string& name) { return name == "video" ? std::optional<gid_t>(44) : std::nullopt; }};

AccessRules parse(const std::string& text) {
  return parse_config(text, "/etc/rules.json", accounts);
}

/// What is said about the text after the name of the file.
std::string complaint_about(const std::string& text) {
  try {
    parse(text);
    return "no complaint";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    const std::string what = error.what(), begin = "sinewd cannot use its configuration '/etc/rules.json': ";
    EXPECT_TRUE(what.starts_with(begin)) << what;
    return what.substr(begin.size());
  }
}

/// The same about one rule.
std::string complaint_about_rule(const std::string& rule) {
  return complaint_about(R"({"access": [)" + rule + "]}");
}

TEST(Config, gives_the_rules_in_their_order_with_the_name_of_the_file) {
  const AccessRules rules = parse(R"({
    "access": [  // the order counts
      {"name": "cameras are ours", "topic": "/camera/**", "publish": {"uid": [1000, 0], "gid": [44]}, "subscribe": "all"},
      /* everything else */
      {"topic": "**", "subscribe": "none"}
    ]
  })");
  EXPECT_EQ(rules.file, "/etc/rules.json");
  ASSERT_EQ(rules.rules.size(), 2u);
  const AccessRule& first = rules.rules[0];
  EXPECT_EQ(first.name, "cameras are ours");
  EXPECT_EQ(first.topic, "camera/**");
  EXPECT_FALSE(first.publish.value().all);
  EXPECT_EQ(first.publish.value().users, (std::set<uid_t>{0, 1000}));
  EXPECT_EQ(first.publish.value().groups, (std::set<gid_t>{44}));
  EXPECT_TRUE(first.subscribe.value().all);
  const AccessRule& second = rules.rules[1];
  EXPECT_EQ(second.name, "");
  EXPECT_FALSE(second.publish);
  EXPECT_FALSE(second.subscribe.value().all);
  EXPECT_TRUE(second.subscribe.value().users.empty() && second.subscribe.value().groups.empty());
}

TEST(Config, without_rules_there_are_none) {
  EXPECT_TRUE(parse("{}").rules.empty());
  EXPECT_TRUE(parse(R"({"access": []})").rules.empty());
}

TEST(Config, users_and_groups_may_be_named) {
  const AccessRules rules = parse(R"({"access": [{"topic": "a", "publish": {"uid": ["robot", 5]}, "subscribe": {"gid": ["video"]}}]})");
  EXPECT_EQ(rules.rules.at(0).publish.value().users, (std::set<uid_t>{5, 1000}));
  EXPECT_EQ(rules.rules.at(0).subscribe.value().groups, (std::set<gid_t>{44}));
}

TEST(Config, what_is_no_json_is_refused_with_line_and_column) {
  EXPECT_TRUE(complaint_about("{\n  \"access\": [,]\n}").starts_with("parse error at line 2, column 14: "))
      << complaint_about("{\n  \"access\": [,]\n}");
  EXPECT_TRUE(complaint_about("").starts_with("parse error at line 1, column 1: ")) << complaint_about("");
  EXPECT_TRUE(complaint_about("{} {}").starts_with("parse error at line 1, column 4: ")) << complaint_about("{} {}");
  EXPECT_NE(complaint_about(R"({"access": 1e999})"), "no complaint");
}

TEST(Config, an_unknown_key_is_refused_with_its_path_and_the_known_ones) {
  EXPECT_EQ(complaint_about(R"({"acces": []})"), "acces is not known, expected one of 'join', 'access'.");
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "publsh": "all"})"),
            "access[0].publsh is not known, expected one of 'name', 'topic', 'publish', 'subscribe'.");
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a"}, {"topic": "a", "publish": {"user": [1]}})"),
            "access[1].publish.user is not known, expected one of 'uid', 'gid'.");
}

TEST(Config, a_key_that_stands_twice_is_refused) {
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "publish": "none", "publish": "all"})"),
            "the key \"publish\" stands twice in one object.");
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a"}, {"topic": "a"})"), "no complaint");
}

TEST(Config, a_value_of_another_kind_is_refused_with_its_path_what_is_there_and_what_was_expected) {
  EXPECT_EQ(complaint_about("[]"), "the whole is a list, expected an object with 'join', 'access'.");
  EXPECT_EQ(complaint_about(R"({"access": {}})"), "access is an object, expected a list of rules.");
  EXPECT_EQ(complaint_about_rule("5"), "access[0] is 5, expected an object with 'name', 'topic', 'publish', 'subscribe'.");
  EXPECT_EQ(complaint_about_rule(R"({"publish": "all"})"), "access[0] has no 'topic', expected a pattern of the topics that it is about.");
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "name": 7})"), "access[0].name is 7, expected some words without control characters.");
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "publish": {"uid": 0}})"),
            "access[0].publish.uid is 0, expected a list of numbers or names of users.");
  for (const char* there : {"\"everybody\"", "true", "null"}) {
    EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "subscribe": )" + std::string(there) + "}"),
              "access[0].subscribe is " + std::string(there) + ", expected \"all\", \"none\", or an object with 'uid' or 'gid' or both.");
  }
  EXPECT_NE(complaint_about_rule(R"({"topic": "a", "publish": {}})"), "no complaint");
}

TEST(Config, a_number_or_name_that_is_nobodys_is_refused) {
  for (const char* there : {"-1", "4294967295", "1.5", "\"video\"", "[]"}) {
    const std::string said = complaint_about_rule(R"({"topic": "a"}, {"topic": "a", "publish": {"uid": [)" + std::string(there) + "]}}");
    EXPECT_TRUE(said.starts_with("access[1].publish.uid[0] is ")) << said;
    EXPECT_TRUE(said.ends_with(", expected the number of a user or the name of one on this machine.")) << said;
  }
  EXPECT_EQ(complaint_about_rule(R"({"topic": "a", "publish": {"gid": [4294967294, "robot"]}})"),
            "access[0].publish.gid[1] is \"robot\", expected the number of a group or the name of one on this machine.");
}

TEST(Config, a_bad_topic_or_name_is_refused) {
  for (const char* there : {"\"\"", "\"camera left\"", "\"camera**\"", "\"//a\"", "3"}) {
    const std::string said = complaint_about_rule(R"({"topic": )" + std::string(there) + "}");
    EXPECT_TRUE(said.starts_with("access[0].topic is " + std::string(there) + ", expected a topic's name, in which '*' may stand")) << said;
  }
  for (const char* there : {R"("")", R"("two\nlines")", R"("\u0000")"}) {
    EXPECT_TRUE(complaint_about_rule(R"({"topic": "a", "name": )" + std::string(there) + "}").starts_with("access[0].name is ")) << there;
  }
}

}  // namespace
}  // namespace sinew::manager
