#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <string_view>
#include <tuple>
#include <utility>

#include "msg/std_layout.hpp"
#include "sinew/message.hpp"
#include "sinew/msg/reflect.hpp"

namespace robot {

struct Header {
  std::uint64_t stamp_ns;
  std::string frame_id;
};
struct Image {
  Header header;
  std::uint32_t height, width;
  std::string encoding;
  std::vector<std::uint8_t> data;
};
struct Pair {
  std::uint32_t first;
  std::string second;
};
namespace other {
struct Head {
  std::uint64_t stamp_ns;
  std::string frame_id;
};
struct Picture {
  Head header;
  std::uint32_t height, width;
  std::string encoding;
  std::vector<std::uint8_t> data;
};
struct Renamed {
  Head header;
  std::uint32_t height, width;
  std::string encoding;
  std::vector<std::uint8_t> bytes;
};
}  // namespace other

enum class Color : std::uint8_t { red };
enum Plain : int { plain };
struct Empty {};
template <class T>
struct Box {
  T value;
  std::optional<T> spare;
};
struct Everything {
  bool flag;
  char letter;
  signed char small;
  short s;
  long l;
  unsigned long long ull;
  float f;
  double d;
  std::byte byte;
  Color color;
  Plain plain;
  int grid[2][3];
  char name[4096];
  std::string strings[2];
  std::vector<bool> bits;
  std::array<Header, 3> headers;
  std::optional<Header> maybe;
  std::vector<std::vector<std::string>> table;
  Box<std::string> box;
  Empty empty;
  const int constant = 3;
  int with_initialiser = 4;
};
struct Layout {
  char a;
  alignas(64) char b;
  char c[3];
  [[no_unique_address]] Empty empty;
  double d;
};
#pragma pack(push, 4)
struct Tight {
  int a;
  char b;
  float c;
};
#pragma pack(pop)
struct Flat {
  float x, y;
  Color color;
  int cells[4];
};
struct Flagged {
  float x;
  bool valid;
};

class Closed {
 public:
  Closed() = default;
  explicit Closed(int number) : number_(number) {}
  SINEW_MESSAGE(Closed, number_, words_);
  int number() const { return number_; }

 private:
  int number_ = 5;
  std::vector<std::string> words_;
};
struct Generated {
  Generated() : y(1) {}
  std::string x;
  int y;
};
SINEW_MESSAGE(Generated, x, y);
struct Owner {
  Closed closed;
  std::vector<Generated> generated;
};

inline namespace v2 {
struct Versioned {
  int a;
};
}  // namespace v2
template <char>
struct Lettered {
  int a;
};
}  // namespace robot

namespace {
struct Hidden {
  int a;
};
}  // namespace

SINEW_NAME(robot::Versioned, "robot/Versioned");
SINEW_NAME(robot::Lettered<'a'>, "robot/LetteredA");
SINEW_NAME(Hidden, "robot/Hidden");

#define TEN(n) \
  int n##0;    \
  int n##1;    \
  int n##2;    \
  int n##3;    \
  int n##4;    \
  int n##5;    \
  int n##6;    \
  int n##7;    \
  int n##8;    \
  int n##9;
