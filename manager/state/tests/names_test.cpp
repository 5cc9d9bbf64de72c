#include "manager/state/names.hpp"
#include "wire/topic_name.hpp"

#include <gtest/gtest.h>

namespace sinew::manager {
namespace {

TEST(NodeName, letters_digits_underscore_dot_slash_and_dash_are_allowed) {
  for (const char* name : {"camera", "a", "/robot/front-camera_2.left", "0", "A.b"}) EXPECT_FALSE(complaint_about_node_name(name)) << name;
  EXPECT_FALSE(complaint_about_node_name(std::string(255, 'n')));
}

TEST(NodeName, anything_else_is_refused_with_the_character_that_offends) {
  EXPECT_EQ(complaint_about_node_name("my camera"),
            "node name 'my camera' is not allowed: character ' ' is in it. A node name is 1 to 255 characters: letters, digits, '_', '.', "
            "'/' and '-'.");
  EXPECT_NE(complaint_about_node_name("caméra").value().find("'caméra' is not allowed: byte 0xc3"), std::string::npos);
  EXPECT_NE(complaint_about_node_name("a\x1b[2J").value().find("byte 0x1b"), std::string::npos);
  EXPECT_NE(complaint_about_node_name("").value().find("it is empty"), std::string::npos);
  EXPECT_EQ(complaint_about_node_name(std::string(256, 'n')),
            "node name '" + std::string(64, 'n') +
                "...' is not allowed: it has 256 characters. A node name is 1 to 255 characters: letters, digits, '_', '.', '/' and '-'.");
}

TEST(TopicName, words_with_single_slashes_between_them_are_allowed) {
  for (const char* name : {"image", "camera/image", "/camera/image", "a/b/c_2", "0"})
    EXPECT_FALSE(complaint_about_topic_name(name)) << name;
}

TEST(TopicName, anything_else_is_refused_with_the_reason) {
  EXPECT_EQ(complaint_about_topic_name("camera/im-age"),
            "topic name 'camera/im-age' is not allowed: character '-' is in it. A topic name is words of letters, digits and '_' with a "
            "single '/' "
            "between them, as in 'camera/image', at most 255 characters.");
  EXPECT_NE(complaint_about_topic_name("").value().find("it is empty"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("/").value().find("it is empty"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("//a").value().find("no word before it"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("a//b").value().find("no word before it"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("a/").value().find("ends with '/'"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name(std::string(256, 't')).value().find("256 characters"), std::string::npos);
}

TEST(TopicName, the_topics_of_a_service_have_its_name_and_no_other_topic_has_such_a_name) {
  for (const std::string good : {"sum", "/arm/left/move", "A_1"}) {
    EXPECT_EQ(complaint_about_topic_name(wire::request_topic(good)), std::nullopt) << good;
    EXPECT_EQ(complaint_about_topic_name(wire::response_topic(good)), std::nullopt) << good;
  }
  EXPECT_NE(complaint_about_topic_name("@request").value().find("character '@' is in it"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("sum@requests").value().find("character '@' is in it"), std::string::npos);
  EXPECT_EQ(complaint_about_topic_name("a b@response"),
            "service name 'a b' is not allowed: character ' ' is in it. A service name is words of letters, digits and '_' with a single "
            "'/' between them, as in 'arm/move', at most 246 characters.");
  EXPECT_NE(complaint_about_topic_name("sum@request@response").value().find("character '@' is in it"), std::string::npos);
  EXPECT_NE(complaint_about_topic_name("/@request").value().find("it is empty"), std::string::npos);
  EXPECT_EQ(complaint_about_topic_name(wire::response_topic(std::string(246, 's'))), std::nullopt);
  for (const std::string& topic : {wire::request_topic(std::string(247, 's')), wire::response_topic(std::string(247, 's'))})
    EXPECT_NE(complaint_about_topic_name(topic).value().find("247 characters"), std::string::npos) << topic;
}

TEST(TopicName, a_leading_slash_means_nothing) {
  EXPECT_EQ(wire::canonical_topic_name("/camera/image"), "camera/image");
  EXPECT_EQ(wire::canonical_topic_name("camera/image"), "camera/image");
}

}  // namespace
}  // namespace sinew::manager
