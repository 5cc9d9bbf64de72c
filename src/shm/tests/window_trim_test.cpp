// What a window drops: when, and what becomes of it until readers have unmapped it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "os/memory.hpp"
#include "shm/tests/notes.hpp"
#include "shm/window.hpp"

namespace sinew::shm {
namespace {

TEST(Window, of_several_empty_chunks_only_the_largest_is_kept_for_long) {
  Notes notes;
  const auto window = new_window({}, &notes);
  void* const stays = window->allocate(100, 16);
  const auto use_all = [&] {
    std::vector<void*> blocks;
    for (const std::size_t size : {mib, 4 * mib, 16 * mib}) blocks.push_back(window->allocate(size, 64));
    for (const std::size_t i : {2u, 0u, 1u}) window->free(blocks[i]);
  };
  const auto trim = [&] {
    const bool again = window->look_for_idle();
    while (window->trim_next()) window->reuse_address(notes.dropped.back());
    return again;
  };
  for (int i = 0; i < 5; ++i) {
    use_all();
    EXPECT_TRUE(trim());
  }
  EXPECT_EQ(notes.added.size(), 4u) << "what is used again and again was unmapped in between";
  EXPECT_TRUE(trim()) << "the one that is in use may go next time";
  EXPECT_EQ(notes.dropped, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_TRUE(trim());
  window->free(stays);
  EXPECT_TRUE(trim()) << "it was in use a moment ago";
  EXPECT_FALSE(trim());
  EXPECT_EQ(notes.dropped, (std::vector<std::uint64_t>{2, 3, 1}));
}

TEST(Window, M4_of_empty_chunks_no_more_than_one_goes_until_readers_have_unmapped_it) {
  Notes notes;
  const auto window = new_window({.budget = 64 * mib}, &notes);
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(window->allocate(8 * mib, 64));
  for (void* const block : blocks) window->free(block);
  for (int look = 0; look < 5; ++look) {
    window->look_for_idle();
    window->trim_next();
  }
  ASSERT_EQ(notes.dropped.size(), 1u);
  EXPECT_EQ(window->usage().unreleased, notes.added[notes.dropped[0] - 1].second);
  window->reuse_address(notes.dropped[0]);
  EXPECT_EQ(window->usage().unreleased, 0u);
  EXPECT_TRUE(window->trim_next());
  EXPECT_EQ(notes.dropped.size(), 2u);
}

TEST(Window, F3_of_a_chunk_that_is_dropped_is_told_when_it_is_mapped_here_no_more) {
  struct : Notes {
    void chunk_added(const Chunk& chunk) override {
      Notes::chunk_added(chunk);
      addresses.push_back(chunk.address);
    }
    void chunk_dropped(std::uint64_t id) override {
      Notes::chunk_dropped(id);
      const std::uintptr_t address = addresses[id - 1];
      still_mapped += ::msync(reinterpret_cast<void*>(address), os::page_size(), MS_ASYNC) == 0;
    }
    std::vector<std::uintptr_t> addresses;
    int still_mapped = 0;
  } notes;
  const auto window = new_window({.budget = 32 * mib}, &notes);
  std::vector<void*> blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(window->allocate(8 * mib, 64));
  for (void* const block : blocks) window->free(block);
  window->look_for_idle();
  window->look_for_idle();
  EXPECT_TRUE(window->trim_next());
  EXPECT_NE(window->allocate(25 * mib, 64), nullptr) << window->why_refused();
  EXPECT_GE(notes.dropped.size(), 2u);
  EXPECT_EQ(notes.still_mapped, 0);
}

struct Readers final : Notes {
  bool make_room(const Window::Refusal& refusal) noexcept override {
    refusals.push_back(refusal);
    if (!answer || dropped.empty()) return false;
    window->reuse_address(dropped.back());
    dropped.pop_back();
    return true;
  }
  Window* window = nullptr;
  bool answer = false;
  std::vector<Window::Refusal> refusals;
};

TEST(Window, M4_what_readers_do_not_unmap_counts_and_there_is_room_for_as_much_again) {
  Readers readers;
  const auto window = new_window({.budget = 32 * mib}, &readers);
  readers.window = window.get();
  for (const std::size_t size : {20 * mib, 24 * mib}) {
    void* const block = window->allocate(size, 64);
    ASSERT_NE(block, nullptr) << window->why_refused();
    window->free(block);
  }
  EXPECT_EQ(window->usage().unreleased, 20 * mib);
  EXPECT_EQ(window->allocate(30 * mib, 64), nullptr) << "two that were dropped, and this one";
  ASSERT_EQ(readers.refusals.size(), 1u);
  EXPECT_EQ(readers.refusals[0].unreleased, 20 * mib);
  EXPECT_FALSE(readers.refusals[0].may_fit) << "into the one of 24 MiB";
  EXPECT_NE(window->why_refused().find("stopped"), std::string::npos) << window->why_refused();
  const Window::Usage usage = window->usage();
  EXPECT_LE(usage.mapped + usage.unreleased, 64 * mib);
  void* const fits = window->allocate(24 * mib, 64);
  EXPECT_NE(fits, nullptr) << "what was empty was given up in vain";
  window->free(fits);
  readers.answer = true;
  void* const block = window->allocate(30 * mib, 64);
  EXPECT_NE(block, nullptr) << window->why_refused();
  ASSERT_EQ(readers.refusals.size(), 2u);
  EXPECT_EQ(readers.refusals[1].unreleased, 20 * mib);
}

TEST(Window, what_would_fit_into_a_chunk_that_is_there_is_said_to_when_there_can_be_no_other) {
  Readers readers;
  const auto window = new_window({.budget = 32 * mib}, &readers);
  void* block = nullptr;
  for (const std::size_t size : {20 * mib, 24 * mib}) {
    window->free(block);
    block = window->allocate(size, 64);
    ASSERT_NE(block, nullptr) << window->why_refused();
  }
  EXPECT_EQ(window->allocate(24 * mib, 64), nullptr);
  EXPECT_EQ(window->allocate(21 * mib, 64), nullptr);
  ASSERT_EQ(readers.refusals.size(), 2u);
  for (const Window::Refusal& refusal : readers.refusals) EXPECT_TRUE(refusal.may_fit);
}

}  // namespace
}  // namespace sinew::shm