namespace robot {
struct Most {
  TEN(m0) TEN(m1) TEN(m2) TEN(m3) TEN(m4) TEN(m5) TEN(m6) TEN(m7) TEN(m8) TEN(m9) TEN(ma) TEN(mb) int y0, y1, y2, y3, y4, y5, y6, last;
};
// Long names that begin alike: they are compared when it is compiled.
class MostListed {
 public:
  SINEW_MESSAGE(MostListed, motor_temperature_0, motor_temperature_1, motor_temperature_2, motor_temperature_3, motor_temperature_4,
                motor_temperature_5, motor_temperature_6, motor_temperature_7, motor_temperature_8, motor_temperature_9,
                motor_temperature_10, motor_temperature_11, motor_temperature_12, motor_temperature_13, motor_temperature_14,
                motor_temperature_15, motor_temperature_16, motor_temperature_17, motor_temperature_18, motor_temperature_19,
                motor_temperature_20, motor_temperature_21, motor_temperature_22, motor_temperature_23, motor_temperature_24,
                motor_temperature_25, motor_temperature_26, motor_temperature_27, motor_temperature_28, motor_temperature_29,
                motor_temperature_30, motor_temperature_31, motor_temperature_32, motor_temperature_33, motor_temperature_34,
                motor_temperature_35, motor_temperature_36, motor_temperature_37, motor_temperature_38, motor_temperature_39,
                motor_temperature_40, motor_temperature_41, motor_temperature_42, motor_temperature_43, motor_temperature_44,
                motor_temperature_45, motor_temperature_46, motor_temperature_47, motor_temperature_48, motor_temperature_49,
                motor_temperature_50, motor_temperature_51, motor_temperature_52, motor_temperature_53, motor_temperature_54,
                motor_temperature_55, motor_temperature_56, motor_temperature_57, motor_temperature_58, motor_temperature_59,
                motor_temperature_60, motor_temperature_61, motor_temperature_62, motor_temperature_63, motor_temperature_64,
                motor_temperature_65, motor_temperature_66, motor_temperature_67, motor_temperature_68, motor_temperature_69,
                motor_temperature_70, motor_temperature_71, motor_temperature_72, motor_temperature_73, motor_temperature_74,
                motor_temperature_75, motor_temperature_76, motor_temperature_77, motor_temperature_78, motor_temperature_79,
                motor_temperature_80, motor_temperature_81, motor_temperature_82, motor_temperature_83, motor_temperature_84,
                motor_temperature_85, motor_temperature_86, motor_temperature_87, motor_temperature_88, motor_temperature_89,
                motor_temperature_90, motor_temperature_91, motor_temperature_92, motor_temperature_93, motor_temperature_94,
                motor_temperature_95, motor_temperature_96, motor_temperature_97, motor_temperature_98, motor_temperature_99,
                motor_temperature_100, motor_temperature_101, motor_temperature_102, motor_temperature_103, motor_temperature_104,
                motor_temperature_105, motor_temperature_106, motor_temperature_107, motor_temperature_108, motor_temperature_109,
                motor_temperature_110, motor_temperature_111, motor_temperature_112, motor_temperature_113, motor_temperature_114,
                motor_temperature_115, motor_temperature_116, motor_temperature_117, motor_temperature_118, motor_temperature_119,
                motor_temperature_120, motor_temperature_121, motor_temperature_122, motor_temperature_123, motor_temperature_124,
                motor_temperature_125, motor_temperature_126, motor_temperature_127);

