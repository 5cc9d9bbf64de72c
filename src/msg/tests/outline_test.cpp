// Where values end in streams, found by the signature of their type alone: there, where those who know the type find it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cdr_streams.hpp"
#include "msg/cdr/outline.hpp"
#include "random_values.hpp"

namespace sinew::msg::testing {
namespace {

using cdr::Outline;
using cdr::Source;

Outline outline_of(std::string_view signature) {
  const auto type = read_signature(signature);
  EXPECT_TRUE(type && complaint_about(*type).empty()) << signature;
  return Outline(*type);
}
template <class T>
Outline outline_for() {
  return outline_of(message_of<T>().signature);
}

/// The stream is read as far as the value goes.
struct Skipped {
  std::string complaint;
  std::uint64_t left = 0;
};
Skipped skip(const Outline& outline, std::span<const Piece> pieces) {
  Source source(pieces);
  std::array<std::byte, 4> begin{};
  source.take(begin.data(), begin.size());
  source.begin_body();
  const char* const complaint = outline.skip(source, begin[1] == std::byte{0});
  return {complaint ? complaint : "", source.left()};
}
Skipped skip(const Outline& outline, const Bytes& stream) {
  return skip(outline, std::array{Piece{stream.data(), stream.size()}});
}

Bytes zeros(std::uint64_t body) {
  Bytes stream(4 + body);
  stream[1] = std::byte{1};
  return stream;
}

template <class T>
class Outlines : public ::testing::Test {};
using All = ::testing::Types<Scalars, Image, Arrays, Options, Products, Variants, Maps, Whole, Mixed>;
TYPED_TEST_SUITE(Outlines, All);

TYPED_TEST(Outlines, the_least_value_is_zero_bytes_and_none_has_fewer) {
  const Outline outline = outline_for<TypeParam>();
  Bytes stream = zeros(outline.least());
  EXPECT_EQ(Decoded<TypeParam>(stream).result.complaint, "");
  EXPECT_EQ(skip(outline, stream).complaint, "");
  EXPECT_EQ(skip(outline, stream).left, 0U);
  stream.pop_back();
  EXPECT_NE(Decoded<TypeParam>(stream).result.complaint, "");
  EXPECT_EQ(skip(outline, stream).complaint, "it ends too early");
}

template <class T>
class OutlinesOfRandoms : public ::testing::Test {};
using Randoms = ::testing::Types<Whole, Mixed>;
TYPED_TEST_SUITE(OutlinesOfRandoms, Randoms);

TYPED_TEST(OutlinesOfRandoms, a_value_ends_where_it_ends_in_either_byte_order_wherever_it_is_cut) {
  const Outline outline = outline_for<TypeParam>();
  Random random(7);
  for (int i = 0; i < 300; ++i) {
    const TypeParam message = random_value<TypeParam>(random);
    for (const Order order : {Order::little, Order::big}) {
      const Bytes stream = by_fast_cdr(message, order);
      std::vector<Piece> pieces;
      for (std::size_t at = 0; at < stream.size();) {
        const std::size_t size = std::min(below(random, 40), stream.size() - at);
        pieces.push_back({stream.data() + at, size});
        at += size;
      }
      const Skipped skipped = skip(outline, pieces);
      ASSERT_EQ(skipped.complaint, "");
      ASSERT_EQ(skipped.left, 0U);
    }
  }
}

TYPED_TEST(OutlinesOfRandoms, a_stream_that_ends_early_is_refused_wherever_it_ends) {
  const Outline outline = outline_for<TypeParam>();
  Random random(8);
  for (int i = 0; i < 20; ++i) {
    const Bytes stream = by_fast_cdr(random_value<TypeParam>(random), Order::little);
    for (std::size_t size = 4; size < stream.size(); ++size) {
      ASSERT_NE(skip(outline, Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size))).complaint, "") << size;
    }
  }
}

TEST(Outline, elements_side_by_side_end_where_those_end_that_are_read_one_by_one) {
  for (const std::string element : {"uint8", "float64", "t/A{a:uint8;b:uint16;}", "t/B{a:uint32;b:uint8;}", "t/C{a:float64;b:uint8;}",
                                    "t/D{a:uint8;b:uint16[3];c:uint8;}", "t/E{}", "string[0]"}) {
    for (const std::string before : {"uint8", "uint16", "uint32", "uint64"}) {
      for (std::uint64_t count = 0; count < 40; ++count) {
        std::string fields = "t/X{x:" + before + ";";
        for (std::uint64_t i = 0; i < count; ++i) fields += "f" + std::to_string(i) + ":" + element + ";";
        const std::string array = "t/X{x:" + before + ";f:" + element + "[" + std::to_string(count) + "];}";
        EXPECT_EQ(outline_of(array).least(), outline_of(fields + "}").least()) << array;
      }
    }
  }
}

TEST(Outline, lengths_that_no_stream_has_cost_nothing_and_are_refused) {
  Bytes stream = zeros(4);
  std::fill(stream.begin() + 4, stream.end(), std::byte{0xff});
  for (const std::string element : {"uint8", "float64[4294967295][4294967295]", "string", "t/A{a:uint8;b:uint16;}[4294967295]"}) {
    EXPECT_NE(skip(outline_of(element + "[]"), stream).complaint, "") << element;
  }
  EXPECT_EQ(skip(outline_of("t/E{}[]"), stream).complaint, "") << "so many of nothing are none";
  EXPECT_EQ(skip(outline_of("uint8?"), stream).complaint, "it has an optional with more than one value");
  EXPECT_EQ(skip(outline_of("(uint8|string)"), stream).complaint, "it has a variant of an alternative that there is not");
  EXPECT_EQ(skip(outline_of("string"), stream).complaint, "it has a string that goes on behind its end");
  EXPECT_EQ(outline_of("string[4294967295][4294967295][4294967295]").least(), std::uint64_t{1} << 48);
}

}  // namespace
}  // namespace sinew::msg::testing
