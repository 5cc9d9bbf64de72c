#include "session/counters.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

#include <memory>
#include <new>
#include <vector>

#include "base/tests/heap.hpp"

namespace sinew::session {
namespace {

std::size_t slots_of_file(std::size_t index) {
  return slots_of_counter_file(counter_file_size(index));
}

std::size_t heap_in_use() {
  const auto heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

TEST(CountersOfANode, take_memory_of_their_own_for_a_pointer_to_each_slot_and_twice_as_many_at_most) {
  const auto counters = std::make_shared<Counters>([](const auto&, std::uint32_t) {});
  std::vector<Counters::Slot> taken;
  std::size_t slots = 0;
  for (std::size_t file = 0; file < 8; ++file) slots += slots_of_file(file);
  taken.reserve(slots + slots_of_file(8));
  while (taken.size() < slots) taken.push_back(counters->of_publisher(1));
  const std::size_t before = heap_in_use();
  taken.push_back(counters->of_publisher(1));
  // Besides the room for pointers there are the objects of a file.
  EXPECT_LE(heap_in_use(), before + 2 * slots_of_file(8) * sizeof(void*) + std::size_t{16} * 1024);
  while (taken.size() < slots + slots_of_file(8)) taken.push_back(counters->of_publisher(1));
  fail_all_allocations();
  taken.clear();  // there is room for all that are given back
  fail_no_allocation();
}

TEST(CountersOfANode, are_private_where_there_is_no_memory_to_share_them) {
  std::size_t files = 0;
  bool failed = true;
  for (int after = 0; failed; ++after) {
    const auto counters = std::make_shared<Counters>([&](const auto&, std::uint32_t) { ++files; });
    try {
      fail_allocation(after);
      const Counters::Slot slot = counters->of_publisher(1);
      failed = allocation_has_failed();
      fail_no_allocation();
      slot.published().messages = 7;
      EXPECT_EQ(slot.published().messages, 7u);
    } catch (const std::bad_alloc&) {
      fail_no_allocation();
      ADD_FAILURE() << "a publisher is refused for the failure of allocation " << after;
    }
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace sinew::session