 private:
  int motor_temperature_0, motor_temperature_1, motor_temperature_2, motor_temperature_3, motor_temperature_4, motor_temperature_5,
      motor_temperature_6, motor_temperature_7, motor_temperature_8, motor_temperature_9, motor_temperature_10, motor_temperature_11,
      motor_temperature_12, motor_temperature_13, motor_temperature_14, motor_temperature_15, motor_temperature_16, motor_temperature_17,
      motor_temperature_18, motor_temperature_19, motor_temperature_20, motor_temperature_21, motor_temperature_22, motor_temperature_23,
      motor_temperature_24, motor_temperature_25, motor_temperature_26, motor_temperature_27, motor_temperature_28, motor_temperature_29,
      motor_temperature_30, motor_temperature_31, motor_temperature_32, motor_temperature_33, motor_temperature_34, motor_temperature_35,
      motor_temperature_36, motor_temperature_37, motor_temperature_38, motor_temperature_39, motor_temperature_40, motor_temperature_41,
      motor_temperature_42, motor_temperature_43, motor_temperature_44, motor_temperature_45, motor_temperature_46, motor_temperature_47,
      motor_temperature_48, motor_temperature_49, motor_temperature_50, motor_temperature_51, motor_temperature_52, motor_temperature_53,
      motor_temperature_54, motor_temperature_55, motor_temperature_56, motor_temperature_57, motor_temperature_58, motor_temperature_59,
      motor_temperature_60, motor_temperature_61, motor_temperature_62, motor_temperature_63, motor_temperature_64, motor_temperature_65,
      motor_temperature_66, motor_temperature_67, motor_temperature_68, motor_temperature_69, motor_temperature_70, motor_temperature_71,
      motor_temperature_72, motor_temperature_73, motor_temperature_74, motor_temperature_75, motor_temperature_76, motor_temperature_77,
      motor_temperature_78, motor_temperature_79, motor_temperature_80, motor_temperature_81, motor_temperature_82, motor_temperature_83,
      motor_temperature_84, motor_temperature_85, motor_temperature_86, motor_temperature_87, motor_temperature_88, motor_temperature_89,
      motor_temperature_90, motor_temperature_91, motor_temperature_92, motor_temperature_93, motor_temperature_94, motor_temperature_95,
      motor_temperature_96, motor_temperature_97, motor_temperature_98, motor_temperature_99, motor_temperature_100, motor_temperature_101,
      motor_temperature_102, motor_temperature_103, motor_temperature_104, motor_temperature_105, motor_temperature_106,
      motor_temperature_107, motor_temperature_108, motor_temperature_109, motor_temperature_110, motor_temperature_111,
      motor_temperature_112, motor_temperature_113, motor_temperature_114, motor_temperature_115, motor_temperature_116,
      motor_temperature_117, motor_temperature_118, motor_temperature_119, motor_temperature_120, motor_temperature_121,
      motor_temperature_122, motor_temperature_123, motor_temperature_124, motor_temperature_125, motor_temperature_126,
      motor_temperature_127;
};
}  // namespace robot

namespace sinew::msg::testing {
namespace {

template <class T>
std::string name() {
  return message_of<T>().name;
}
template <class T>
std::string signature() {
  return message_of<T>().signature;
}

TEST(Reflect, names_types_with_slashes_and_without_compiler_spelling) {
  EXPECT_EQ(name<robot::Image>(), "robot/Image");
  EXPECT_EQ(name<robot::Box<std::string>>(), "robot/Box<string>");
  EXPECT_EQ((name<robot::Box<robot::Box<std::vector<unsigned char>>>>()), "robot/Box<robot/Box<uint8[]>>");
}

TEST(Reflect, numbers_strings_and_vectors_are_messages_too) {
  EXPECT_EQ(name<std::uint32_t>(), "uint32");
  EXPECT_EQ(name<const std::string>(), "string");
  EXPECT_EQ(name<std::vector<float>>(), "float32[]");
  EXPECT_EQ((name<std::array<std::optional<int>, 3>>()), "int32?[3]");
  EXPECT_EQ(signature<robot::Color>(), "robot/Color(uint8)");
  EXPECT_EQ(signature<std::vector<bool>>(), "bool[]");
}

TEST(Reflect, T2_9_pairs_and_tuples_are_structures) {
  using Pair = std::pair<const std::uint32_t, std::string>;
  using Tuple = std::tuple<char, robot::Color, std::vector<Pair>>;
  EXPECT_EQ(signature<Pair>(), "pair<uint32,string>{first:uint32;second:string;}");
  EXPECT_EQ(signature<Tuple>(),
            "tuple<uint8,robot/Color,pair<uint32,string>[]>{_0:uint8;_1:robot/"
            "Color(uint8);_2:pair<uint32,string>{first:uint32;second:string;}[];}");
  EXPECT_EQ(signature<std::tuple<>>(), "tuple<>{}");
  EXPECT_EQ(name<robot::Box<Pair>>(), "robot/Box<pair<uint32,string>>");
  EXPECT_EQ(message_of<Pair>().hash, message_of<robot::Pair>().hash);
  EXPECT_EQ(message_of<Pair>().layout, message_of<robot::Pair>().layout);
  EXPECT_TRUE((message_of<std::tuple<int, std::pair<float, char>>>().type->flat));
  EXPECT_FALSE((message_of<std::tuple<int, bool>>().type->flat));
}

TEST(Reflect, offsets_in_a_tuple_are_those_of_the_library) {
  using Tuple = std::tuple<char, double, robot::Empty, short, std::array<char, 1 << 20>, std::string, std::tuple<robot::Empty>>;
  const auto object = std::make_unique<Tuple>();
  const auto fields = message_of<Tuple>().type->fields;
  const auto expect = [&](const Field& field, const void* address) { EXPECT_EQ(offset_by(object.get(), field.offset), address); };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (expect(fields[I], &std::get<I>(*object)), ...);
  }(std::make_index_sequence<std::tuple_size_v<Tuple>>{});
}

TEST(Reflect, the_signature_has_all_names_and_kinds) {
  EXPECT_EQ(signature<robot::Image>(),
            "robot/Image{header:robot/Header{stamp_ns:uint64;frame_id:string;};height:uint32;width:uint32;encoding:string;data:uint8[];}");
  EXPECT_EQ(signature<robot::Everything>(),
            "robot/Everything{flag:bool;letter:uint8;small:int8;s:int16;l:int64;ull:uint64;f:float32;d:float64;byte:std/"
            "byte(uint8);color:robot/Color(uint8);"
            "plain:robot/Plain(int32);grid:int32[3][2];name:uint8[4096];strings:string[2];bits:bool[];headers:robot/"
            "Header{stamp_ns:uint64;frame_id:string;}[3];"
            "maybe:robot/Header{stamp_ns:uint64;frame_id:string;}?;table:string[][];box:robot/"
            "Box<string>{value:string;spare:string?;};empty:robot/Empty{};"
            "constant:int32;with_initialiser:int32;}");
}

TEST(Reflect, offsets_are_those_of_the_compiler) {
  const robot::Layout object{};
  const auto fields = message_of<robot::Layout>().type->fields;
  const auto offset = [&](const auto& member) {
    return static_cast<std::uint32_t>(reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&object));
  };
  ASSERT_EQ(fields.size(), 5U);
  EXPECT_EQ(fields[0].offset, offset(object.a));
  EXPECT_EQ(fields[1].offset, offset(object.b));
  EXPECT_EQ(fields[2].offset, offset(object.c));
  EXPECT_EQ(fields[4].offset, offset(object.d));
  EXPECT_EQ(message_of<robot::Layout>().type->size, sizeof(robot::Layout));
  EXPECT_EQ(message_of<robot::Layout>().type->align, 64U);
}

