#include "manager/state/access.hpp"

#include "manager/state/tests/world.hpp"

namespace sinew::manager {
namespace {

constexpr uid_t anybody = 1234;

/// Rules as they would stand in the file "rules.json".
AccessRules rules_of(std::vector<AccessRule> rules) {
  return {"rules.json", {}, std::move(rules)};
}
const Principals everybody{.all = true, .users = {}, .groups = {}}, no_one{};

TEST(TopicPattern, is_a_topic_name_with_stars_in_levels_and_double_stars_as_levels) {
  for (const char* pattern : {"camera", "camera/left", "*", "**", "camera/*", "camera/**", "**/left", "a/**/b/*", "cam*_l*", "*a*"})
    EXPECT_TRUE(is_topic_pattern(pattern)) << pattern;
  for (const char* pattern : {"", "/", "/camera", "camera/", "a//b", "a**", "**b/c", "***", "a b", "camera/[left]", "a?", "a-b"})
    EXPECT_FALSE(is_topic_pattern(pattern)) << pattern;
  EXPECT_FALSE(is_topic_pattern(std::string(256, 't')));
}

TEST(TopicPattern, without_stars_it_stands_for_one_topic) {
  EXPECT_TRUE(matches("camera/left", "camera/left"));
  for (const char* topic : {"camera", "camera/lef", "camera/leftt", "camera/left/raw", "Camera/left"})
    EXPECT_FALSE(matches("camera/left", topic)) << topic;
}

TEST(TopicPattern, a_star_stands_for_any_characters_within_one_level) {
  for (const char* topic : {"camera/left", "camera/x"}) EXPECT_TRUE(matches("camera/*", topic)) << topic;
  for (const char* topic : {"camera", "camera/left/raw", "lidar/left"}) EXPECT_FALSE(matches("camera/*", topic)) << topic;
  for (const char* topic : {"cam", "camera", "cam_left"}) EXPECT_TRUE(matches("cam*", topic)) << topic;
  EXPECT_TRUE(matches("*_l*t", "cam_long_left"));
  EXPECT_FALSE(matches("*_l*t", "cam_left_"));
  EXPECT_TRUE(matches("*/*", "a/b"));
}

TEST(TopicPattern, a_double_star_stands_for_any_number_of_levels_also_none) {
  for (const char* topic : {"camera", "camera/left", "camera/left/raw"}) EXPECT_TRUE(matches("camera/**", topic)) << topic;
  for (const char* topic : {"cameras", "a/camera"}) EXPECT_FALSE(matches("camera/**", topic)) << topic;
  for (const char* topic : {"a", "a/b", "a/b/c"}) EXPECT_TRUE(matches("**", topic)) << topic;
  for (const char* topic : {"a/b", "a/x/b", "a/b/b", "a/b/x/y/b"}) EXPECT_TRUE(matches("a/**/b", topic)) << topic;
  for (const char* topic : {"a", "b", "a/b/c", "ab"}) EXPECT_FALSE(matches("a/**/b", topic)) << topic;
  EXPECT_TRUE(matches("**/raw/**", "camera/left/raw"));
}

TEST(TopicPattern, many_stars_do_not_make_it_slow) {
  std::string pattern, topic;
  for (int level = 0; level < 60; ++level) {
    pattern += "**/a/";
    topic += "a/";
  }
  EXPECT_FALSE(matches(pattern + "b", topic + "a"));
}

TEST(Access, where_no_rule_matches_everybody_may) {
  EXPECT_FALSE(decide({}, Access::publish, "image", anybody, anybody));
  const AccessRules rules = rules_of({{"", "camera/**", no_one, no_one}});
  EXPECT_FALSE(decide(rules, Access::publish, "lidar", anybody, anybody));
  EXPECT_TRUE(decide(rules, Access::publish, "camera/left", anybody, anybody));
}

TEST(Access, the_first_rule_that_matches_decides) {
  const AccessRules rules = rules_of({{"", "camera/left", everybody, {}}, {"", "camera/**", no_one, {}}, {"", "**", everybody, {}}});
  EXPECT_FALSE(decide(rules, Access::publish, "camera/left", anybody, anybody));
  EXPECT_TRUE(decide(rules, Access::publish, "camera/right", anybody, anybody));
  EXPECT_FALSE(decide(rules, Access::publish, "lidar", anybody, anybody));
}

TEST(Access, a_rule_that_says_nothing_about_publishing_leaves_it_to_the_next) {
  const AccessRules rules = rules_of({{"", "camera/**", {}, everybody}, {"", "**", no_one, no_one}});
  EXPECT_TRUE(decide(rules, Access::publish, "camera/left", anybody, anybody).value().find("access[1]") != std::string::npos);
  EXPECT_FALSE(decide(rules, Access::subscribe, "camera/left", anybody, anybody));
}

TEST(Access, a_peer_is_allowed_by_its_user_or_by_its_group) {
  const AccessRules rules = rules_of({{"", "**", Principals{.all = false, .users = {1000}, .groups = {44}}, {}}});
  EXPECT_FALSE(decide(rules, Access::publish, "image", 1000, 1000));
  EXPECT_FALSE(decide(rules, Access::publish, "image", 1234, 44));
  EXPECT_TRUE(decide(rules, Access::publish, "image", 44, 1000)) << "these are the numbers of the other kind";
}

TEST(Access, a_refusal_says_what_was_asked_which_rule_refuses_whom_it_allows_and_who_asked) {
  const AccessRules rules =
      rules_of({{"cameras are ours", "camera/**", Principals{.all = false, .users = {1000, 0}, .groups = {44}}, no_one},
                {"", "**", Principals{.all = false, .users = {}, .groups = {7, 8}}, {}}});
  EXPECT_EQ(decide(rules, Access::publish, "camera/left", 1234, 1235),
            "you may not publish topic 'camera/left': access rule 'cameras are ours' (access[0] of rules.json) allows uid 0, 1000 and gid "
            "44; you are uid 1234, gid 1235. Run this program as somebody who is allowed, or change the rule and start sinewd again.");
  const std::string nobody = decide(rules, Access::subscribe, "camera/left", 1234, 1234).value();
  EXPECT_EQ(nobody.substr(0, nobody.find(';')),
            "you may not subscribe to topic 'camera/left': access rule 'cameras are ours' (access[0] of rules.json) allows nobody");
  const std::string nameless = decide(rules, Access::publish, "image", 1234, 1234).value();
  EXPECT_EQ(nameless.substr(0, nameless.find(';')),
            "you may not publish topic 'image': access rule access[1] of rules.json allows gid 7, 8");
}

// --- in the domain -------------------------------------------------------------------------------------------------------------------

struct RuledWorld : World {
  RuledWorld()
      : World(four_windows, std::nullopt,
              rules_of({{"", "camera/**", Principals{.all = false, .users = {}, .groups = {44}},
                         Principals{.all = false, .users = {}, .groups = {45}}}})) {}
};

TEST(Access, a_peer_without_it_is_denied_and_its_session_goes_on) {
  RuledWorld world;
  const Session outsider = world.node("outsider");
  const auto publisher = sent<wire::PublisherRefused>(world.publish(outsider, 1, "camera/left"), 0, outsider);
  EXPECT_EQ(publisher.id, 1u);
  EXPECT_EQ(publisher.kind, static_cast<std::uint32_t>(ErrorKind::denied));
  EXPECT_NE(publisher.text.find("allows gid 44; you are uid 1000, gid 1000"), std::string::npos) << publisher.text;
  const auto subscriber = sent<wire::SubscriberRefused>(world.subscribe(outsider, 1, "/camera/left"), 0, outsider);
  EXPECT_EQ(subscriber.kind, static_cast<std::uint32_t>(ErrorKind::denied));
  EXPECT_NE(subscriber.text.find("subscribe to topic 'camera/left'"), std::string::npos) << subscriber.text;
  EXPECT_EQ(world.domain.free_windows(), four_windows.count);
  EXPECT_EQ(world.domain.topics(), 0u);
  sent<wire::PublisherRegistered>(world.publish(outsider, 2, "lidar"), 0, outsider);
}

TEST(Access, peers_that_have_it_meet) {
  RuledWorld world;
  const Session camera = world.node("camera", 44), viewer = world.node("viewer", 45);
  sent<wire::SubscriberRegistered>(world.subscribe(viewer, 1, "camera/left"), 0, viewer);
  const Actions actions = world.publish(camera, 1, "camera/left");
  sent<wire::PublisherRegistered>(actions, 0, camera);
  EXPECT_EQ(at<Introduce>(actions, 1).subscriber, viewer);
  sent<wire::PublisherRefused>(world.publish(viewer, 1, "camera/left"), 0, viewer);
}

TEST(Access, who_is_denied_is_not_told_the_type_of_the_topic) {
  RuledWorld world;
  const Session camera = world.node("camera", 44), outsider = world.node("outsider");
  world.publish(camera, 1, "camera/left");
  const auto refused = sent<wire::SubscriberRefused>(world.subscribe(outsider, 1, "camera/left", type_of(64)), 0, outsider);
  EXPECT_EQ(refused.kind, static_cast<std::uint32_t>(ErrorKind::denied));
}

}  // namespace
}  // namespace sinew::manager
