// Types with views: what std::span and std::string_view are to other ends, and what a reader lets them refer to.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>

#include "cdr_streams.hpp"
#include "random_values.hpp"

namespace sinew::msg::testing {

// The same message twice: as it is published, and as it may be subscribed to.
struct Item {
  std::string label;
  std::vector<std::uint16_t> shape;
};
struct Scene {
  std::string name;
  std::vector<Point> points;
  std::vector<bool> seen;
  std::vector<Flagged> flagged;
  std::vector<Gaps> gaps;
  std::vector<Color> colors;
  std::vector<Item> items;
  std::optional<std::string> remark;
  std::array<std::vector<float>, 2> curves;
  std::string owned;
  std::uint8_t last = 9;
};
namespace viewed {
struct Item {
  std::string_view label;
  std::span<const std::uint16_t> shape;
};
struct Scene {
  std::string_view name;
  std::span<const Point> points;
  std::span<const bool> seen;
  std::span<const Flagged> flagged;
  std::span<const Gaps> gaps;
  std::span<const Color> colors;
  std::vector<Item> items;
  std::optional<std::string_view> remark;
  std::array<std::span<const float>, 2> curves;
  std::string owned;
  std::uint8_t last = 0;
};
}  // namespace viewed

namespace {

/// A value with views, and the memory that they have when the stream does not serve.
template <class T>
class Viewed {
 public:
  Viewed(std::span<const Piece> pieces, bool in_place, std::uint64_t budget = std::uint64_t{1} << 30) {
    result = Reader(type_for<T>()).read(pieces, &room_, arena, budget, {views, in_place});
  }
  ~Viewed() {
    if (result.complaint.empty()) std::destroy_at(&value());
    views.free_all();
  }
  Viewed(const Viewed&) = delete;
  Viewed& operator=(const Viewed&) = delete;
  T& value() { return *std::launder(reinterpret_cast<T*>(&room_)); }

  Arena arena, views;
  cdr::Read result;