TEST(Reflect, the_table_is_made_at_compile_time) {
  static_assert(message<robot::Image>.layout != 0 && message<robot::Image>.type->fields.size() == 5);
  constexpr std::string_view field = message<robot::Image>.type->fields[4].name;
  static_assert(field == "data");
}

TEST(Reflect, a_structure_has_up_to_128_members) {
  const auto fields = message_of<robot::Most>().type->fields;
  ASSERT_EQ(fields.size(), 128U);
  EXPECT_STREQ(fields[57].name, "m57");
  EXPECT_EQ(fields[127].offset, 127 * sizeof(int));
  EXPECT_STREQ(fields[127].name, "last");
}

TEST(Reflect, a_pragma_that_moves_no_member_is_none_of_its_business) {
  EXPECT_EQ(signature<robot::Tight>(), "robot/Tight{a:int32;b:uint8;c:float32;}");
  EXPECT_EQ(message_of<robot::Tight>().type->fields[2].offset, 8U);
}

TEST(Reflect, flat_means_that_any_bytes_are_a_value) {
  EXPECT_TRUE(message_of<robot::Flat>().type->flat);
  EXPECT_FALSE(message_of<robot::Flagged>().type->flat);
  EXPECT_FALSE(message_of<robot::Flagged>().type->owns);
  EXPECT_FALSE(message_of<std::optional<int>>().type->flat);
  EXPECT_TRUE(message_of<robot::Header>().type->owns);
  ASSERT_EQ(message_of<robot::Image>().type->deep.size(), 3U);
  EXPECT_STREQ(message_of<robot::Image>().type->deep[1].name, "encoding");
}

