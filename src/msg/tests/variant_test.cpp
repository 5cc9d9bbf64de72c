// std::variant in messages: what describes it, where its parts lie, and one that has lost its value.
#include <gtest/gtest.h>

#include <stdexcept>
#include <variant>

#include "cdr_streams.hpp"
#include "msg/signature.hpp"
#include "sinew/message.hpp"

namespace sinew::msg::testing {

/// Throws when it is assigned from a negative number, which costs a variant its value.
class Fragile {
 public:
  SINEW_MESSAGE(Fragile, text_);
  Fragile() = default;
  explicit Fragile(int number) {
    if (number < 0) throw std::runtime_error("negative");
  }
  Fragile(const Fragile&) = default;
  Fragile& operator=(const Fragile&) = default;

 private:
  std::string text_;
};
struct alignas(64) Wide {
  char c = 0;
};
struct Odd {
  char chars[7] = {};
};
struct Scattered {
  std::vector<std::variant<std::string, Fragile>> things;
  std::uint32_t last = 0;
};

namespace {

template <class Variant>
void lose_value(Variant& variant) {
  EXPECT_THROW(variant.template emplace<Fragile>(-1), std::runtime_error);
  ASSERT_TRUE(variant.valueless_by_exception());
}

template <class T>
std::string signature_of_type() {
  return message_of<T>().signature;
}

TEST(Variant, T3_1_is_its_alternatives_in_their_order) {
  using Simple = std::variant<std::uint32_t, const std::string, std::vector<float>>;
  EXPECT_EQ(signature_of_type<Simple>(), "(uint32|string|float32[])");
  EXPECT_EQ(signature_of_type<std::vector<Simple>>(), "(uint32|string|float32[])[]");
  EXPECT_STREQ(message_of<std::optional<Simple>>().name, "(uint32|string|float32[])?");
  EXPECT_EQ((signature_of_type<std::variant<std::monostate, std::variant<bool>>>()), "(std/monostate{}|(bool))");
  EXPECT_EQ((signature_of_type<std::tuple<std::variant<int>>>()), "tuple<(int32)>{_0:(int32);}");
  EXPECT_NE((message_of<std::variant<int, float>>().hash), (message_of<std::variant<float, int>>().hash));
  EXPECT_NE((message_of<std::variant<int>>().hash), message_of<int>().hash);
  EXPECT_NE((message_of<std::variant<int, float>>().layout), (message_of<std::variant<float, int>>().layout));
}

TEST(Variant, the_table_knows_what_is_in_it) {
  EXPECT_FALSE((message_of<std::variant<int, float>>().type->flat));
  EXPECT_FALSE((message_of<std::variant<int, float>>().type->owns));
  EXPECT_TRUE((message_of<std::variant<int, std::string>>().type->owns));
  EXPECT_TRUE((message_of<std::variant<int, std::string_view>>().type->has_views));
  EXPECT_TRUE(message_of<Scattered>().type->has_variants);
  EXPECT_FALSE(message_of<Whole>().type->has_variants);
}

template <class... Types>
void expect_image() {
  using Variant = std::variant<Types...>;
  const Type& type = type_for<Variant>();
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    const auto expect = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
      Variant variant(std::in_place_index<J>);
      EXPECT_EQ(index_of(type, &variant), J);
      EXPECT_EQ(static_cast<const void*>(&std::get<J>(variant)), offset_by(&variant, variant_place(type)));
      Variant other;
      set_index(type, &other, J);
      EXPECT_EQ(other.index(), J);
      set_index(type, &other, 0);
    };
    (expect(std::integral_constant<std::size_t, I>()), ...);
  }(std::index_sequence_for<Types...>());
}

TEST(Variant, T6_7_its_image_is_that_of_the_library) {
  expect_image<char>();
  expect_image<std::monostate, char>();
  expect_image<char, double>();
  expect_image<Odd, short>();
  expect_image<Odd, int>();
  expect_image<Wide, Odd>();
  expect_image<Gaps, Odd>();
  expect_image<std::string, std::vector<int>, bool>();
  expect_image<std::variant<char, int>, std::variant<std::string, Odd>>();
  expect_image<std::pair<std::variant<char>, int>, std::optional<std::optional<char>>>();
  expect_image<Nothing, std::tuple<>, std::monostate>();
}

