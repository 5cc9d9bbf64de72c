// std::map and std::unordered_map in messages: what they are to other ends, and reading, writing and copying them, which needs their own functions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <unordered_map>

#include "cdr_streams.hpp"
#include "random_values.hpp"

namespace sinew::msg::testing {

/// Maps wherever they can be.
struct Atlas {
  std::map<std::string, std::uint32_t> counts;
  std::unordered_map<std::int32_t, std::vector<std::string>> words;
  std::vector<std::map<std::uint8_t, std::string>> several;
  std::optional<std::map<bool, float>> maybe;
  std::variant<std::map<std::string, std::string>, std::uint32_t, std::unordered_map<std::string, Point>, std::string> either;
  std::map<std::string, std::map<std::uint16_t, Part>> nested;
  std::array<std::map<std::uint64_t, std::uint64_t>, 2> two;
  std::map<double, int, std::greater<>> descending;
  std::uint8_t last = 9;
};
struct Count {
  std::string key;
  std::uint32_t value;
};
struct Node {
  std::map<std::string_view, std::span<const std::uint32_t>> links;
};
struct Link {
  std::string key;
  std::vector<std::uint32_t> value;
};
struct Angular {
  std::map<std::int32_t, std::variant<std::string, std::uint8_t>> values;
};

namespace {

Atlas atlas() {
  Atlas atlas;
  atlas.counts = {{"one", 1}, {"two", 2}, {long_text, 3}};
  atlas.words = {{5, {"a", long_text}}, {-5, {}}};
  atlas.several = {{{1, long_text}}, {}, {{2, "b"}, {3, ""}}};
  atlas.maybe = {{false, 0.5F}, {true, 1.5F}};
  atlas.either = std::unordered_map<std::string, Point>{{long_text, {1, 2, 3}}};
  atlas.nested = {{"inner", {{7, Part{long_text, {long_text}, long_text, true}}, {8, {}}}}, {"empty", {}}};
  atlas.two[1] = {{1, 2}, {3, 4}};
  atlas.descending = {{1, 1}, {2, 2}};
  return atlas;
}

void expect_equal(const Atlas& a, const Atlas& b) {
  EXPECT_EQ(a.counts, b.counts);
  EXPECT_EQ(a.words, b.words);
  EXPECT_EQ(a.several, b.several);
  EXPECT_EQ(a.maybe, b.maybe);
  ASSERT_EQ(a.either.index(), b.either.index());
  if (a.either.index() == 2) {
    EXPECT_EQ(std::get<2>(a.either).at(long_text).z, std::get<2>(b.either).at(long_text).z);
  } else if (a.either.index() == 0) {
    EXPECT_EQ(std::get<0>(a.either), std::get<0>(b.either));
  }
  EXPECT_EQ(a.nested, b.nested);
  EXPECT_EQ(a.two, b.two);
  EXPECT_EQ(a.descending, b.descending);
  EXPECT_EQ(a.last, b.last);
}

TEST(Map, T1_18_is_to_other_ends_a_vector_of_keys_and_values_but_never_read_in_place) {
  const Message& map = message_of<std::map<std::string, std::uint32_t>>();
  const Message& vector = message_of<std::vector<Count>>();
  EXPECT_STREQ(map.signature, "entry<string,uint32>{key:string;value:uint32;}[]");
  EXPECT_STREQ(map.name, "entry<string,uint32>[]");
  EXPECT_EQ(map.hash, vector.hash);
  EXPECT_EQ(map.hash, (message_of<std::unordered_map<std::string, std::uint32_t>>().hash));
  EXPECT_NE(map.layout, vector.layout);
  EXPECT_FALSE(map.type->in_place);
  EXPECT_FALSE(message_of<Atlas>().type->in_place);
  EXPECT_TRUE(vector.type->in_place);
  EXPECT_TRUE(map.type->owns);
}

TEST(Map, refuses_to_be_reached_in_place) {
  Arena arena;
  std::map<int, int> map;
  arena.adopt(&map, sizeof(std::map<int, int>));
  EXPECT_EQ(complaint_about(type_for<std::map<int, int>>(), &map, arena),
            "the message itself: a type with maps, which is never read in place");
  EXPECT_FALSE(audit(type_for<std::map<int, int>>(), &map, arena, arena).complete);
}

TEST(Map, C2_11_is_written_as_fast_cdr_writes_it) {
  const std::map<std::string, std::uint32_t> map = atlas().counts;
  char memory[1024] = {};
  eprosima::fastcdr::FastBuffer buffer(memory, sizeof memory);
  eprosima::fastcdr::Cdr fast(buffer);
  fast << map;
  const Bytes ours = stream_of(map);
  ASSERT_EQ(ours.size(), 4 + fast.getSerializedDataLength());
  EXPECT_EQ(std::memcmp(ours.data() + 4, fast.getBufferPointer(), ours.size() - 4), 0);
}

TEST(Map, maps_of_all_places_are_read_back_from_both_orders) {
  const Atlas source = atlas();
  for (const Order order : {Order::little, Order::big}) {
    const Bytes stream = by_fast_cdr(source, order);
    if (order == Order::little) {
      EXPECT_EQ(stream_of(source), stream);
      EXPECT_EQ(in_pieces(source).joined(), stream);
    }
    Decoded<Atlas> decoded(stream);
    ASSERT_EQ(decoded.result.complaint, "");
    expect_equal(decoded.value(), source);
    decoded.value().counts["more"] = 4;
    decoded.value().words[6].push_back("more");
  }
}

TEST(Map, each_alternative_of_a_variant_is_read_though_the_first_is_a_map) {
  Atlas source = atlas();
  for (int alternative = 0; alternative < 3; ++alternative) {
    if (alternative == 0) source.either = std::map<std::string, std::string>{{"k", long_text}};
    if (alternative == 1) source.either = 7U;
    if (alternative == 2) source.either = long_text;
    Decoded<Atlas> decoded(stream_of(source));
    ASSERT_EQ(decoded.result.complaint, "");
    EXPECT_EQ(decoded.value().either.index(), source.either.index());
    expect_equal(decoded.value(), source);
  }
}

TEST(Map, big_values_are_referred_to_where_they_lie) {
  std::map<int, std::string> map = {{1, std::string(10'000, 'x')}};
  const Written written = in_pieces(map);
  ASSERT_EQ(written.pieces.size(), 2U);
  EXPECT_EQ(written.pieces[1].data(), reinterpret_cast<const std::byte*>(map[1].data()));
}

TEST(Map, C2_11_a_vector_of_entries_is_read_into_a_map_in_any_order_and_each_key_once) {
  std::vector<Count> entries = {{"b", 2}, {"a", 1}};
  using Counts = std::map<std::string, std::uint32_t>;
  Decoded<Counts> decoded(stream_of(entries));
  ASSERT_EQ(decoded.result.complaint, "");
  EXPECT_EQ(decoded.value(), (Counts{{"a", 1}, {"b", 2}}));
  entries.push_back({"b", 3});
  EXPECT_NE(Decoded<Counts>(stream_of(entries)).result.complaint.find("a map with a key that it has already"), std::string::npos);
}

TEST(Map, a_copy_has_nodes_of_its_own) {
  const Atlas source = atlas();
  Arena arena;
  alignas(Atlas) std::byte room[sizeof(Atlas)];
  ASSERT_TRUE(copy_value(type_for<Atlas>(), &source, room, arena).complete);
  auto* copy = reinterpret_cast<Atlas*>(room);
  expect_equal(*copy, source);
  EXPECT_NE(&copy->counts.begin()->second, &source.counts.begin()->second);
  std::destroy_at(copy);
}

TEST(Map, the_size_of_a_value_is_what_a_copy_of_it_writes) {
  const Atlas source = atlas();
  Arena arena;
  alignas(Atlas) std::byte room[sizeof(Atlas)];
  EXPECT_EQ(size_of_value(type_for<Atlas>(), &source), copy_value(type_for<Atlas>(), &source, room, arena).bytes);
  std::destroy_at(reinterpret_cast<Atlas*>(room));
}

TEST(Map, refused_memory_leaves_nothing) {
  const Atlas source = atlas();
  const Bytes stream = stream_of(source);
  const std::array pieces{Piece(stream)};
  const Reader reader(type_for<Atlas>());
  bool copied = false, read = false;
  for (std::size_t allowed = 0; !copied || !read; ++allowed) {
    ASSERT_LT(allowed, 100U);
    Arena arena;
    alignas(Atlas) std::byte room[sizeof(Atlas)];
    arena.allowed = allowed;
    copied = copy_value(type_for<Atlas>(), &source, room, arena).complete;
    if (copied) std::destroy_at(reinterpret_cast<Atlas*>(room));
    arena.allowed = allowed;
    read = reader.read(pieces, room, arena, 1 << 20).complaint.empty();
    if (read) std::destroy_at(reinterpret_cast<Atlas*>(room));
  }
}

TEST(Map, a_short_stream_cannot_make_a_reader_allocate_much) {
  const std::uint32_t many = UINT32_MAX;
  Bytes stream(8);
  stream[1] = std::byte{1};
  std::memcpy(stream.data() + 4, &many, 4);
  using Nothings = std::map<std::uint8_t, std::uint8_t>;
  EXPECT_NE(Decoded<Nothings>(stream).result.complaint.find("goes on behind the end"), std::string::npos);
  stream.resize(100'004);
  const std::uint32_t count = 40'000;
  std::memcpy(stream.data() + 4, &count, 4);
  EXPECT_NE(Decoded<Nothings>(stream, 1 << 20).result.complaint.find("more entries than a reader is willing to make"), std::string::npos);
}

TEST(Map, C4_2_many_entries_are_read_though_their_nodes_take_more_than_they) {
  std::map<std::uint8_t, std::uint8_t> map;
  for (unsigned key = 0; key < 256; ++key) map[static_cast<std::uint8_t>(key)] = 1;
  const std::vector<decltype(map)> many(1000, map);
  const Bytes stream = stream_of(many);
  Decoded<std::vector<decltype(map)>> decoded(stream, usual_budget<std::vector<decltype(map)>>(stream.size()));
  ASSERT_EQ(decoded.result.complaint, "");
  EXPECT_EQ(decoded.value(), many);
}

TEST(Map, C4_5_keys_that_a_stranger_chose_to_collide_are_refused_and_others_are_not) {
  using Table = std::unordered_map<std::uint64_t, std::uint8_t>;
  const auto complaint_about_multiples_of = [](std::uint64_t step) {
    std::vector<std::pair<std::uint64_t, std::uint8_t>> entries(20'000);
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].first = step * (i + 1);
    const Decoded<Table> decoded(stream_of(entries));
    return decoded.result.complaint;
  };
  Table table;
  for (std::uint64_t key = 0; key < 20'000; ++key) table[key] = 0;
  EXPECT_EQ(complaint_about_multiples_of(1), "");
  EXPECT_EQ(complaint_about_multiples_of(std::uint64_t{1} << 32), "");
  EXPECT_NE(complaint_about_multiples_of(table.bucket_count()).find("a map whose keys are all in one place"), std::string::npos);
}

TEST(Map, C4_5_a_hash_that_is_the_same_for_all_keys_is_good_enough_for_a_small_map) {
  struct Same {
    std::size_t operator()(std::uint64_t) const { return 1; }
  };
  std::vector<std::pair<std::uint64_t, std::uint8_t>> entries(100);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].first = i;
  EXPECT_EQ((Decoded<std::unordered_map<std::uint64_t, std::uint8_t, Same>>(stream_of(entries)).result.complaint), "");
}

TEST(Map, a_damaged_stream_is_refused_or_read_and_nothing_is_lost) {
  const Bytes original = stream_of(atlas());
  Random random(11);
  int read = 0, refused = 0;
  for (int i = 0; i < 10'000; ++i) {
    Bytes stream = original;
    for (std::size_t damage = 0; damage <= below(random, 3); ++damage) {
      stream[4 + below(random, stream.size() - 4)] = static_cast<std::byte>(below(random, 4) == 0 ? random() : below(random, 4));
    }
    if (below(random, 4) == 0) stream.resize(4 + below(random, stream.size() - 4));
    Decoded<Atlas> decoded(stream, usual_budget<Atlas>(stream.size()));
    ++(decoded.result.complaint.empty() ? read : refused);
    if (!decoded.result.complaint.empty()) continue;
    Decoded<Atlas> again(stream_of(decoded.value()));
    ASSERT_EQ(again.result.complaint, "");
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

TEST(Map, C4_4_views_in_a_map_refer_to_copies_since_a_key_must_not_change) {
  const std::vector<Link> links = {{"a", {1, 2}}, {long_text, {3}}};
  const Bytes stream = stream_of(links);
  const std::array pieces{Piece(stream)};
  Arena arena, views;
  {
    alignas(Node) std::byte room[sizeof(Node)];
    ASSERT_EQ(Reader(type_for<Node>()).read(pieces, room, arena, 1 << 20, {views, true}).complaint, "");
    auto& node = *reinterpret_cast<Node*>(room);
    EXPECT_TRUE(std::ranges::equal(node.links.at("a"), links[0].value));
    EXPECT_TRUE(views.contains(node.links.begin()->first.data(), 1));
    EXPECT_TRUE(views.contains(node.links.at(long_text).data(), 4));
    std::destroy_at(&node);
  }
  views.free_all();
}

TEST(Map, variants_in_it_are_looked_at) {
  Angular angular{{{1, "text"}, {2, std::uint8_t{3}}}};
  EXPECT_EQ(variant_without_value(type_for<Angular>(), &angular), std::nullopt);
  set_index(type_for<std::variant<std::string, std::uint8_t>>(), &angular.values[2], without_value);
  EXPECT_EQ(variant_without_value(type_for<Angular>(), &angular), "values[1].value");
  EXPECT_FALSE(Codec(type_for<Angular>()).measure(&angular));
  set_index(type_for<std::variant<std::string, std::uint8_t>>(), &angular.values[2], 1);  // the library knows this one as never without
}

}  // namespace
}  // namespace sinew::msg::testing