TEST(Reflect, the_hash_is_of_field_names_and_kinds_and_not_of_type_names) {
  EXPECT_EQ(message_of<robot::Image>().hash, message_of<robot::other::Picture>().hash);
  EXPECT_NE(message_of<robot::Image>().hash, message_of<robot::other::Renamed>().hash);
  EXPECT_NE(message_of<std::uint8_t>().hash, message_of<robot::Color>().hash);
}

TEST(Reflect, the_hash_is_the_same_everywhere) {
  constexpr std::array<std::uint8_t, 16> expected = {0x33, 0xef, 0x02, 0x73, 0xc9, 0x0f, 0x65, 0xbb,
                                                     0x04, 0x6d, 0x82, 0x28, 0x0a, 0x77, 0xa1, 0x02};
  EXPECT_EQ(message_of<robot::Header>().hash, expected);
}

TEST(Reflect, the_layout_hash_tells_sizes_and_offsets_apart) {
  EXPECT_EQ(message_of<robot::Image>().layout, message_of<robot::other::Picture>().layout);
  EXPECT_NE((message_of<std::array<std::uint8_t, 3>>().layout), (message_of<std::array<std::uint8_t, 4>>().layout));
  EXPECT_NE(message_of<std::vector<float>>().layout, message_of<std::vector<int>>().layout);
  EXPECT_NE(message_of<robot::Layout>().layout, message_of<robot::Flat>().layout);
}

TEST(Reflect, S16_the_layout_hash_tells_standard_libraries_apart) {
  const Type& type = *message_of<robot::Image>().type;
  LayoutHash of_sizes_only;
  of_sizes_only.put(std::uint64_t{std::endian::native == std::endian::little});
  of_sizes_only.put(std::uint64_t{sizeof(void*)});
  of_sizes_only.put(type);
  EXPECT_NE(layout_of(type), of_sizes_only.value());
}

TEST(Reflect, construct_and_destroy_make_and_end_an_object) {
  const Type& type = *message_of<robot::Everything>().type;
  alignas(robot::Everything) std::byte room[sizeof(robot::Everything)];
  std::memset(room, 0xff, sizeof room);
  type.construct(room);
  auto* object = std::launder(reinterpret_cast<robot::Everything*>(room));
  EXPECT_EQ(object->l, 0);
  EXPECT_EQ(object->with_initialiser, 4);
  object->strings[1] = "a text that is too long for the place inside a string";
  type.destroy(room);
  const Type& array = *message_of<std::string[2]>().type;
  array.construct(room);
  EXPECT_EQ(*reinterpret_cast<std::string*>(room), "");
  array.destroy(room);
}

TEST(Message, the_macro_reaches_private_members_inside_a_class) {
  EXPECT_EQ(signature<robot::Closed>(), "robot/Closed{number_:int32;words_:string[];}");
  const robot::Closed closed(9);
  const Field& field = message_of<robot::Closed>().type->fields[0];
  EXPECT_EQ(*reinterpret_cast<const int*>(reinterpret_cast<const char*>(&closed) + field.offset), closed.number());
}

TEST(Message, the_macro_takes_up_to_128_members) {
  const auto fields = message_of<robot::MostListed>().type->fields;
  ASSERT_EQ(fields.size(), 128U);
  EXPECT_STREQ(fields[127].name, "motor_temperature_127");
  EXPECT_EQ(fields[127].offset, 127 * sizeof(int));
}

TEST(Message, the_macro_describes_a_class_that_cannot_be_changed) {
  EXPECT_EQ(signature<robot::Generated>(), "robot/Generated{x:string;y:int32;}");
  EXPECT_EQ(signature<robot::Owner>(),
            "robot/Owner{closed:robot/Closed{number_:int32;words_:string[];};generated:robot/Generated{x:string;y:int32;}[];}");
}

TEST(Message, SINEW_NAME_names_what_has_no_portable_name) {
  EXPECT_EQ(name<robot::Versioned>(), "robot/Versioned");
  EXPECT_EQ(name<robot::Lettered<'a'>>(), "robot/LetteredA");
  EXPECT_EQ(signature<std::vector<Hidden>>(), "robot/Hidden{a:int32;}[]");
}

}  // namespace
}  // namespace sinew::msg::testing