TEST(Variant, S16_refuses_numbers_of_no_alternative_and_looks_into_the_one_it_holds) {
  using Both = std::variant<bool, std::string>;
  Published<std::vector<Both>> published(std::vector<Both>{true, long_text});
  EXPECT_EQ(published.complaint(), "");
  std::vector<Both>& both = published.value;
  const Type& type = type_for<Both>();
  set_index(type, &both[0], 2);
  EXPECT_EQ(published.complaint(), "field '[0]': a variant without a value");
  set_index(type, &both[0], without_value);
  EXPECT_EQ(published.complaint(), "field '[0]': a variant without a value");
  set_index(type, &both[0], 0);
  reinterpret_cast<unsigned char&>(both[0]) = 2;
  EXPECT_EQ(published.complaint(), "field '[0]': a bool that is neither 0 nor 1");
  reinterpret_cast<unsigned char&>(both[0]) = 1;
  image_at<char*>(&both[1]) += 1;
  EXPECT_NE(published.complaint().find("field '[1]': a string"), std::string::npos);
  image_at<char*>(&both[1]) -= 1;
  EXPECT_EQ(published.complaint(), "");
}

TEST(Variant, S13_storage_of_the_alternative_it_holds_is_copied_in) {
  Arena arena;
  Mixed mixed;
  arena.adopt(&mixed, sizeof mixed);
  mixed.either = Part{"", {}, long_text, false};
  const Audit result = audit(type_for<Mixed>(), &mixed, arena, arena);
  EXPECT_EQ(result.first_field, "either.note");
  EXPECT_EQ(std::get<Part>(mixed.either).note, long_text);
  EXPECT_FALSE(complaint_about(type_for<Mixed>(), &mixed, arena));
}

TEST(Variant, one_without_a_value_is_found_and_not_written) {
  Scattered scattered{.things = {"one", Fragile(), long_text}};
  const Type& type = type_for<Scattered>();
  EXPECT_EQ(variant_without_value(type, &scattered), std::nullopt);
  lose_value(scattered.things[1]);
  EXPECT_EQ(variant_without_value(type, &scattered), "things[1]");
  EXPECT_FALSE(Codec(type).measure(&scattered));
  EXPECT_EQ(variant_without_value(type_for<Whole>(), nullptr), std::nullopt);
  // It can be copied and freed nevertheless.
  Arena arena;
  alignas(Scattered) std::byte room[sizeof(Scattered)];
  ASSERT_TRUE(copy_value(type, &scattered, room, arena).complete);
  EXPECT_EQ(variant_without_value(type, room), "things[1]");
  free_storage(type, room, arena);
  EXPECT_EQ(arena.block_count(), 0U);
}

TEST(Variant, C2_10_a_stream_with_another_alternative_is_refused) {
  Bytes stream = stream_of(std::variant<std::uint32_t, std::string>(7U));
  stream[4] = std::byte{2};
  EXPECT_EQ((Decoded<std::variant<std::uint32_t, std::string>>(stream).result.complaint),
            "byte 8 of the stream: a variant with an alternative that its type does not have");
}

TEST(Variant, T3_1_is_read_from_a_signature) {
  const auto type = read_signature("A{x:(uint32|B{y:(C(uint8)|string[]?);}|D<|>[])[3];}");
  ASSERT_TRUE(type);
  const SignatureType& variant = type->fields[0].type;
  EXPECT_TRUE(variant.is_variant);
  ASSERT_EQ(variant.fields.size(), 3U);
  EXPECT_EQ(variant.text(), "(uint32|B|D<|>[])[3]");
  for (const char* text : {"()", "(", "(uint8", "(uint8|", "(uint8|)", "(|uint8)", "(uint8))", "A|B", "A{x:(uint8;}", "(x:uint8)"}) {
    EXPECT_FALSE(read_signature(text)) << text;
  }
  const std::string deep = std::string(63, '(') + "uint8" + std::string(63, ')');
  EXPECT_TRUE(read_signature(deep));
  EXPECT_FALSE(read_signature("(" + deep + ")"));
}

TEST(Variant, differences_name_the_alternative) {
  const auto sentence = [](const char* carried, const char* asked) { return explain_difference("t", carried, asked); };
  EXPECT_EQ(sentence("A{x:(uint8|string);}", "A{x:(uint8|string|bool);}"),
            "topic 't' carries A{... x: (uint8|string) ...}; you asked for A{... x: (uint8|string|bool) ...}: field 'x' differs");
  EXPECT_EQ(sentence("A{x:(uint8|B{y:bool;})[];}", "A{x:(uint8|B{y:int8;})[];}"),
            "topic 't' carries A{... x[]<1>.y: bool ...}; you asked for A{... x[]<1>.y: int8 ...}: field 'x[]<1>.y' differs");
  EXPECT_NE(sentence("A{x:(uint8);}", "A{x:uint8;}").find("field 'x' differs"), std::string::npos);
  EXPECT_NE(sentence("(uint8|bool)", "(bool|uint8)").find("field '<0>' differs"), std::string::npos);
}

}  // namespace
}  // namespace sinew::msg::testing
