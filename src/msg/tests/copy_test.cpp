#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "msg/std_layout.hpp"
#include "values.hpp"

namespace sinew::msg::testing {

struct alignas(128) Stripe {
  std::uint8_t value = 0;
};

namespace {

const Type& whole_type = *message_of<Whole>().type;

struct alignas(Whole) Room {
  std::byte bytes[sizeof(Whole)];
};

TEST(Copy, has_the_value_of_the_source_and_shares_no_storage_with_it) {
  const Whole source = example();
  Arena arena;
  Room room;
  const Copied copied = copy_value(whole_type, &source, &room, arena);
  ASSERT_TRUE(copied.complete);
  auto* copy = reinterpret_cast<Whole*>(&room);
  EXPECT_EQ(*copy, source);
  arena.adopt(copy, sizeof *copy);
  EXPECT_FALSE(complaint_about(whole_type, copy, arena));
  std::uint64_t bytes = 0;
  for (const auto& [address, size] : arena.blocks()) bytes += size;
  EXPECT_EQ(copied.bytes, bytes);
  std::destroy_at(copy);
}

TEST(Copy, copies_pairs_and_tuples_with_their_storage) {
  const Mixed source = mixed_example();
  Arena arena;
  alignas(Mixed) std::byte room[sizeof(Mixed)];
  ASSERT_TRUE(copy_value(*message_of<Mixed>().type, &source, room, arena).complete);
  auto* copy = reinterpret_cast<Mixed*>(room);
  EXPECT_EQ(*copy, source);
  std::destroy_at(copy);
}

TEST(CheckedCopy, has_the_value_of_the_source_and_takes_what_it_is_allowed_and_no_more) {
  const Published<Whole> published(example());
  Arena arena;
  Room room;
  const CheckedCopy copied = copy_checked(whole_type, &published.value, &room, arena, published.arena, UINT64_MAX);
  ASSERT_EQ(copied.complaint, "");
  auto* const copy = reinterpret_cast<Whole*>(&room);
  EXPECT_EQ(*copy, published.value);
  std::destroy_at(copy);
  Arena second;
  EXPECT_EQ(copy_checked(whole_type, &published.value, &room, second, published.arena, copied.bytes).complaint, "");
  std::destroy_at(copy);
  for (std::uint64_t budget = 0; budget < copied.bytes; budget += 7) {
    Arena third;
    EXPECT_EQ(copy_checked(whole_type, &published.value, &room, third, published.arena, budget).complaint,
              "more storage than its publisher said");
    EXPECT_EQ(third.block_count(), 0U);
  }
}

TEST(CheckedCopy, T6_10_checks_as_many_containers_as_there_is_memory_for) {
  std::vector<std::string> many(2'700'000);
  Arena arena, copies;
  arena.adopt(&many, sizeof many);
  arena.adopt(many.data(), many.size() * sizeof(std::string));
  const Type& type = *message_of<std::vector<std::string>>().type;
  alignas(std::vector<std::string>) std::byte room[sizeof(std::vector<std::string>)];
  ASSERT_EQ(copy_checked(type, &many, room, copies, arena, UINT64_MAX).complaint, "");
  std::destroy_at(reinterpret_cast<std::vector<std::string>*>(room));
}

TEST(CheckedCopy, S16_takes_no_more_than_there_is_memory_in_its_region_whatever_it_is_allowed) {
  std::vector<std::vector<std::uint8_t>> source(100);
  source.front().resize(10'000);
  Published<decltype(source)> published(std::move(source));
  std::vector<VectorImage> before;
  for (auto& inner : published.value) {
    before.push_back(image_at<VectorImage>(&inner));
    image_at<VectorImage>(&inner) = before.front();
  }
  Arena arena;
  alignas(decltype(source)) std::byte room[sizeof source];
  EXPECT_EQ(copy_checked(published.type, &published.value, room, arena, published.arena, UINT64_MAX).complaint,
            "more storage than its publisher said");
  EXPECT_EQ(arena.block_count(), 0U);
  for (std::size_t i = 0; i < before.size(); ++i) image_at<VectorImage>(&published.value[i]) = before[i];
}

TEST(CheckedCopy, leaves_nothing_when_memory_is_refused) {
  const Published<Whole> published(example());
  for (std::size_t allowed = 0;; ++allowed) {
    Arena arena;
    Room room;
    arena.allowed = allowed;
    const CheckedCopy copied = copy_checked(whole_type, &published.value, &room, arena, published.arena, UINT64_MAX);
    if (copied.complaint.empty()) {
      std::destroy_at(reinterpret_cast<Whole*>(&room));
      break;
    }
    ASSERT_EQ(copied.complaint, "no memory for a copy of it");
    ASSERT_EQ(arena.block_count(), 0U);
  }
}

TEST(Copy, trims_capacities_to_sizes) {
  std::vector<int> source = {1, 2, 3};
  source.reserve(100);
  Arena arena;
  alignas(std::vector<int>) std::byte room[sizeof(std::vector<int>)];
  ASSERT_TRUE(copy_value(*message_of<std::vector<int>>().type, &source, room, arena).complete);
  auto* copy = reinterpret_cast<std::vector<int>*>(room);
  EXPECT_EQ(copy->capacity(), 3U);
  EXPECT_EQ(*copy, source);
  std::destroy_at(copy);
}

TEST(Copy, a_copied_value_grows_and_shrinks_as_any_other) {
  const Whole source = example();
  Arena arena;
  Room room;
  ASSERT_TRUE(copy_value(whole_type, &source, &room, arena).complete);
  auto* copy = reinterpret_cast<Whole*>(&room);
  copy->name += "!";
  copy->bits.push_back(false);
  copy->data.insert(copy->data.begin(), 100, 0);
  copy->parts.pop_back();
  copy->extra.reset();
  EXPECT_EQ(copy->name, long_text + "!");
  EXPECT_EQ(copy->bits.size(), 71U);
  std::destroy_at(copy);
}

TEST(Copy, keeps_over_aligned_elements_aligned) {
  const std::vector<Stripe> source(3);
  Arena arena;
  alignas(std::vector<Stripe>) std::byte room[sizeof(std::vector<Stripe>)];
  ASSERT_TRUE(copy_value(*message_of<std::vector<Stripe>>().type, &source, room, arena).complete);
  auto* copy = reinterpret_cast<std::vector<Stripe>*>(room);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(copy->data()) % 128, 0U);
  std::destroy_at(copy);
}

TEST(Copy, gives_everything_back_wherever_memory_is_refused) {
  const Whole source = example();
  std::size_t refusals = 0;
  for (std::size_t allowed = 0;; ++allowed) {
    Arena arena;
    arena.allowed = allowed;
    Room room;
    const Copied copied = copy_value(whole_type, &source, &room, arena);
    if (copied.complete) {
      free_storage(whole_type, &room, arena);
      EXPECT_EQ(arena.block_count(), 0U);
      break;
    }
    EXPECT_EQ(copied.bytes, 0U);
    EXPECT_EQ(arena.block_count(), 0U);
    ++refusals;
  }
  EXPECT_GT(refusals, 10U);
}

TEST(Storage, every_block_is_freed_with_the_alignment_that_it_was_allocated_with) {
  const Whole source = example();
  Arena arena;
  Room room;
  ASSERT_TRUE(copy_value(whole_type, &source, &room, arena).complete);
  free_storage(whole_type, &room, arena);
  const std::vector<Stripe> cells(3);
  alignas(std::vector<Stripe>) std::byte other[sizeof cells];
  const Type& type = *message_of<std::vector<Stripe>>().type;
  ASSERT_TRUE(copy_value(type, &cells, other, arena).complete);
  free_storage(type, other, arena);
  EXPECT_EQ(arena.block_count(), 0U);
  EXPECT_EQ(arena.misfreed, 0U);
}

TEST(Storage, lists_exactly_the_blocks_of_a_message) {
  const Whole source = example();
  Arena arena;
  Room room;
  ASSERT_TRUE(copy_value(whole_type, &source, &room, arena).complete);
  std::vector<const void*> listed, wanted;
  list_storage(whole_type, &room, listed);
  for (const auto& [address, size] : arena.blocks()) wanted.push_back(address);
  std::sort(listed.begin(), listed.end());
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(listed, wanted);
  free_storage(whole_type, &room, arena);
  EXPECT_EQ(arena.block_count(), 0U);
}

}  // namespace
}  // namespace sinew::msg::testing
