#include <gtest/gtest.h>

#include <string>

#include "msg/signature.hpp"
#include "msg/walk.hpp"
#include "sinew/msg/fingerprint.hpp"

namespace sinew::msg::testing {
namespace {

std::string difference(const std::string& carried, const std::string& asked) {
  return explain_difference("camera/image", carried, asked);
}

TEST(Difference, names_the_first_field_of_another_type) {
  EXPECT_EQ(difference("robot/Image{a:uint8;step:uint32;z:uint8;}", "robot/Image{a:uint8;step:uint64;z:int8;}"),
            "topic 'camera/image' carries robot/Image{... step: uint32 ...}; you asked for robot/Image{... step: uint64 ...}: field 'step' "
            "differs");
}

TEST(Difference, names_a_nested_field_by_its_path) {
  EXPECT_EQ(difference("robot/Image{header:robot/Header{stamp:uint64;};}", "my/Image{header:robot/Header{stamp:int64;};}"),
            "topic 'camera/image' carries robot/Image{... header.stamp: uint64 ...}; you asked for my/Image{... header.stamp: int64 ...}: "
            "field 'header.stamp' differs");
}

TEST(Difference, names_a_field_of_the_elements_of_a_vector) {
  EXPECT_NE(difference("A{boxes:B{x:float32;}[];}", "A{boxes:B{x:float64;}[];}").find(": field 'boxes[].x' differs"), std::string::npos);
  EXPECT_NE(difference("A{box:B{x:float32;}?;}", "A{box:B{x:float64;}?;}").find(": field 'box.x' differs"), std::string::npos);
}

TEST(Difference, tells_lengths_optionals_and_enumerations_apart) {
  for (const char* other : {"uint8[4]", "uint8[]", "uint8?", "uint8", "int8[3]", "C(uint8)[3]", "B{}[3]"}) {
    EXPECT_NE(difference("A{x:uint8[3];}", std::string("A{x:") + other + ";}").find("A{... x: " + std::string(other).substr(0, 1)),
              std::string::npos);
  }
}

TEST(Difference, says_which_side_lacks_a_field) {
  EXPECT_EQ(difference("robot/Image{a:uint8;step:uint32;}", "robot/Image{a:uint8;}"),
            "topic 'camera/image' carries robot/Image{... step: uint32 ...}; you asked for robot/Image: field 'step' is missing in what "
            "you asked for");
  EXPECT_EQ(difference("robot/Image{b:uint8;}", "robot/Image{a:string[];b:uint8;}"),
            "topic 'camera/image' carries robot/Image; you asked for robot/Image{... a: string[] ...}: field 'a' is missing in what the "
            "topic carries");
}

TEST(Difference, tells_a_renamed_field_from_another_order) {
  EXPECT_NE(difference("A{step:uint8;z:bool;}", "A{stride:uint8;z:bool;}").find(": field 'step' has another name than 'stride'"),
            std::string::npos);
  EXPECT_NE(difference("A{x:uint8;y:uint8;}", "A{y:uint8;x:uint8;}").find(": the fields are in another order from 'x' on"),
            std::string::npos);
}

TEST(Difference, shows_both_types_when_they_are_not_both_structures) {
  EXPECT_EQ(difference("uint32", "string[]"), "topic 'camera/image' carries uint32; you asked for string[]: the types differ");
}

TEST(Difference, says_so_when_only_names_of_types_differ) {
  EXPECT_NE(difference("A{c:C(uint8);}", "B{c:D(uint8);}").find("only names of types differ"), std::string::npos);
}

TEST(Difference, any_text_gives_one_printable_line) {
  const std::string nested(100'000, '['), deep = [] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) text += "A{a:";
    return text;
  }();
  const std::string whole = "robot/Box<a{b>{x:uint8[3];c:C(int8)?;}";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("A{a:uint8}"), std::string("A{:uint8;}"), std::string("A("),
        std::string("A\n\x1b[31m"), std::string("A{a:uint8;}}"), nested, deep, whole.substr(0, whole.size() - 1)}) {
    EXPECT_FALSE(read_signature(text)) << text.substr(0, 20);
    const std::string sentence = difference(text, "A{a:uint8;}");
    EXPECT_NE(sentence.find("cannot be read"), std::string::npos);
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
    EXPECT_EQ(sentence.find('\x1b'), std::string::npos);
    EXPECT_LT(sentence.size(), 1000U);
  }
  EXPECT_TRUE(read_signature(whole));
}

TEST(Difference, reads_signatures_as_deep_as_messages_may_be_and_no_deeper) {
  const auto nested = [](std::size_t depth) {
    std::string text = "uint8";
    for (std::size_t i = 1; i < depth; ++i) text = "A{a:" + text + ";}";
    return text;
  };
  EXPECT_TRUE(read_signature(nested(max_depth)));
  EXPECT_FALSE(read_signature(nested(max_depth + 1)));
}

}  // namespace
}  // namespace sinew::msg::testing
