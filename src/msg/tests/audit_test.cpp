#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "sinew/message.hpp"
#include "values.hpp"

namespace sinew::msg::testing {

class Counted {
 public:
  SINEW_MESSAGE(Counted, number_);
  ~Counted() { ++destroyed; }
  inline static int destroyed = 0;

 private:
  int number_ = 0;
};

namespace {

const Type& whole_type = *message_of<Whole>().type;

Audit audit_in(Arena& arena, Whole& whole) {
  arena.adopt(&whole, sizeof whole);
  return audit(whole_type, &whole, arena, arena);
}

TEST(Audit, S13_copies_in_a_vector_that_was_moved_in_and_names_its_field) {
  Arena arena;
  Whole whole;
  std::vector<std::uint8_t> made_outside(1000, 9);
  whole.data = std::move(made_outside);
  const Audit result = audit_in(arena, whole);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.copied, 1000U);
  EXPECT_EQ(result.size, sizeof(Whole) + 1000);
  EXPECT_EQ(result.first_field, "data");
  EXPECT_TRUE(arena.contains(whole.data.data(), 1000));
  EXPECT_EQ(whole.data, std::vector<std::uint8_t>(1000, 9));
}

TEST(Audit, S13_copies_in_a_string_that_was_assigned_from_a_temporary) {
  Arena arena;
  Whole whole;
  whole.name = long_text + long_text;
  const Audit result = audit_in(arena, whole);
  EXPECT_EQ(result.first_field, "name");
  EXPECT_EQ(result.copied, 2 * long_text.size() + 1);
  EXPECT_EQ(whole.name, long_text + long_text);
  EXPECT_TRUE(arena.contains(whole.name.data(), whole.name.size() + 1));
}

TEST(Audit, S13_a_short_string_with_storage_outside_comes_back_into_its_own_place) {
  Arena arena;
  Whole whole;
  whole.name = long_text;
  whole.name.resize(3);
  const Audit result = audit_in(arena, whole);
  EXPECT_EQ(whole.name, long_text.substr(0, 3));
  EXPECT_TRUE(arena.contains(whole.name.data(), 4));
  EXPECT_EQ(result.copied, 0U);
  EXPECT_EQ(result.first_field, "name");
}

TEST(Audit, S13_copies_in_nested_vectors_of_strings_with_all_their_storage) {
  Arena arena;
  Whole whole;
  whole.table = {{}, {"short", long_text}};
  const Audit result = audit_in(arena, whole);
  EXPECT_EQ(result.first_field, "table");
  EXPECT_EQ(result.copied, 2 * sizeof(std::vector<std::string>) + 2 * sizeof(std::string) + long_text.size() + 1);
  EXPECT_EQ(whole.table, (std::vector<std::vector<std::string>>{{}, {"short", long_text}}));
  EXPECT_FALSE(complaint_about(whole_type, &whole, arena));
}

TEST(Audit, S13_copies_in_the_string_of_an_optional_and_the_vectors_of_an_array) {
  Arena arena;
  Whole whole;
  whole.extra = Part{"", {}, long_text, false};
  whole.curves[1] = {1, 2, 3};
  const Audit result = audit_in(arena, whole);
  EXPECT_EQ(result.first_field, "curves[1]");
  EXPECT_EQ(result.copied, 12 + long_text.size() + 1);
  EXPECT_EQ(whole.extra->note, long_text);
  EXPECT_EQ(whole.curves[1], (std::vector<float>{1, 2, 3}));
  EXPECT_FALSE(complaint_about(whole_type, &whole, arena));
}

TEST(Audit, S13_names_the_element_whose_storage_was_outside) {
  Published<Whole> published(example());
  published.value.parts[1].words.push_back("grown outside");
  const Audit result = audit(published.type, &published.value, published.arena, published.arena);
  EXPECT_EQ(result.first_field, "parts[1].words");
  EXPECT_EQ(result.copied, sizeof(std::string));
}

TEST(Audit, S13_names_elements_of_pairs_and_tuples) {
  Arena arena;
  Mixed mixed;
  arena.adopt(&mixed, sizeof mixed);
  std::get<1>(mixed.tuple) = long_text;
  const Audit result = audit(*message_of<Mixed>().type, &mixed, arena, arena);
  EXPECT_EQ(result.first_field, "tuple._1");
  EXPECT_EQ(result.copied, long_text.size() + 1);
}

TEST(Audit, S13_destroys_a_container_that_it_replaces_as_its_owner_would) {
  Arena arena;
  std::vector<Counted> outside(3);
  arena.adopt(&outside, sizeof outside);
  Counted::destroyed = 0;
  EXPECT_TRUE(audit(*message_of<std::vector<Counted>>().type, &outside, arena, arena).complete);
  EXPECT_EQ(Counted::destroyed, 3);
  EXPECT_EQ(outside.size(), 3U);
}

TEST(Audit, copies_nothing_when_all_storage_is_inside) {
  Published<Whole> published(example());
  const auto blocks = published.arena.blocks();
  const Audit result = audit(published.type, &published.value, published.arena, published.arena);
  EXPECT_TRUE(result.complete);
  EXPECT_EQ(result.copied, 0U);
  EXPECT_EQ(result.first_field, "");
  EXPECT_EQ(published.arena.blocks(), blocks);
  EXPECT_EQ(published.value, example());
}

TEST(Audit, F5_frees_no_block_of_the_region_so_storage_that_was_moved_out_stays) {
  Published<Whole> published(example());
  const std::vector<std::uint8_t> kept = std::move(published.value.data);
  published.value.data = {4, 5};
  EXPECT_TRUE(audit(published.type, &published.value, published.arena, published.arena).complete);
  EXPECT_EQ(kept, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(published.arena.freed, 0U);
}

TEST(Audit, leaves_a_message_of_the_same_value_wherever_memory_is_refused) {
  std::size_t refusals = 0;
  for (std::size_t allowed = 0;; ++allowed) {
    Arena arena;
    arena.allowed = allowed;
    Whole whole = example();
    const Audit result = audit_in(arena, whole);
    EXPECT_EQ(whole, example());
    if (result.complete) break;
    ++refusals;
  }
  EXPECT_GT(refusals, 10U);
}

TEST(Audit, counts_sizes_and_not_capacities) {
  Arena arena;
  Whole whole;
  whole.data.reserve(1000);
  whole.data = {1, 2, 3};
  arena.adopt(whole.data.data(), 1000);
  const Audit result = audit_in(arena, whole);
  EXPECT_EQ(result.size, sizeof(Whole) + 3);
  EXPECT_EQ(result.copied, 0U);
}

}  // namespace
}  // namespace sinew::msg::testing
