// Streams: beside Fast CDR and the vectors of spec/vectors/cdr, in pieces, cut short, and damaged.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <thread>

#include "base/tests/flips.hpp"
#include "cdr_streams.hpp"
#include "random_values.hpp"

namespace sinew::msg::testing {
namespace {

// --- the vectors -----------------------------------------------------------------------------------------------------------------------

template <class T>
class Vectors : public ::testing::Test {};
struct Names {
  template <class T>
  static std::string GetName(int) {
    const std::string name = message_of<T>().name;
    return name.substr(name.rfind('/') + 1);
  }
};
using OfTheSpecification = ::testing::Types<Scalars, Image, Arrays, Options, Products, Variants, Maps>;
TYPED_TEST_SUITE(Vectors, OfTheSpecification, Names);

TYPED_TEST(Vectors, AreWhatSinewAndFastCdrWriteAndSinewReads) {
  const TypeParam message;
  const std::string name = Names::GetName<TypeParam>(0);
  for (const Order order : {Order::little, Order::big}) {
    SCOPED_TRACE(order == Order::little ? "little" : "big");
    const Bytes expected = vector_in(name, order == Order::little ? "little" : "big");
    EXPECT_EQ(hex(by_fast_cdr(message, order)), hex(expected));
    if (order == Order::little) {
      EXPECT_EQ(hex(stream_of(message)), hex(expected));
    }
    Decoded<TypeParam> decoded(expected);
    EXPECT_EQ(decoded.result.complaint, "");
    if (!decoded.result.complaint.empty()) continue;
    EXPECT_EQ(hex(stream_of(decoded.value())), hex(stream_of(message)));
  }
}

TEST(Cdr, an_empty_sequence_brings_no_padding_also_for_fast_cdr) {
  char memory[64] = {};
  eprosima::fastcdr::FastBuffer buffer(memory, sizeof memory);
  eprosima::fastcdr::Cdr fast(buffer);
  fast << std::uint8_t{1} << std::vector<double>{} << std::uint8_t{2};
  const Bytes ours = stream_of(AroundNone{});
  ASSERT_EQ(ours.size(), 4 + fast.getSerializedDataLength());
  EXPECT_EQ(std::memcmp(ours.data() + 4, fast.getBufferPointer(), ours.size() - 4), 0);
}

template <class T>
class CdrOf : public ::testing::Test {};
using Randoms = ::testing::Types<Whole, Mixed>;
TYPED_TEST_SUITE(CdrOf, Randoms, Names);

TYPED_TEST(CdrOf, random_messages_are_written_as_fast_cdr_writes_them_and_read_back_equal) {
  Random random(5);
  for (int i = 0; i < 500; ++i) {
    const TypeParam message = random_value<TypeParam>(random);
    for (const Order order : {Order::little, Order::big}) {
      const Bytes stream = by_fast_cdr(message, order);
      if (order == Order::little) {
        ASSERT_EQ(stream_of(message), stream);
      }
      Decoded<TypeParam> decoded(stream);
      ASSERT_EQ(decoded.result.complaint, "");
      ASSERT_EQ(decoded.value(), message);
    }
  }
}

TEST(Cdr, padding_is_zero_whatever_lies_between_the_members) {
  alignas(Gaps) std::byte room[sizeof(Gaps)];
  std::memset(room, 0xee, sizeof room);
  auto& gaps = *reinterpret_cast<Gaps*>(room);
  gaps.a = 1, gaps.b = 2, gaps.c = 3;
  EXPECT_EQ(stream_of(gaps), stream_of(Gaps{1, 2, 3}));
}

// --- pieces ----------------------------------------------------------------------------------------------------------------------------

TEST(Cdr, big_arrays_and_strings_are_referred_to_where_they_lie_and_the_pieces_are_the_stream) {
  Cloud cloud{.header = {}, .points = std::vector<Point>(1000, Point{1, 2, 3}), .remark = std::string(5000, 'r')};
  const Written written = in_pieces(cloud);
  ASSERT_EQ(written.pieces.size(), 5U);
  EXPECT_EQ(written.pieces[1].data(), reinterpret_cast<const std::byte*>(cloud.points.data()));
  EXPECT_EQ(written.pieces[1].size(), 1000 * sizeof(Point));
  EXPECT_EQ(written.pieces[3].data(), reinterpret_cast<const std::byte*>(cloud.remark.data()));
  EXPECT_LT(written.control.size(), 100U);
  EXPECT_EQ(written.joined(), stream_of(cloud));
  Decoded<Cloud> decoded(written.pieces);
  ASSERT_EQ(decoded.result.complaint, "");
  EXPECT_EQ(decoded.value().remark, cloud.remark);
}

TEST(Cdr, a_member_array_of_a_page_is_referred_to_inside_the_object) {
  const auto grid = std::make_unique<Grid>();
  const Written written = in_pieces(*grid);
  ASSERT_EQ(written.pieces.size(), 2U);
  EXPECT_EQ(written.pieces[1].data(), reinterpret_cast<const std::byte*>(&grid->cells));
  EXPECT_EQ(written.joined(), stream_of(*grid));
}

TEST(Cdr, the_pieces_of_random_messages_are_their_streams_and_are_read_wherever_they_are_cut) {
  Random random(6);
  for (int i = 0; i < 300; ++i) {
    Whole message = random_whole(random);
    message.data.resize(below(random, 3) * 4096);
    message.name.resize(below(random, 2) * 6000, 'n');
    ASSERT_EQ(in_pieces(message).joined(), stream_of(message));
    const Bytes stream = stream_of(message);
    std::vector<Piece> pieces;
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t size = std::min(below(random, 40), stream.size() - at);
      pieces.push_back({stream.data() + at, size});
      at += size;
    }
    Decoded<Whole> decoded(pieces);
    ASSERT_EQ(decoded.result.complaint, "");
    ASSERT_EQ(decoded.value(), message);
  }
}

// --- strangers ---------------------------------------------------------------------------------------------------------------------------

TYPED_TEST(CdrOf, a_stream_that_ends_early_is_refused_wherever_it_ends_and_nothing_is_left) {
  const Bytes stream = stream_of(sample<TypeParam>());
  for (std::size_t size = 0; size < stream.size(); ++size) {
    Decoded<TypeParam> decoded(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_NE(decoded.result.complaint, "") << size;
    ASSERT_EQ(decoded.arena.block_count(), 0U) << size;
  }
}

TEST(Cdr, up_to_three_bytes_of_padding_at_the_end_are_accepted_and_no_more) {
  Bytes stream = stream_of(Image{});
  for (int i = 0; i < 3; ++i) {
    stream.push_back({});
    EXPECT_EQ(Decoded<Image>(stream).result.complaint, "");
  }
  stream.push_back({});
  EXPECT_NE(Decoded<Image>(stream).result.complaint.find("goes on behind the end of the message"), std::string::npos);
}

TEST(Cdr, other_encapsulations_are_refused_by_their_number) {
  Bytes stream = stream_of(Image{});
  stream[1] = std::byte{7};
  EXPECT_EQ(Decoded<Image>(stream).result.complaint, "the stream is not plain CDR: its encapsulation is 7, and 0 and 1 are understood");
  stream[1] = std::byte{1};
  stream[3] = std::byte{3};
  EXPECT_EQ(Decoded<Image>(stream).result.complaint, "the encapsulation of the stream has options, and those of sinew have none");
}

// In the other byte order this message has sequences and texts that go on behind its end.
TEST(Cdr, one_and_two_flipped_bits_of_an_encapsulation_are_a_complaint) {
  for (const Order order : {Order::little, Order::big}) {
    Bytes stream = by_fast_cdr(Image{}, order);
    with_one_and_two_flipped_bits({std::span(stream).first(4)}, [&]() -> const char* {
      const Decoded<Image> decoded(stream, usual_budget<Image>(stream.size()));
      return decoded.result.complaint.empty() ? "a message is read" : nullptr;
    });
  }
}

TEST(Cdr, a_complaint_says_what_is_wrong_and_where) {
  Bytes stream = stream_of(std::vector<double>(3));
  stream[4] = std::byte{4};
  EXPECT_EQ(Decoded<std::vector<double>>(stream).result.complaint,
            "byte 8 of the stream: a sequence that goes on behind the end of the stream");
}

TEST(Cdr, C2_9_vectors_of_2_to_the_32_elements_have_no_stream_and_strings_of_a_byte_less) {
  constexpr std::uint64_t limit = std::uint64_t{1} << 32;
  std::vector<std::uint8_t> vector;  // measuring looks at no element
  auto& elements = image_at<VectorImage>(&vector);
  const VectorImage nothing = elements;
  auto* const begin = reinterpret_cast<std::byte*>(limit);
  elements = {begin, begin + limit - 1, begin + limit};
  EXPECT_EQ(Codec(type_for<decltype(vector)>()).measure(&vector)->stream, 8 + limit - 1);
  elements.end = elements.limit;
  EXPECT_FALSE(Codec(type_for<decltype(vector)>()).measure(&vector));
  elements = nothing;
  std::string text;
  auto& characters = image_at<StringImage>(&text);
  characters.size = limit - 2;
  EXPECT_EQ(Codec(type_for<std::string>()).measure(&text)->stream, 8 + limit - 1);
  characters.size = limit - 1;
  EXPECT_FALSE(Codec(type_for<std::string>()).measure(&text));
  characters.size = 0;
}

TEST(Cdr, a_short_stream_cannot_make_a_reader_allocate_much) {
  const std::uint32_t many = UINT32_MAX;
  Bytes stream(8);
  stream[1] = std::byte{1};
  std::memcpy(stream.data() + 4, &many, 4);
  Decoded<std::vector<Nothing>> nothings(stream, usual_budget<std::vector<Nothing>>(stream.size()));
  EXPECT_NE(nothings.result.complaint.find("more elements than a reader is willing to make"), std::string::npos);
  using Counts = std::vector<std::uint32_t>;
  EXPECT_EQ(usual_budget<Counts>(1000), (1U << 20) + 16 * 1000);
  EXPECT_EQ(usual_budget<std::vector<Big>>(1000), (1U << 20) + sizeof(Big) / 4 * 1000);
  EXPECT_EQ(usual_budget<std::vector<Big>>(SIZE_MAX), UINT64_MAX);
}

/// Reads what most of these values write, and no more is allowed than a stream of that size may take.
template <class T>
void expect_that_many_are_read(const T& one) {
  const std::vector<T> many(100'000, one);
  const Bytes stream = stream_of(many);
  Decoded<std::vector<T>> decoded(stream, usual_budget<std::vector<T>>(stream.size()));
  ASSERT_EQ(decoded.result.complaint, "");
  EXPECT_EQ(decoded.value().size(), many.size());
}

TEST(Cdr, C4_2_honest_values_are_read_however_much_more_they_take_in_memory_than_in_the_stream) {
  expect_that_many_are_read(std::optional<std::array<double, 36>>());
  expect_that_many_are_read(std::variant<std::monostate, std::array<double, 64>>());
  expect_that_many_are_read(Cell{1});
  expect_that_many_are_read(std::vector<Cell>(1));
  expect_that_many_are_read(std::vector<bool>(1));
  expect_that_many_are_read(std::string(longest_inside + 1, 'x'));
}

TEST(Cdr, C4_2_elements_that_take_nothing_in_the_stream_may_take_a_mebibyte_in_memory) {
  constexpr std::size_t fit = (1 << 20) + 16 * 8;
  const Bytes stream = stream_of(std::vector<Nothing>(fit));
  EXPECT_EQ(Decoded<std::vector<Nothing>>(stream, usual_budget<std::vector<Nothing>>(stream.size())).result.complaint, "");
  const Bytes more = stream_of(std::vector<Nothing>(fit + 1));
  EXPECT_NE(Decoded<std::vector<Nothing>>(more, usual_budget<std::vector<Nothing>>(more.size())).result.complaint, "");
}

TYPED_TEST(CdrOf, refused_memory_is_a_complaint_and_leaves_nothing) {
  const Bytes stream = stream_of(sample<TypeParam>());
  const std::array pieces{Piece{stream.data(), stream.size()}};
  const Reader reader(type_for<TypeParam>());
  for (std::size_t allowed = 0;; ++allowed) {
    ASSERT_LT(allowed, 100U);
    Arena arena;
    arena.allowed = allowed;
    alignas(TypeParam) std::byte room[sizeof(TypeParam)];
    if (reader.read(pieces, room, arena, 1 << 20).complaint.empty()) {
      std::destroy_at(std::launder(reinterpret_cast<TypeParam*>(room)));
      break;
    }
    ASSERT_EQ(arena.block_count(), 0U);
  }
}

TYPED_TEST(CdrOf, whatever_a_damaged_stream_is_read_as_is_a_valid_message) {
  Random random(7);
  int read = 0, refused = 0;
  const Bytes original = stream_of(sample<TypeParam>());
  for (int i = 0; i < 20'000; ++i) {
    Bytes stream = original;
    for (std::size_t damage = 0; damage <= below(random, 3); ++damage) {
      const std::size_t at = 4 + below(random, stream.size() - 4);
      stream[at] = below(random, 2) == 0 ? static_cast<std::byte>(random()) : stream[at] ^ static_cast<std::byte>(1U << below(random, 8));
    }
    Decoded<TypeParam> decoded(stream, usual_budget<TypeParam>(stream.size()));
    if (decoded.result.complaint.empty()) {
      ++read;
      decoded.arena.adopt(&decoded.value(), sizeof(TypeParam));
      ASSERT_EQ(complaint_about(type_for<TypeParam>(), &decoded.value(), decoded.arena), std::nullopt);
    } else {
      ++refused;
      ASSERT_EQ(decoded.arena.block_count(), 0U);
    }
  }
  EXPECT_GT(read, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Cdr, a_stream_that_changes_while_it_is_read_brings_about_nothing_but_other_values) {
  if (finds_races) GTEST_SKIP() << "the race is the test";
  const Bytes original = stream_of(example());
  Bytes stream = original;
  std::atomic<bool> done{false};
  std::thread attacker([&] {
    Random random(8);
    while (!done.load(std::memory_order_relaxed)) {
      const std::size_t at = 4 + below(random, stream.size() - 4);
      std::atomic_ref(reinterpret_cast<unsigned char&>(stream[at])).store(static_cast<unsigned char>(random()), std::memory_order_relaxed);
      std::atomic_ref(reinterpret_cast<unsigned char&>(stream[at]))
          .store(static_cast<unsigned char>(original[at]), std::memory_order_relaxed);
    }
  });
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    Decoded<Whole> decoded(stream, usual_budget<Whole>(stream.size()));
    if (!decoded.result.complaint.empty()) continue;
    ++read;
    decoded.arena.adopt(&decoded.value(), sizeof(Whole));
    ASSERT_EQ(complaint_about(type_for<Whole>(), &decoded.value(), decoded.arena), std::nullopt);
  }
  done = true;
  attacker.join();
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace sinew::msg::testing
