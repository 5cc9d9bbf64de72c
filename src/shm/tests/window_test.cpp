#include "shm/window.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "os/fault.hpp"
#include "shm/tests/notes.hpp"
#include "sinew/error.hpp"

namespace sinew::shm {
namespace {

/// Of several huge pages. Where ordinary ones have 64 KiB, these have 512 MiB.
bool have_room_for(std::size_t huge_page) {
  return huge_page <= 64 * mib;
}

TEST(Window, a_block_can_be_written_and_lies_in_the_window_until_its_chunk_goes) {
  const auto window = new_window();
  auto* block = static_cast<char*>(window->allocate(1000, 16));
  ASSERT_NE(block, nullptr) << window->why_refused();
  std::memset(block, 1, 1000);
  EXPECT_TRUE(window->contains(block, 1000));
  EXPECT_EQ(Window::owner_of(block), window.get());
  EXPECT_GE(window->usage().mapped, 1000u);
  EXPECT_EQ(window->usage().blocks, 1u);
  window->free(block);
  EXPECT_EQ(window->usage().in_use, 0u);
}

TEST(Window, contains_knows_the_ends_of_chunks) {
  const auto window = new_window();
  window->allocate(16, 16);
  std::uintptr_t begin = 0;
  std::size_t size = 0;
  window->for_each_chunk([&](const Chunk& chunk) { begin = chunk.address, size = chunk.size; });
  const auto contains = [&](std::uintptr_t address, std::size_t bytes) {
    return window->contains(reinterpret_cast<void*>(address), bytes);
  };
  EXPECT_TRUE(contains(begin, size));
  EXPECT_TRUE(contains(begin + size - 1, 1));
  EXPECT_TRUE(contains(begin, 0));
  EXPECT_FALSE(contains(begin, size + 1));
  EXPECT_FALSE(contains(begin + size, 1));
  EXPECT_FALSE(contains(begin - 1, 1));
  EXPECT_FALSE(contains(begin + 1, ~std::size_t{0}));
  EXPECT_FALSE(contains(0, 1));
  int on_stack = 0;
  EXPECT_FALSE(window->contains(&on_stack, sizeof on_stack));
}

TEST(Window, chunks_grow_with_what_is_there_already) {
  Notes notes;
  const auto window = new_window({}, &notes);
  for (int i = 0; i < 40; ++i) window->allocate(500'000, 64);
  std::size_t total = 0;
  for (const auto& [id, size] : notes.added) {
    EXPECT_GE(4 * size, total) << "a chunk is small beside all before it together";
    total += size;
  }
  EXPECT_LE(notes.added.size(), 14u) << "each chunk is a mapping in every subscriber";
}

TEST(Window, a_few_large_blocks_take_little_more_memory_than_they_are) {
  const auto window = new_window();
  for (std::size_t number = 1; number <= 5; ++number) {
    ASSERT_NE(window->allocate(5'500'000, 64), nullptr) << window->why_refused();
    EXPECT_LE(window->usage().mapped, number * 5'500'000 * 3 / 2);
  }
}

TEST(Window, a_block_that_is_a_little_larger_than_before_fits_where_another_was) {
  const auto window = new_window();
  window->free(window->allocate(2'260'000, 64));
  const std::size_t mapped = window->usage().mapped;
  ASSERT_NE(window->allocate(2'340'000, 64), nullptr) << window->why_refused();
  EXPECT_EQ(window->usage().mapped, mapped);
}

TEST(Window, the_first_small_block_takes_one_unit_of_memory) {
  const auto window = new_window();
  ASSERT_NE(window->allocate(128, 16), nullptr) << window->why_refused();
  EXPECT_EQ(window->usage().mapped, 64 * 1024u);
}

TEST(Window, a_block_larger_than_the_largest_step_gets_a_chunk_of_its_size) {
  const auto window = new_window();
  ASSERT_NE(window->allocate(100 * mib, 64), nullptr) << window->why_refused();
  EXPECT_EQ(window->usage().mapped, 100 * mib);
}

TEST(Window, chunks_with_room_for_huge_pages_lie_where_these_can_be_mapped) {
  const std::size_t huge = os::huge_page_size();
  if (!have_room_for(huge)) GTEST_SKIP() << "huge pages of this kernel are as large as the windows of these tests";
  const auto window = new_window();
  for (const std::size_t bytes : {std::size_t{16}, huge, huge / 2, 2 * huge + huge * 3 / 4}) {
    ASSERT_NE(window->allocate(bytes, 64), nullptr) << window->why_refused();
  }
  std::size_t large = 0;
  window->for_each_chunk([&](const Chunk& chunk) {
    if (chunk.size < huge) return;
    ++large;
    EXPECT_EQ(chunk.address % huge, 0u);
    EXPECT_LT(chunk.size % huge, huge / 2) << "little would be wasted by another one";
  });
  EXPECT_GE(large, 2u);
}

TEST(Window, no_more_than_half_a_huge_page_is_wasted_for_being_one) {
  const std::size_t huge = os::huge_page_size();
  if (!have_room_for(huge)) GTEST_SKIP() << "huge pages of this kernel are as large as the windows of these tests";
  const auto window = new_window();
  ASSERT_NE(window->allocate(2 * huge + huge / 8, 64), nullptr) << window->why_refused();
  EXPECT_LE(window->usage().mapped, 2 * huge + huge / 8 + huge / 2);
}

TEST(Window, the_gap_before_huge_pages_serves_smaller_chunks) {
  const std::size_t huge = os::huge_page_size(), small = mib / 4;
  if (!have_room_for(huge)) GTEST_SKIP() << "huge pages of this kernel are as large as the windows of these tests";
  const auto window = new_window({.budget = small + 2 * huge + small});
  const auto address_of_new_chunk = [&](std::size_t block) {
    EXPECT_NE(window->allocate(block, 64), nullptr) << window->why_refused();
    std::uintptr_t address = 0;
    window->for_each_chunk([&](const Chunk& chunk) { address = chunk.address; });
    return address;
  };
  const std::uintptr_t first = address_of_new_chunk(small), second = address_of_new_chunk(2 * huge - mib / 16);
  EXPECT_EQ(second, first + huge);
  EXPECT_EQ(address_of_new_chunk(small), first + small);
}

TEST(Window, the_observer_knows_every_chunk_before_a_block_of_it_is_given_out) {
  Notes notes;
  const auto window = new_window({}, &notes);
  for (int i = 0; i < 20; ++i) {
    ASSERT_NE(window->allocate(mib, 64), nullptr);
    std::uint64_t newest = 0;
    window->for_each_chunk([&](const Chunk& chunk) { newest = chunk.id; });
    EXPECT_EQ(notes.added.back().first, newest);
  }
  for (std::size_t i = 0; i < notes.added.size(); ++i) EXPECT_EQ(notes.added[i].first, i + 1);
}

TEST(Window, chunks_are_sealed_so_that_nobody_else_can_write_them) {
  const auto window = new_window();
  window->allocate(16, 16);
  window->for_each_chunk([](const Chunk& chunk) {
    EXPECT_EQ(os::complaint_about_peer_memfd(chunk.memfd, chunk.size), std::nullopt);
    EXPECT_THROW(os::Mapping::map(chunk.memfd, chunk.size, os::Access::read_write), Error);
  });
}

TEST(Window, a_loop_of_allocate_and_free_maps_once) {
  Notes notes;
  const auto window = new_window({}, &notes);
  void* small = window->allocate(100, 16);
  for (int i = 0; i < 100; ++i) {
    void* large = window->allocate(6 * mib, 64);
    void* other = window->allocate(9 * mib, 64);
    window->free(large);
    window->free(other);
  }
  window->free(small);
  EXPECT_LE(notes.added.size(), 4u);
}

TEST(Window, empty_chunks_go_when_the_machine_has_no_memory_for_another) {
  Notes notes;
  const auto window = new_window({.available = [&] { return notes.dropped.size() < 2 ? 8 * mib : 24 * mib; }}, &notes);
  std::vector<void*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(window->allocate(8 * mib, 64));
  for (void* const block : blocks) window->free(block);
  EXPECT_NE(window->allocate(24 * mib, 64), nullptr) << window->why_refused();
  EXPECT_EQ(notes.dropped.size(), 2u);
}

TEST(Window, many_blocks_are_freed_at_once_while_others_allocate) {
  const auto window = new_window();
  std::vector<void*> blocks;
  for (int i = 0; i < 2'000; ++i) blocks.push_back(window->allocate(1'000, 16));
  std::atomic<bool> done = false;
  std::thread other([&] {
    while (!done) window->free(window->allocate(1'000, 16));
  });
  {
    Window::Freeing freeing(*window);
    for (void* const block : blocks) freeing.free(block);
    int elsewhere = 0;
    freeing.free(&elsewhere);
  }
  done = true;
  other.join();
  EXPECT_EQ(window->usage().in_use, 0u);
}

TEST(Window, F3_addresses_of_a_dropped_chunk_are_not_used_before_every_reader_has_unmapped_it) {
  Notes notes;
  // A machine that has just enough for the block, so that every chunk is one block.
  const auto window = new_window({.budget = 32 * mib, .available = [] { return 8 * mib; }}, &notes);
  void* first = window->allocate(8 * mib, 64);
  void* second = window->allocate(8 * mib, 64);
  window->free(first);
  EXPECT_EQ(window->allocate(25 * mib, 64), nullptr) << "which drops what is empty all the same";
  window->free(second);
  ASSERT_EQ(notes.dropped, (std::vector<std::uint64_t>{1}));
  EXPECT_FALSE(window->contains(first, 1));

  EXPECT_EQ(window->allocate(8 * mib, 64), second) << "the empty chunk that was kept";
  EXPECT_NE(window->allocate(8 * mib, 64), first);
  window->reuse_address(1);
  window->reuse_address(1);
  EXPECT_EQ(window->allocate(8 * mib, 64), first) << "addresses that were given back are wasted";
  EXPECT_NE(window->allocate(8 * mib, 64), first) << "they were given out twice";
  for (std::size_t i = 0; i < notes.added.size(); ++i) EXPECT_EQ(notes.added[i].first, i + 1) << "an id was used again";
  EXPECT_EQ(notes.added.size(), 5u);
}

TEST(Window, S4_memory_that_the_machine_cannot_give_is_refused_before_it_is_touched) {
  std::uint64_t available = 8 * mib;
  const auto window = new_window({.budget = 1024 * mib, .available = [&] { return available; }});
  EXPECT_EQ(window->allocate(9 * mib, 64), nullptr);
  EXPECT_NE(window->why_refused().find("9.0 MiB"), std::string::npos) << window->why_refused();
  EXPECT_NE(window->why_refused().find("8.0 MiB"), std::string::npos) << window->why_refused();
  EXPECT_EQ(window->usage().mapped, 0u);
  EXPECT_NE(window->allocate(8 * mib, 64), nullptr);
  available = mib;
  EXPECT_NE(window->allocate(mib, 64), nullptr) << "the chunk need not double when the machine has just enough for the block";
}

TEST(Window, a_block_beyond_the_budget_is_refused_with_a_sentence) {
  const auto window = new_window({.budget = 10 * mib});
  ASSERT_NE(window->allocate(6 * mib, 64), nullptr);
  EXPECT_EQ(window->allocate(6 * mib, 64), nullptr);
  EXPECT_NE(window->why_refused().find("budget of 10.0 MiB"), std::string::npos) << window->why_refused();
  EXPECT_NE(window->allocate(3 * mib, 64), nullptr) << "what is left of the budget can be used";
  EXPECT_LE(window->usage().mapped, 10 * mib);
}

TEST(Window, a_block_beyond_the_whole_budget_is_refused_with_both_sizes_and_nobody_makes_room_in_vain) {
  struct Asked : Notes {
    int times = 0;
    bool make_room(const Window::Refusal& /*refusal*/) noexcept override { return ++times < 3; }
  } asked;
  const auto window = new_window({.budget = 10 * mib}, &asked);
  EXPECT_EQ(window->allocate(20 * mib, 64), nullptr);
  EXPECT_EQ(asked.times, 0);
  const std::string why = window->why_refused();
  EXPECT_TRUE(why.starts_with("A message needs 20.") && why.find("more than its publisher's whole memory_budget of 10.0 MiB") != why.npos)
      << why;
}

TEST(Window, who_only_tries_gets_new_chunks_too_but_nobody_is_asked_to_make_room) {
  struct Asked : Notes {
    int times = 0;
    bool make_room(const Window::Refusal& /*refusal*/) noexcept override { return ++times < 3; }
  } asked;
  const auto window = new_window({.budget = 10 * mib}, &asked);
  EXPECT_NE(window->try_to_allocate(6 * mib, 64), nullptr);
  EXPECT_EQ(asked.added.size(), 1U);
  EXPECT_EQ(window->try_to_allocate(6 * mib, 64), nullptr);
  EXPECT_EQ(asked.times, 0);
  EXPECT_EQ(window->allocate(6 * mib, 64), nullptr);
  EXPECT_EQ(asked.times, 3);
}

TEST(Window, what_is_reserved_is_mapped_at_once_serves_blocks_and_stays_when_they_are_freed) {
  const auto window = new_window({.budget = 64 * mib});
  ASSERT_TRUE(window->reserve(10 * mib)) << window->why_refused();
  const std::size_t mapped = window->usage().mapped;
  EXPECT_GE(mapped, 10 * mib);
  for (int round = 0; round < 3; ++round) {
    void* const blocks[] = {window->allocate(4 * mib, 64), window->allocate(5 * mib, 64)};
    EXPECT_EQ(window->usage().mapped, mapped) << "no other chunk is needed";
    for (void* const block : blocks) window->free(block);
  }
  window->free(window->allocate(20 * mib, 64));  // makes a larger empty chunk, which is the one that is kept otherwise
  window->free(window->allocate(30 * mib, 64));
  void* const block = window->allocate(9 * mib, 64);
  ASSERT_NE(block, nullptr);
  window->free(block);
  EXPECT_GE(window->usage().mapped, mapped);
}

TEST(Window, what_cannot_be_reserved_is_refused_with_a_sentence) {
  const auto window = new_window({.budget = 10 * mib});
  EXPECT_FALSE(window->reserve(11 * mib));
  EXPECT_NE(window->why_refused().find("budget of 10.0 MiB"), std::string::npos) << window->why_refused();
  for (const std::size_t absurd : {~std::size_t{0}, ~std::size_t{0} - 70'000}) {
    EXPECT_FALSE(window->reserve(absurd));
    EXPECT_NE(window->why_refused().find("window of addresses"), std::string::npos) << window->why_refused();
  }
  EXPECT_EQ(window->usage().mapped, 0u);
}

TEST(Window, a_chunk_that_cannot_be_locked_into_memory_is_not_made) {
  const auto window = new_window({.budget = 64 * mib, .lock = true});
  os::fault::arm(os::fault::Call::mlock, 1, ENOMEM);
  EXPECT_EQ(window->allocate(mib, 64), nullptr);
  os::fault::disarm();
  EXPECT_NE(window->why_refused().find("ulimit -l"), std::string::npos) << window->why_refused();
  EXPECT_EQ(window->usage().mapped, 0u);
}

TEST(Window, an_empty_chunk_makes_room_in_the_budget_for_a_larger_block) {
  const auto window = new_window({.budget = 10 * mib});
  window->free(window->allocate(6 * mib, 64));
  EXPECT_NE(window->allocate(9 * mib, 64), nullptr) << window->why_refused();
}

TEST(Window, a_block_that_no_gap_of_the_window_holds_is_refused) {
  const auto window = new_window({.budget = 4096 * mib, .available = [] { return std::uint64_t{4096} * mib; }});
  EXPECT_EQ(window->allocate(Window::granule + 1, 64), nullptr);
  EXPECT_EQ(window->allocate(~std::size_t{0}, 64), nullptr);
  EXPECT_FALSE(window->why_refused().empty());
}

TEST(Window, a_system_call_that_fails_refuses_the_block_and_leaves_the_window_usable) {
  const auto descriptors = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  using os::fault::Call;
  for (const Call call : {Call::memfd_create, Call::ftruncate, Call::fallocate, Call::mmap, Call::madvise, Call::fcntl}) {
    const auto window = new_window();
    const auto before = descriptors();
    os::fault::arm(call, 1, ENOMEM);
    EXPECT_EQ(window->allocate(mib, 64), nullptr) << "call " << static_cast<int>(call);
    os::fault::disarm();
    EXPECT_FALSE(window->why_refused().empty());
    EXPECT_EQ(descriptors(), before);
    EXPECT_EQ(window->usage().mapped, 0u);
    EXPECT_NE(window->allocate(mib, 64), nullptr) << window->why_refused();
  }
}

TEST(Window, must_lie_on_whole_gibibytes_that_no_other_window_has) {
  new_base();  // a gap before
  const auto base = new_base();
  const auto window = new_window({}, nullptr, base);
  EXPECT_THROW(Window::create(base, Window::granule, {}, nullptr), Error);
  EXPECT_THROW(Window::create(base + mib, Window::granule, {}, nullptr), Error);
  EXPECT_THROW(Window::create(base + Window::granule, mib, {}, nullptr), Error);
  EXPECT_THROW(Window::create(std::uintptr_t{1} << 50, Window::granule, {}, nullptr), Error);
  EXPECT_EQ(Window::owner_of(reinterpret_cast<void*>(base)), window.get());
  const auto next = new_base();
  EXPECT_THROW(Window::create(base - Window::granule, 2 * Window::granule, {}, nullptr), Error);
  EXPECT_EQ(Window::owner_of(reinterpret_cast<void*>(base - 1)), nullptr) << "half a window was entered";
  const auto neighbour = new_window({}, nullptr, next);
  EXPECT_EQ(Window::owner_of(reinterpret_cast<void*>(next)), neighbour.get());
}

// Blocks are allocated here and freed there; each carries its own address as a canary.
TEST(Window, blocks_may_be_freed_by_any_thread) {
  constexpr int threads = 4;
  const auto window = new_window();
  std::array<std::atomic<std::uintptr_t*>, 64> exchange{};
  std::atomic<int> broken = 0;
  std::vector<std::thread> all;
  all.reserve(threads);
  for (int t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      std::mt19937 random(static_cast<unsigned>(t));  // NOLINT: the same run every time
      for (int i = 0; i < 20'000; ++i) {
        const std::size_t size = i % 50 == 0 ? 40'000 + random() % 100'000 : 16 + random() % 3000;
        auto* block = static_cast<std::uintptr_t*>(window->allocate(size, 16));
        if (block == nullptr) continue;
        block[0] = block[1] = reinterpret_cast<std::uintptr_t>(block);
        std::uintptr_t* other = exchange[random() % exchange.size()].exchange(block);
        if (other == nullptr) continue;
        if (other[0] != reinterpret_cast<std::uintptr_t>(other) || other[1] != other[0]) ++broken;
        window->free(other);
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  EXPECT_EQ(broken, 0);
  for (auto& block : exchange) {
    if (block != nullptr) window->free(block);
  }
  EXPECT_EQ(window->usage().blocks, 0u);
}

TEST(Window, random_use_keeps_contents_and_containment) {
  Notes notes;
  const auto window = new_window({}, &notes);
  std::map<unsigned char*, std::pair<std::size_t, unsigned char>> model;
  std::mt19937 random(11);  // NOLINT: the same run every time
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 100 < 52) {
      const std::size_t size = 1 + random() % (random() % 20 == 0 ? 400'000 : 4000);
      const auto mark = static_cast<unsigned char>(random());
      auto* block = static_cast<unsigned char*>(window->allocate(size, 16));
      ASSERT_NE(block, nullptr) << window->why_refused();
      ASSERT_TRUE(window->contains(block, size));
      block[0] = block[size - 1] = mark;
      ASSERT_TRUE(model.emplace(block, std::pair(size, mark)).second);
    } else if (!model.empty()) {
      auto victim = model.begin();
      std::advance(victim, random() % model.size());
      const auto [size, mark] = victim->second;
      ASSERT_EQ(victim->first[0], mark);
      ASSERT_EQ(victim->first[size - 1], mark);
      window->free(victim->first);
      model.erase(victim);
    }
    for (; !notes.dropped.empty(); notes.dropped.pop_back()) window->reuse_address(notes.dropped.back());
    ASSERT_EQ(window->usage().blocks, model.size());
  }
}

}  // namespace
}  // namespace sinew::shm
