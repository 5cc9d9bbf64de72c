#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "msg/std_layout.hpp"
#include "values.hpp"

namespace sinew::msg::testing {
namespace {

// Changes bytes of an object and puts them back, so that it can be destroyed.
template <class Image>
class Tampered {
 public:
  explicit Tampered(void* object) : image(image_at<Image>(object)), before_(image) {}
  ~Tampered() { image = before_; }
  Tampered(const Tampered&) = delete;
  Tampered& operator=(const Tampered&) = delete;

  Image& image;

 private:
  Image before_;
};

constexpr auto npos = std::string::npos;

TEST(Validate, S16_accepts_what_an_audit_made) {
  Published<Whole> published(example());
  EXPECT_EQ(published.complaint(), "");
}

TEST(Validate, S16_accepts_an_empty_message_whose_vectors_have_null_pointers) {
  Published<Whole> published(Whole{});
  EXPECT_EQ(published.complaint(), "");
}

TEST(Validate, S16_refuses_a_root_that_is_outside_or_not_aligned) {
  Arena arena;
  alignas(8) std::byte bytes[sizeof(std::uint64_t) + 8]{};
  const Type& type = *message_of<std::uint64_t>().type;
  EXPECT_NE(complaint_about(type, bytes, arena).value_or("").find("outside"), npos);
  arena.adopt(bytes, sizeof bytes);
  EXPECT_FALSE(complaint_about(type, bytes, arena));
  EXPECT_NE(complaint_about(type, bytes + 1, arena).value_or("").find("not aligned"), npos);
}

TEST(Validate, S16_refuses_a_bool_that_is_neither_0_nor_1) {
  Published<Whole> published(example());
  Tampered<unsigned char> byte(&published.value.ok);
  byte.image = 2;
  EXPECT_EQ(published.complaint(), "field 'ok': a bool that is neither 0 nor 1");
}

TEST(Validate, S16_refuses_an_optional_whose_flag_is_neither_0_nor_1) {
  Published<Whole> published(example());
  Tampered<unsigned char> byte(reinterpret_cast<std::byte*>(&published.value.extra) + sizeof(Part));
  ASSERT_EQ(byte.image, 1);
  byte.image = 3;
  EXPECT_NE(published.complaint().find("field 'extra': an optional"), npos);
}

TEST(Validate, S16_looks_into_an_optional_only_when_it_has_a_value) {
  Published<std::optional<bool>> published(std::optional<bool>{true});
  Tampered<unsigned char> byte(&published.value);
  byte.image = 9;
  EXPECT_NE(published.complaint().find("bool"), npos);
  Tampered<unsigned char> flag(reinterpret_cast<std::byte*>(&published.value) + 1);
  flag.image = 0;
  EXPECT_EQ(published.complaint(), "");
}

TEST(Validate, S16_refuses_a_string_with_storage_outside_or_larger_than_its_block) {
  Published<Whole> published(example());
  Tampered<StringImage> string(&published.value.name);
  char elsewhere[100] = {};
  char* const inside = string.image.data;
  string.image.data = elsewhere;
  EXPECT_EQ(published.complaint(), "field 'name': a string with storage outside the publisher's memory");
  string.image.data = inside;
  string.image.capacity += 1;
  EXPECT_NE(published.complaint().find("outside"), npos);
  string.image.capacity = SIZE_MAX;
  EXPECT_NE(published.complaint().find("impossible capacity"), npos);
  string.image.capacity = string.image.size - 1;
  EXPECT_NE(published.complaint().find("above its capacity"), npos);
}

TEST(Validate, S16_refuses_a_string_without_the_nul_at_its_end) {
  Published<Whole> published(example());
  Tampered<StringImage> string(&published.value.name);
  string.image.size -= 1;
  EXPECT_NE(published.complaint().find("NUL"), npos);
}

TEST(Validate, S16_a_short_string_points_to_its_own_place_and_fits_there) {
  Published<std::string> published(std::string("short"));
  Tampered<StringImage> string(&published.value);
  string.image.size = 16;
  EXPECT_EQ(published.complaint(), "the message itself: a short string that is longer than its place");
  string.image.size = 4;
  EXPECT_NE(published.complaint().find("NUL"), npos);
  string.image.size = 5;
  string.image.data += 1;  // neither its own place nor, with these characters for a capacity, storage
  EXPECT_NE(published.complaint(), "");
}

TEST(Validate, S16_refuses_a_vector_whose_pointers_are_not_in_order) {
  Published<Whole> published(example());
  Tampered<VectorImage> vector(&published.value.data);
  std::swap(vector.image.begin, vector.image.end);
  EXPECT_EQ(published.complaint(), "field 'data': a vector that ends before it begins, or behind its capacity");
  std::swap(vector.image.begin, vector.image.end);
  vector.image.end = vector.image.limit + 1;
  EXPECT_NE(published.complaint().find("behind its capacity"), npos);
  vector.image.end = vector.image.limit = reinterpret_cast<std::byte*>(UINTPTR_MAX);
  EXPECT_NE(published.complaint(), "");
}

TEST(Validate, S16_refuses_a_vector_with_storage_outside_or_larger_than_its_block) {
  Published<Whole> published(example());
  Tampered<VectorImage> vector(&published.value.data);
  std::byte elsewhere[3] = {};
  vector.image.limit += 1;
  EXPECT_NE(published.complaint().find("outside"), npos);
  vector.image = {elsewhere, elsewhere + 3, elsewhere + 3};
  EXPECT_EQ(published.complaint(), "field 'data': a vector with storage outside the publisher's memory");
  vector.image = {nullptr, nullptr, elsewhere};
  EXPECT_NE(published.complaint(), "");
  vector.image = {elsewhere, elsewhere, elsewhere};
  EXPECT_NE(published.complaint().find("no bytes"), npos);
}

TEST(Validate, S16_refuses_a_vector_whose_size_is_not_a_multiple_of_its_elements) {
  Published<std::vector<float>> published(std::vector<float>{1, 2, 3});
  Tampered<VectorImage> vector(&published.value);
  vector.image.end -= 1;
  EXPECT_NE(published.complaint().find("multiple"), npos);
  vector.image.end += 1;
  vector.image.limit -= 4;
  vector.image.end -= 5;
  EXPECT_NE(published.complaint().find("multiple"), npos);
}

TEST(Validate, S16_refuses_a_vector_whose_elements_are_not_aligned) {
  Published<std::vector<float>> published(std::vector<float>{1, 2, 3});
  Tampered<VectorImage> vector(&published.value);
  vector.image = {vector.image.begin + 2, vector.image.begin + 6, vector.image.begin + 6};
  EXPECT_NE(published.complaint().find("not aligned"), npos);
}

TEST(Validate, S16_refuses_a_vector_of_bool_with_impossible_positions) {
  Published<Whole> published(example());
  Tampered<BitVectorImage> bits(&published.value.bits);
  ASSERT_EQ(bits.image.end_bit, 6U);
  bits.image.end_bit = 64;
  EXPECT_NE(published.complaint().find("field 'bits': a vector of bool with an impossible bit position"), npos);
  bits.image.end_bit = 6;
  bits.image.begin_bit = 1;
  EXPECT_NE(published.complaint().find("impossible bit position"), npos);
  bits.image.begin_bit = 0;
  bits.image.end += 1;
  EXPECT_NE(published.complaint().find("behind its capacity"), npos);
  bits.image.limit += 1;
  EXPECT_NE(published.complaint().find("outside"), npos);
  bits.image.begin = reinterpret_cast<unsigned long*>(reinterpret_cast<std::byte*>(bits.image.begin) + 1);
  EXPECT_NE(published.complaint().find("not aligned"), npos);
}

TEST(Validate, S16_names_the_element_that_is_wrong) {
  Published<Whole> published(example());
  Tampered<StringImage> string(&published.value.parts[0].words[1]);
  string.image.data = nullptr;
  EXPECT_EQ(published.complaint(), "field 'parts[0].words[1]': a string with storage outside the publisher's memory");
}

TEST(Validate, S16_looks_into_pairs_and_tuples) {
  Published<Mixed> published(mixed_example());
  EXPECT_EQ(published.complaint(), "");
  {
    Tampered<unsigned char> flag(&std::get<0>(published.value.tuple));
    flag.image = 2;
    EXPECT_EQ(published.complaint(), "field 'tuple._0': a bool that is neither 0 nor 1");
  }
  Tampered<StringImage> string(&published.value.entries[1].first);
  string.image.data = nullptr;
  EXPECT_EQ(published.complaint(), "field 'entries[1].first': a string with storage outside the publisher's memory");
}

TEST(Validate, S16_any_value_of_an_enumeration_passes) {
  enum class Color : std::uint8_t { red };
  const Type byte = *message_of<std::uint8_t>().type;
  Type type = byte;
  type.kind = Kind::enumeration;
  type.element = &byte;
  auto color = static_cast<Color>(200);
  Arena arena;
  arena.adopt(&color, sizeof color);
  EXPECT_FALSE(complaint_about(type, &color, arena));
}

TEST(Validate, T6_10_a_message_that_refers_to_the_same_storage_again_and_again_is_refused) {
  using Inner = std::vector<std::string>;
  std::vector<Inner> inners(1000);
  inners.front().resize(1000);
  Published<std::vector<Inner>> published(std::move(inners));
  EXPECT_EQ(published.complaint(), "");
  std::deque<Tampered<VectorImage>> tampered;
  for (Inner& inner : published.value) tampered.emplace_back(&inner).image = image_at<VectorImage>(&published.value.front());
  EXPECT_NE(published.complaint().find("willing to check"), npos);
}

TEST(Validate, T6_10_a_container_costs_one_and_so_do_64_bytes_of_containers_in_it_and_16_bytes_of_memory_pay_one) {
  Published<std::vector<std::string>> published(std::vector<std::string>(10));
  constexpr std::uint64_t work = 1 + 10 * sizeof(std::string) / 64 + 10;
  published.arena.adopt(nullptr, 16 * work - published.arena.bytes());
  EXPECT_EQ(published.complaint(), "");
  published.arena.adopt(nullptr, 0);
  published.arena.adopt(nullptr, 16 * work - 1 - published.arena.bytes());
  EXPECT_EQ(published.complaint(), "field '[9]': more containers than a reader is willing to check");
}

TEST(Validate, T6_10_a_message_without_overlaps_is_never_more_than_a_reader_is_willing_to_check) {
  Published<std::vector<std::string>> empty({});
  EXPECT_EQ(empty.complaint(), "");
  Published<std::vector<std::vector<std::string>>> nested(std::vector<std::vector<std::string>>(100, std::vector<std::string>(1)));
  EXPECT_EQ(nested.complaint(), "");
  std::vector<std::string> many(2'700'000);
  Arena arena;
  arena.adopt(&many, sizeof many);
  arena.adopt(many.data(), many.size() * sizeof(std::string));
  EXPECT_EQ(complaint_about(*message_of<std::vector<std::string>>().type, &many, arena), std::nullopt);
}

}  // namespace
}  // namespace sinew::msg::testing
