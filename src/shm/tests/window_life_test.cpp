// What becomes of a window's memory when its publisher is gone.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>

#include "shm/scope.hpp"
#include "shm/tests/notes.hpp"
#include "sinew/error.hpp"

namespace sinew::shm {
namespace {

// A reader's own view of the chunk that a block lies in. At another address, since the block's own is taken by this process.
struct View {
  os::Mapping mapping;
  const char* block = nullptr;
};

View view_of(const Window& window, const void* block) {
  View view;
  window.for_each_chunk([&](const Chunk& chunk) {
    const auto offset = reinterpret_cast<std::uintptr_t>(block) - chunk.address;
    if (offset >= chunk.size) return;
    view.mapping = os::Mapping::map(chunk.memfd, chunk.size, os::Access::read);
    view.block = reinterpret_cast<const char*>(view.mapping.data()) + offset;
  });
  return view;
}

TEST(WindowLife, F2_what_readers_claim_is_neither_written_nor_reused_when_the_publisher_closes) {
  const auto window = new_window();
  auto* claimed = static_cast<char*>(window->allocate(100'000, 64));
  auto* small = static_cast<char*>(window->allocate(40, 16));
  auto* own = static_cast<char*>(window->allocate(100'000, 64));
  std::memset(claimed, 'c', 100'000);
  std::memset(small, 's', 40);
  const View view = view_of(*window, claimed);
  const View small_view = view_of(*window, small);
  int elsewhere = 0;
  window->close({claimed, small, claimed, &elsewhere, nullptr});

  EXPECT_EQ(window->allocate(40, 16), nullptr);
  EXPECT_TRUE(window->contains(own, 100'000)) << "the publisher's user still holds a block there";
  window->free(claimed);
  window->free(small);
  EXPECT_TRUE(window->contains(own, 100'000)) << "an abandoned block was counted twice";
  window->free(own);
  EXPECT_FALSE(window->contains(own, 1)) << "nothing of this process lives there any more";
  for (int i = 0; i < 100'000; ++i) ASSERT_EQ(view.block[i], 'c');
  for (int i = 0; i < 40; ++i) ASSERT_EQ(small_view.block[i], 's');
}

TEST(WindowLife, F5_storage_that_outlives_its_publisher_keeps_its_chunk_until_it_is_freed) {
  auto window = new_window();
  auto* small = static_cast<char*>(window->allocate(100, 16));
  auto* large = static_cast<char*>(window->allocate(2 * mib, 64));
  window.reset();
  Window* zombie = Window::owner_of(large);
  ASSERT_NE(zombie, nullptr);
  EXPECT_EQ(zombie->allocate(100, 16), nullptr);
  std::memset(large, 'x', 2 * mib);
  zombie->free(large);
  EXPECT_FALSE(zombie->contains(large, 1));
  std::memset(small, 'x', 100);
  zombie->free(small);
  EXPECT_EQ(Window::owner_of(small), nullptr);
}

TEST(WindowLife, F5_a_window_that_is_gone_with_its_last_block_leaves_its_addresses_to_a_new_one) {
  const std::uintptr_t base = new_base();
  for (int round = 0; round < 3; ++round) {
    auto window = new_window({}, nullptr, base);
    void* block = window->allocate(100, 16);
    window.reset();
    EXPECT_THROW(new_window({}, nullptr, base), Error);
    Window::owner_of(block)->free(block);
  }
}

TEST(WindowLife, F5_the_publisher_hears_once_when_the_last_chunk_is_gone) {
  auto window = new_window();
  int dead = 0;
  void* kept = window->allocate(100, 16);
  window->close({}, [&] { ++dead; });
  window->close({}, [&] { dead += 10; });
  window.reset();
  EXPECT_EQ(dead, 0) << "a block still lives";
  Window::owner_of(kept)->free(kept);
  EXPECT_EQ(dead, 1);
  new_window()->close({}, [&] { ++dead; });
  EXPECT_EQ(dead, 2) << "nothing was ever mapped";
}

TEST(WindowLife, F5_what_somebody_looks_at_stays_as_it_is_though_it_was_freed_until_the_last_one_looks_away) {
  const auto window = new_window({.budget = 64 * mib});
  auto* const large = static_cast<char*>(window->allocate(8 * mib, 64));
  auto* const small = static_cast<char*>(window->allocate(100, 16));
  std::memset(large, 'l', 8 * mib);
  std::memset(small, 's', 100);
  auto look = window->keep(large), once_more = window->keep(large), aside = window->keep(small);
  window->free(large);
  window->free(small);
  EXPECT_EQ(window->usage().blocks, 2u);
  EXPECT_NE(window->allocate(100, 16), small);
  EXPECT_NE(window->allocate(8 * mib, 64), large);
  for (int i = 0; i < 2; ++i) {
    window->look_for_idle();
    window->trim_next();
  }
  look.reset();
  ASSERT_TRUE(window->contains(large, 8 * mib));
  EXPECT_EQ(std::count(large, large + 8 * mib, 'l'), static_cast<std::ptrdiff_t>(8 * mib));
  EXPECT_EQ(std::count(small, small + 100, 's'), 100);
  once_more.reset();
  EXPECT_EQ(window->allocate(8 * mib, 64), large) << "it is free now, and not before";
  aside.reset();
  EXPECT_EQ(window->allocate(100, 16), small);
  window->keep(small).reset();
  EXPECT_EQ(window->usage().blocks, 4u) << "who looked at what nobody has freed leaves it alone";
}

TEST(WindowLife, F5_what_somebody_looks_at_outlives_window_and_publisher_whether_readers_claim_it_or_not) {
  for (const bool is_claimed : {false, true}) {
    SCOPED_TRACE(is_claimed ? "claimed" : "freed");
    auto window = new_window();
    auto* const block = static_cast<char*>(window->allocate(mib, 64));
    std::memset(block, 'b', mib);
    auto look = window->keep(block);
    int dead = 0;
    if (!is_claimed) window->free(block);
    window->close(is_claimed ? std::vector<const void*>{block} : std::vector<const void*>{}, [&] { ++dead; });
    window.reset();
    EXPECT_EQ(std::count(block, block + mib, 'b'), static_cast<std::ptrdiff_t>(mib));
    EXPECT_EQ(dead, 0);
    look.reset();
    EXPECT_EQ(dead, 1);
    EXPECT_EQ(Window::owner_of(block), nullptr);
  }
}

TEST(WindowLife, a_closed_window_is_unregistered_even_while_its_publisher_object_lives) {
  const auto window = new_window();
  void* block = window->allocate(100, 16);
  window->free(block);
  window->close({});
  window->close({});
  EXPECT_EQ(window->usage().mapped, 0u);
  EXPECT_EQ(Window::owner_of(block), nullptr);
}

TEST(WindowLife, after_close_the_observer_is_left_alone) {
  std::optional<Notes> notes(std::in_place);
  const auto window = new_window({}, &*notes);
  void* block = window->allocate(100, 16);
  window->close({});
  EXPECT_TRUE(notes->dropped.empty());
  notes.reset();
  window->free(block);
}

std::size_t lines_of(const char* file) {
  std::ifstream in(file);
  return static_cast<std::size_t>(std::count(std::istreambuf_iterator<char>(in), {}, '\n'));
}

TEST(WindowLife, a_thousand_publishers_leave_descriptors_and_mappings_where_they_were) {
  const std::uintptr_t base = new_base();
  const auto live_once = [&] {
    const auto window = new_window({}, nullptr, base);
    void* claimed = window->allocate(1000, 16);
    void* moved_out = window->allocate(mib, 64);
    window->close({claimed});
    window->free(moved_out);
  };
  live_once();
  const auto mappings = lines_of("/proc/self/maps");
  const int descriptor = dup(0);
  for (int i = 0; i < 1000; ++i) live_once();
  EXPECT_EQ(lines_of("/proc/self/maps"), mappings);
  close(descriptor);
  const int same = dup(0);
  EXPECT_EQ(same, descriptor);
  close(same);
}

TEST(WindowLife, S8_in_a_child_of_fork_every_window_is_dead_and_nothing_is_touched) {
  const std::uintptr_t base = new_base();
  auto window = new_window({}, nullptr, base);
  add_window_range(base, base + Window::granule);
  void* block = window->allocate(1000, 16);
  const pid_t child = fork();
  if (child == 0) {
    after_fork_in_child();
    const AllocationScope scope(window.get());
    const bool inert = scope_allocate(100, 16) == nullptr && window->allocate(100, 16) == nullptr && scope_free(block);
    window->free(block);
    window->close({});
    window.reset();
    _exit(inert ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(window->usage().blocks, 1u);
}

}  // namespace
}  // namespace sinew::shm