 private:
  alignas(T) std::byte room_[sizeof(T)];
};

Scene scene() {
  Scene scene{.name = long_text,
              .points = std::vector<Point>(1000, Point{1, 2, 3}),
              .seen = {true, false, true},
              .flagged = {{true, 1}, {false, 2}},
              .gaps = {{1, 2.5, 3}},
              .colors = {Color::green, Color::red},
              .items = {{"one", {1, 2, 3}}, {"", {}}, {long_text, {7}}},
              .remark = "remark",
              .curves = {},
              .owned = long_text};
  scene.curves[1] = {0.5F, 1.5F};
  return scene;
}

void expect_equal(const viewed::Scene& a, const Scene& b) {
  const auto same = [](auto& x, auto& y) {
    return std::ranges::equal(x, y, [](const auto& l, const auto& r) {
      if constexpr (requires { l == r; }) {
        return l == r;
      } else {
        return stream_of(l) == stream_of(r);
      }
    });
  };
  EXPECT_EQ(a.name, b.name);
  EXPECT_TRUE(same(a.points, b.points));
  EXPECT_TRUE(same(a.seen, b.seen));
  EXPECT_TRUE(same(a.flagged, b.flagged));
  EXPECT_TRUE(same(a.gaps, b.gaps));
  EXPECT_TRUE(same(a.colors, b.colors));
  ASSERT_EQ(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < a.items.size(); ++i) {
    EXPECT_EQ(a.items[i].label, b.items[i].label);
    EXPECT_TRUE(same(a.items[i].shape, b.items[i].shape));
  }
  EXPECT_EQ(a.remark, b.remark);
  EXPECT_TRUE(same(a.curves[0], b.curves[0]) && same(a.curves[1], b.curves[1]));
  EXPECT_EQ(a.owned, b.owned);
  EXPECT_EQ(a.last, b.last);
}

bool lies_in(std::span<const Piece> pieces, const void* address) {
  return std::ranges::any_of(pieces, [&](const Piece& piece) {
    return !std::less<>()(address, static_cast<const void*>(piece.data())) &&
           std::less<>()(address, static_cast<const void*>(piece.data() + piece.size()));
  });
}

TEST(Views, T1_15_are_to_other_ends_what_they_are_views_of_but_never_read_in_place) {
  const Message& own = message_of<Scene>();
  const Message& viewed = message_of<viewed::Scene>();
  EXPECT_EQ(own.hash, viewed.hash);
  EXPECT_NE(own.layout, viewed.layout);
  EXPECT_NE(std::string_view(message_of<viewed::Item>().signature).find("Item{label:string;shape:uint16[];}"), std::string_view::npos);
  EXPECT_STREQ(message_of<std::span<const float>>().name, "float32[]");
  EXPECT_NE(message_of<std::span<const float>>().layout, message_of<std::vector<float>>().layout);
  EXPECT_NE(message_of<std::string_view>().layout, message_of<std::string>().layout);
  EXPECT_TRUE(viewed.type->has_views);
  EXPECT_TRUE(viewed.type->owns);
  EXPECT_FALSE(own.type->has_views);
  EXPECT_FALSE(message_of<std::string_view>().type->flat);
  EXPECT_FALSE(message_of<std::optional<std::string_view>>().type->owns);
}

TEST(Views, images_are_those_of_the_library) {
  const int numbers[3] = {1, 2, 3};
  std::span<const int> span;
  image_at<ViewImage>(&span) = {reinterpret_cast<const std::byte*>(numbers), 3};
  EXPECT_EQ(span.data(), numbers);
  EXPECT_EQ(span.size(), 3U);
  alignas(std::string_view) std::byte room[sizeof(std::string_view)]{};
  EXPECT_TRUE(reinterpret_cast<std::string_view*>(room)->empty());
}

TEST(Views, C4_4_refer_to_the_pieces_where_elements_lie_aligned_and_in_one) {
  const Scene source = scene();
  const Written written = in_pieces(source);
  Viewed<viewed::Scene> read(written.pieces, true);
  ASSERT_EQ(read.result.complaint, "");
  expect_equal(read.value(), source);
  EXPECT_EQ(static_cast<const void*>(read.value().points.data()), source.points.data());
  EXPECT_TRUE(lies_in(written.pieces, read.value().name.data()));
  EXPECT_TRUE(lies_in(written.pieces, read.value().items[2].label.data()));
  EXPECT_FALSE(lies_in(written.pieces, read.value().seen.data()));
  EXPECT_FALSE(lies_in(written.pieces, read.value().flagged.data()));
  EXPECT_FALSE(lies_in(written.pieces, read.value().gaps.data()));
}

TEST(Views, C4_4_refer_to_copies_when_pieces_are_not_to_be_referred_to) {
  const Scene source = scene();
  const Written written = in_pieces(source);
  const Bytes other_order = by_fast_cdr(source, Order::big);
  for (const std::vector<Piece>& pieces : {written.pieces, {Piece(other_order)}}) {
    Viewed<viewed::Scene> read(pieces, false);
    ASSERT_EQ(read.result.complaint, "");
    expect_equal(read.value(), source);
    EXPECT_FALSE(lies_in(pieces, read.value().points.data()));
    EXPECT_FALSE(lies_in(pieces, read.value().name.data()));
  }
}

TEST(Views, C4_4_refer_in_the_other_byte_order_to_text_and_bytes_only) {
  const auto read = [](const auto& value) {
    const Bytes stream = by_fast_cdr(value, Order::big);
    const std::array pieces{Piece(stream)};
    using Span = std::span<const typename std::remove_cvref_t<decltype(value)>::value_type>;
    Viewed<Span> viewed(pieces, true);
    EXPECT_EQ(viewed.result.complaint, "");
    EXPECT_TRUE(std::ranges::equal(viewed.value(), value));
    return lies_in(pieces, viewed.value().data());
  };
  EXPECT_TRUE(read(std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_FALSE(read(std::vector<std::uint16_t>{1, 2, 3}));
}

TEST(Views, C4_4_are_right_wherever_a_stream_is_cut) {
  Scene source = scene();
  source.points.resize(5);
  const Bytes stream = stream_of(source);
  Random random(9);
  for (int i = 0; i < 300; ++i) {
    std::vector<Bytes> parts;  // each a block of its own, so that a sanitizer sees what is read behind one
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t size = std::min(below(random, 200), stream.size() - at);
      const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(at);
      parts.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(size));
      at += size;
    }
    const std::vector<Piece> pieces(parts.begin(), parts.end());
    Viewed<viewed::Scene> read(pieces, true);
    ASSERT_EQ(read.result.complaint, "");
    expect_equal(read.value(), source);
  }
}

TEST(Views, C4_4_are_aligned_wherever_a_stream_begins) {
  const Bytes stream = stream_of(std::vector<double>{1, 2, 3});
  for (std::size_t shift = 0; shift < 8; ++shift) {
    Bytes moved(shift);
    moved.insert(moved.end(), stream.begin(), stream.end());
    const std::array pieces{Piece(moved).subspan(shift)};
    Viewed<std::span<const double>> read(pieces, true);
    ASSERT_EQ(read.result.complaint, "");
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read.value().data()) % alignof(double), 0U);
    EXPECT_TRUE(std::ranges::equal(read.value(), std::vector<double>{1, 2, 3}));
    EXPECT_EQ(lies_in(pieces, read.value().data()), shift == 4);
  }
}

