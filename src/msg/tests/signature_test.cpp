#include "msg/signature.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "msg/tests/values.hpp"
#include "sinew/message.hpp"
#include "sinew/msg/reflect.hpp"

namespace robot {

enum class Color : std::uint8_t { red };

struct Wide {
  Color color{};
  std::array<std::array<float, 3>, 2> matrix{};
  std::optional<std::vector<std::string>> names;
  std::variant<std::monostate, std::uint32_t, sinew::msg::testing::Part> one_of;
  std::pair<bool, std::tuple<double, char>> both;
  std::map<std::string, sinew::msg::testing::Part> by_name;
  std::vector<bool> bits;
};

struct Stamped {
  std::uint64_t stamp = 0;
};
class Derived : public Stamped {
 public:
  SINEW_MESSAGE(Derived, Stamped::stamp, number_);

 private:
  int number_ = 0;
};

}  // namespace robot

namespace sinew::msg::testing {
namespace {

template <class T>
void expect_same_hash() {
  const auto type = read_signature(message_of<T>().signature);
  ASSERT_TRUE(type) << message_of<T>().signature;
  EXPECT_EQ(complaint_about(*type), "") << message_of<T>().signature;
  EXPECT_EQ(hash_of(*type), message_of<T>().hash) << message_of<T>().signature;
  EXPECT_EQ(type->name(), message_of<T>().name);
}

TEST(Signature, says_all_that_the_hash_is_made_of) {
  expect_same_hash<robot::Wide>();
  expect_same_hash<Part>();
  expect_same_hash<Whole>();
  expect_same_hash<Mixed>();
  expect_same_hash<std::uint8_t>();
  expect_same_hash<std::vector<std::optional<Part>>>();
  expect_same_hash<std::variant<std::string, robot::Color>>();
}

TEST(Signature, names_listed_members_of_bases_as_the_bases_do) {
  EXPECT_STREQ(message_of<robot::Derived>().signature, "robot/Derived{stamp:uint64;number_:int32;}");
  expect_same_hash<robot::Derived>();
}

std::string complaint(const std::string& signature) {
  const auto type = read_signature(signature);
  return type ? complaint_about(*type) : "it is no signature";
}

TEST(Signature, of_what_no_message_can_have_is_complained_about) {
  EXPECT_EQ(complaint("A{width:uint33;}"), "field 'width' has the unknown type 'uint33'");
  EXPECT_EQ(complaint("A{box:B{size:C(string);};}"), "field 'size' has an enumeration of 'string', which is no integer");
  EXPECT_EQ(complaint("A{x:C(float32);}"), "field 'x' has an enumeration of 'float32', which is no integer");
  EXPECT_EQ(complaint("A{x:C(bool);}"), "field 'x' has an enumeration of 'bool', which is no integer");
  EXPECT_EQ(complaint("A{x:uint8;y:uint8;x:uint8;}"), "it has two fields named 'x'");
  EXPECT_EQ(complaint("A{a b:uint8;}"), "it has a field whose name is no identifier: 'a b'");
  EXPECT_EQ(complaint("A{1:uint8;}"), "it has a field whose name is no identifier: '1'");
  EXPECT_EQ(complaint("A{x:uint8[99999999999];}"), "field 'x' has an array whose length is none: '[99999999999]'");
  EXPECT_EQ(complaint("A{x:uint8[03];}"), "field 'x' has an array whose length is none: '[03]'");
  EXPECT_EQ(complaint("A{x:(uint8|B{y:nothing;});}"), "field 'y' has the unknown type 'nothing'");
  EXPECT_EQ(complaint("(uint8|nothing)"), "an alternative has the unknown type 'nothing'");
  EXPECT_EQ(complaint("image"), "it has the unknown type 'image'");
  EXPECT_EQ(complaint("A{x:B\x1b[{};}"), "it is no signature");
  EXPECT_EQ(complaint("A{x:B\x1b{};}"), "field 'x' has a type whose name is none");
  EXPECT_EQ(complaint("A{x:B\n(uint8);}"), "field 'x' has a type whose name is none");
  EXPECT_EQ(complaint("A b{}"), "it has a type whose name is none");
  EXPECT_EQ(complaint("{x:bool;}"), "it has a type whose name is none");
  EXPECT_EQ(complaint("A<unsigned long>{}"), "");
}

TEST(Signature, of_as_many_fields_and_as_deep_as_a_message_may_have_is_one) {
  const auto with_fields = [](int count) {
    std::string text = "A{";
    for (int i = 0; i < count; ++i) text += "f" + std::to_string(i) + ":bool;";
    return text + "}";
  };
  EXPECT_EQ(complaint(with_fields(128)), "");
  EXPECT_EQ(complaint(with_fields(129)), "it has a structure of more than 128 fields");
  const auto nested = [](int depth) {
    std::string text = "uint8";
    for (int i = 1; i < depth; ++i) text += "[]";
    return text;
  };
  EXPECT_EQ(complaint(nested(64)), "");
  EXPECT_EQ(complaint(nested(65)), "it has a type that is nested more than 64 deep");
}

}  // namespace
}  // namespace sinew::msg::testing
