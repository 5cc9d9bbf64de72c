// Random values, and random damage to them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "msg/std_layout.hpp"
#include "random_values.hpp"

namespace sinew::msg::testing {
namespace {

template <class T>
class Property : public ::testing::Test {
 public:
  struct alignas(T) Room {
    std::byte bytes[sizeof(T)];
  };
};
using Types = ::testing::Types<Whole, Mixed>;
struct TypeNames {
  template <class T>
  static std::string GetName(int) {
    return std::is_same_v<T, Whole> ? "Whole" : "Mixed";
  }
};
TYPED_TEST_SUITE(Property, Types, TypeNames);

TYPED_TEST(Property, a_copy_equals_its_source_and_an_audit_keeps_the_value) {
  Random random(1);
  for (int i = 0; i < 500; ++i) {
    const TypeParam source = random_value<TypeParam>(random);
    Published<TypeParam> published(source);
    ASSERT_EQ(published.value, source);
    ASSERT_EQ(published.complaint(), "");
    Arena arena;
    typename TestFixture::Room room;
    const Copied copied = copy_value(published.type, &source, &room, arena);
    ASSERT_TRUE(copied.complete);
    ASSERT_EQ(*reinterpret_cast<TypeParam*>(&room), source);
    ASSERT_EQ(copied.bytes, audit(published.type, &published.value, published.arena, published.arena).size);
    std::destroy_at(reinterpret_cast<TypeParam*>(&room));
  }
}

// Every word of the message's memory, storage included.
std::vector<std::uint64_t*> words_of(const Arena& arena) {
  std::vector<std::uint64_t*> words;
  for (const auto& [address, size] : arena.blocks()) {
    for (std::size_t at = 0; at + sizeof(std::uint64_t) <= size; at += sizeof(std::uint64_t)) {
      words.push_back(static_cast<std::uint64_t*>(offset_by(const_cast<void*>(address), at)));
    }
  }
  return words;
}

TYPED_TEST(Property, S16_a_pointer_to_outside_is_refused_wherever_it_is) {
  Random random(2);
  for (int i = 0; i < 200; ++i) {
    Published<TypeParam> published(random_value<TypeParam>(random));
    std::vector<const void*> blocks;
    list_storage(published.type, &published.value, blocks);
    const auto words = words_of(published.arena);
    for (const void* block : blocks) {
      bool refused = false;  // a value that is not in use, in an empty optional or a short string, may look like the pointer too
      for (std::uint64_t* word : words) {
        if (std::memcmp(word, &block, sizeof block) != 0) continue;
        *word ^= std::uint64_t{1} << 46;
        refused |= !published.complaint().empty();
        *word ^= std::uint64_t{1} << 46;
      }
      ASSERT_TRUE(refused);
    }
    ASSERT_EQ(published.complaint(), "");
  }
}

// Changes words of a message, and puts them right again, as fast as it can.
class Vandal {
 public:
  explicit Vandal(const Arena& arena) : words_(words_of(arena)), thread_([this] { run(); }) {}
  ~Vandal() {
    over_ = true;
    thread_.join();
  }

 private:
  void run() {
    Random random(11);
    while (!over_.load(std::memory_order_relaxed)) {
      const std::atomic_ref word(*words_[below(random, words_.size())]);
      const std::uint64_t before = word.load(std::memory_order_relaxed);
      word.store(below(random, 2) == 0 ? random() : before ^ (std::uint64_t{1} << below(random, 64)), std::memory_order_relaxed);
      for (std::size_t pause = below(random, 300); pause > 0; --pause) over_.load();
      word.store(before, std::memory_order_relaxed);
    }
  }

  std::vector<std::uint64_t*> words_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

TYPED_TEST(Property, S16_a_message_that_changes_while_it_is_checked_or_copied_brings_about_no_fault) {
  if (finds_races) GTEST_SKIP() << "the race is the test";
  int passed = 0, refused = 0;
  Random random(12);
  const auto patience =
      std::chrono::steady_clock::now() + std::chrono::minutes(1);  // a busy machine may not let the two run together for a while
  for (int i = 0; i < 20 || (refused == 0 && std::chrono::steady_clock::now() < patience); ++i) {
    Published<TypeParam> published(random_value<TypeParam>(random));
    const Vandal vandal(published.arena);
    for (int j = 0; j < 500; ++j) {
      complaint_about(published.type, &published.value, published.arena) ? ++refused : ++passed;
      Arena arena;
      typename TestFixture::Room room;
      const CheckedCopy copied = copy_checked(published.type, &published.value, &room, arena, published.arena, 1 << 20);
      if (copied.complaint.empty()) {
        arena.adopt(&room, sizeof room);
        ASSERT_EQ(complaint_about(published.type, &room, arena), std::nullopt);
        free_storage(published.type, &room, arena);
      } else {
        ASSERT_EQ(arena.block_count(), 0U) << copied.complaint;
      }
    }
  }
  EXPECT_GT(passed, 0);
  EXPECT_GT(refused, 0);
}

TYPED_TEST(Property, S16_whatever_passes_after_damage_can_be_read_and_copied) {
  Random random(3);
  int passed = 0, refused = 0;
  for (int i = 0; i < 100; ++i) {
    Published<TypeParam> published(random_value<TypeParam>(random));
    const auto words = words_of(published.arena);
    for (int j = 0; j < 200; ++j) {
      std::uint64_t* const word = words[below(random, words.size())];
      std::uint64_t before, after;
      std::memcpy(&before, word, sizeof before);
      switch (below(random, 3)) {
        case 0:
          after = before ^ (std::uint64_t{1} << below(random, 64));
          break;
        case 1:
          after = before + 8 * below(random, 32) - 128;
          break;
        default:
          after = random();
      }
      std::memcpy(word, &after, sizeof after);
      Arena copies;
      typename TestFixture::Room copy;
      if (copy_checked(published.type, &published.value, &copy, copies, published.arena, 1 << 20).complaint.empty()) {
        copies.adopt(&copy, sizeof copy);
        ASSERT_EQ(complaint_about(published.type, &copy, copies), std::nullopt);
        free_storage(published.type, &copy, copies);
      } else {
        ASSERT_EQ(copies.block_count(), 0U);
      }
      if (complaint_about(published.type, &published.value, published.arena)) {
        ++refused;
      } else {
        Arena arena;
        typename TestFixture::Room room;
        ASSERT_TRUE(copy_value(published.type, &published.value, &room, arena).complete);
        free_storage(published.type, &room, arena);
        ++passed;
      }
      std::memcpy(word, &before, sizeof before);
    }
  }
  EXPECT_GT(passed, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace sinew::msg::testing