TEST(Views, what_a_damaged_stream_is_read_as_can_be_read) {
  Scene source = scene();
  source.points.resize(2);
  const Bytes original = stream_of(source);
  Random random(10);
  int complete = 0, refused = 0;
  for (int i = 0; i < 5000; ++i) {
    Bytes stream = original;
    for (std::size_t damage = 0; damage <= below(random, 3); ++damage) {
      stream[4 + below(random, stream.size() - 4)] = static_cast<std::byte>(below(random, 4) == 0 ? random() : below(random, 4));
    }
    const std::array pieces{Piece(stream)};
    Viewed<viewed::Scene> read(pieces, below(random, 2) == 1, usual_budget<viewed::Scene>(stream.size()));
    if (read.result.complaint.empty()) {
      ++complete;
      std::size_t sum = 0;
      for (const char c : read.value().name) sum += static_cast<unsigned char>(c);
      for (const bool seen : read.value().seen) sum += seen;
      for (const Point& point : read.value().points) sum += point.x > 0;
      for (const viewed::Item& item : read.value().items) {
        for (const char c : item.label) sum += static_cast<unsigned char>(c);
        for (const std::uint16_t number : item.shape) sum += number;
      }
      EXPECT_LT(sum, std::size_t{1} << 40);
    } else {
      ++refused;
      ASSERT_EQ(read.arena.block_count(), 0U);
    }
  }
  EXPECT_GT(complete, 100);
  EXPECT_GT(refused, 100);
}

TEST(Views, a_stream_that_ends_early_or_has_a_wrong_bool_is_refused) {
  Scene source = scene();
  source.points.resize(2);
  const Bytes stream = stream_of(source);
  for (std::size_t size = 0; size < stream.size(); ++size) {
    const std::array pieces{Piece(stream).first(size)};
    Viewed<viewed::Scene> read(pieces, true);
    ASSERT_NE(read.result.complaint, "");
    ASSERT_EQ(read.arena.block_count(), 0U);
  }
  Bytes bits = stream_of(std::vector<bool>{true, true});
  bits.back() = std::byte{2};
  const std::array pieces{Piece(bits)};
  EXPECT_EQ(Viewed<std::span<const bool>>(pieces, true).result.complaint, "byte 10 of the stream: a bool that is neither 0 nor 1");
}

TEST(Views, take_nothing_of_the_budget_when_they_refer_to_the_stream) {
  const Bytes stream = stream_of(std::string(1000, 't'));
  const std::array pieces{Piece(stream)};
  EXPECT_EQ(Viewed<std::string_view>(pieces, true, 10).result.complaint, "");
  EXPECT_NE(Viewed<std::string_view>(pieces, false, 10).result.complaint.find("willing to spend"), std::string::npos);
}

TEST(Views, need_memory_and_are_refused_in_place) {
  const Bytes stream = stream_of(std::string("text"));
  Decoded<std::string_view> decoded(stream);
  EXPECT_EQ(decoded.result.complaint, "a message with views, which this reader has no memory for");
  Arena arena;
  const std::string_view view = "text";
  arena.adopt(&view, sizeof(std::string_view));
  EXPECT_EQ(complaint_about(type_for<std::string_view>(), &view, arena),
            "the message itself: a type with views, which is never read in place");
}

}  // namespace
}  // namespace sinew::msg::testing
