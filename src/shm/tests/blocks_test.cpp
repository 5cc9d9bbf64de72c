#include "shm/blocks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace sinew::shm {
namespace {

constexpr std::uintptr_t mib = 1024 * 1024;

// Areas are only counted in, never touched, so any address will do.
struct OneArea {
  Blocks blocks;
  Blocks::Area area{16 * mib, 4 * mib};
  OneArea() { blocks.add(area); }
  ~OneArea() { blocks.remove(area); }
  std::uintptr_t take(std::size_t size, std::size_t alignment = 16) { return blocks.allocate(size, alignment); }
  void free(std::uintptr_t address) { EXPECT_TRUE(blocks.free(area, address)); }
};

TEST(Blocks, every_size_up_to_32_KiB_fits_its_class_and_no_smaller_one) {
  for (std::size_t size = 1; size <= largest_small_block; ++size) {
    const std::uint32_t size_class = class_of(size);
    ASSERT_LT(size_class, size_classes);
    ASSERT_GE(block_size(size_class), size);
    if (size_class == 0) continue;
    ASSERT_LT(block_size(size_class - 1), size);
  }
}

TEST(Blocks, the_block_freed_last_is_given_out_first) {
  OneArea one;
  for (const std::size_t size : {24u, 1000u, 30'000u, 300'000u}) {
    const auto first = one.take(size);
    const auto second = one.take(size);
    one.take(size);
    one.free(second);
    one.free(first);
    EXPECT_EQ(one.take(size), first) << size;
    EXPECT_EQ(one.take(size), second) << size;
  }
}

TEST(Blocks, idle_neighbours_are_joined_when_a_larger_run_is_needed) {
  OneArea one;
  const std::array runs = {one.take(mib), one.take(mib), one.take(mib), one.take(mib)};
  EXPECT_EQ(one.take(mib), 0u);
  for (const std::size_t i : {2u, 0u, 3u, 1u}) one.free(runs[i]);
  EXPECT_EQ(one.take(4 * mib), 16 * mib);
}

TEST(Blocks, an_empty_span_goes_back_to_the_pages_when_they_are_needed) {
  OneArea one;
  one.free(one.take(24));
  EXPECT_EQ(one.take(4 * mib), 16 * mib);
}

TEST(Blocks, one_block_of_each_size_keeps_little_from_the_others) {
  OneArea one;
  std::size_t taken = 0;
  for (std::uint32_t size_class = 0; block_size(size_class) <= 1024; ++size_class, ++taken) one.take(block_size(size_class));
  EXPECT_NE(one.take(4 * mib - taken * 8 * 1024), 0u);
}

TEST(Blocks, large_alignment_wastes_nothing_for_good) {
  OneArea one;
  one.take(2 * Blocks::page + largest_small_block);
  const auto aligned = one.take(mib, mib);
  EXPECT_EQ(aligned % mib, 0u);
  one.free(aligned);
  EXPECT_NE(one.take(4 * mib - 2 * Blocks::page - largest_small_block), 0u) << "what lay before and behind it was not joined again";
}

TEST(Blocks, an_address_where_no_live_block_begins_cannot_be_freed) {
  OneArea one;
  const auto small = one.take(100);
  const auto large = one.take(100'000);
  EXPECT_FALSE(one.blocks.free(one.area, small + 16));
  EXPECT_FALSE(one.blocks.free(one.area, large + Blocks::page));
  EXPECT_FALSE(one.blocks.free(one.area, large + 16));
  one.free(small);
  one.free(large);
  EXPECT_FALSE(one.blocks.free(one.area, small));
  EXPECT_FALSE(one.blocks.free(one.area, large));
  EXPECT_EQ(one.blocks.live(), 0u);
}

TEST(Blocks, F2_an_abandoned_block_is_never_given_out_again) {
  OneArea one;
  const auto small = one.take(1000);
  const auto large = one.take(mib);
  EXPECT_TRUE(one.blocks.abandon(one.area, small));
  EXPECT_TRUE(one.blocks.abandon(one.area, large));
  EXPECT_FALSE(one.blocks.abandon(one.area, large)) << "a block listed twice counts once";
  EXPECT_FALSE(one.blocks.free(one.area, small));
  EXPECT_FALSE(one.blocks.free(one.area, large));
  EXPECT_EQ(one.area.live, 0u);
  while (const auto address = one.take(1000)) EXPECT_NE(address, small);
  while (const auto address = one.take(50'000)) EXPECT_FALSE(address >= large && address < large + mib);
}

// The whole behaviour against the plainest imaginable model: a map of what is taken.
TEST(Blocks, random_use_never_overlaps_and_keeps_alignment_and_count) {
  Blocks blocks;
  Blocks::Area areas[] = {{16 * mib, mib / 4}, {64 * mib, 3 * mib}, {128 * mib, 8 * mib}};
  for (Blocks::Area& area : areas) blocks.add(area);
  const auto area_of = [&](std::uintptr_t address) -> Blocks::Area& {
    for (Blocks::Area& area : areas) {
      if (address >= area.address && address < area.address + area.size) return area;
    }
    throw std::logic_error("an address in no area");
  };

  std::map<std::uintptr_t, std::size_t> taken;
  std::mt19937 random(7);  // NOLINT: the same run every time
  const auto up_to = [&](std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit)(random); };
  for (int step = 0; step < 200'000; ++step) {
    if (up_to(99) < 52) {
      const std::size_t size = up_to(3) < 3 ? up_to(2000) : up_to(up_to(9) == 0 ? 2 * mib : 100'000);
      const std::size_t alignment = up_to(9) < 9 ? 16 : std::size_t{1} << up_to(16);
      const std::uintptr_t address = blocks.allocate(size, alignment);
      if (address == 0) continue;
      const Blocks::Area& area = area_of(address);
      ASSERT_LE(address + size, area.address + area.size);
      ASSERT_EQ(address % alignment, 0u);
      ASSERT_EQ(address % (size >= 4096 ? 64 : 16), 0u);
      const auto after = taken.lower_bound(address);
      ASSERT_TRUE(after == taken.end() || address + size <= after->first) << "overlaps the block behind it";
      ASSERT_TRUE(after == taken.begin() || std::prev(after)->first + std::prev(after)->second <= address)
          << "overlaps the block before it";
      taken.emplace(address, std::max<std::size_t>(size, 1));
    } else if (!taken.empty()) {
      auto victim = taken.lower_bound(16 * mib + up_to(121 * mib));
      if (victim == taken.end()) victim = taken.begin();
      ASSERT_TRUE(blocks.free(area_of(victim->first), victim->first));
      taken.erase(victim);
    }
    ASSERT_EQ(blocks.live(), taken.size());
  }
  for (const auto& [address, size] : taken) ASSERT_TRUE(blocks.free(area_of(address), address));
  EXPECT_EQ(blocks.bytes(), 0u);
  EXPECT_EQ(blocks.allocate(8 * mib, 16), 128 * mib) << "everything was freed, yet the largest area is not whole";
  for (Blocks::Area& area : areas) blocks.remove(area);
}

}  // namespace
}  // namespace sinew::shm
