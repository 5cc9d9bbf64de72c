#include "session/in_process/local_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "session/callbacks/execution_thread.hpp"

namespace sinew::session {
namespace {

struct Message {
  std::uint64_t number = 0;
  std::string text;
};

std::string text_of(std::uint64_t number) {
  return "message number " + std::to_string(number) + ", longer than a small string";
}

class MessageObjects final : public Objects {
 public:
  void* copy(const void* object) const override { return new Message(*static_cast<const Message*>(object)); }
  void* take_over(void* object) const override { return new Message(std::move(*static_cast<Message*>(object))); }
  void dispose(void* object) const noexcept override { delete static_cast<Message*>(object); }
  std::size_t size() const noexcept override { return sizeof(Message); }
  std::size_t alignment() const noexcept override { return alignof(Message); }
  void copy_to(void* at, const void* object) const override {
    if (fails.load(std::memory_order_relaxed)) throw std::bad_alloc();
    ::new (at) Message(*static_cast<const Message*>(object));
  }
  void move_to(void* at, void* object) const override {
    if (moves_fail.load(std::memory_order_relaxed)) throw std::bad_alloc();
    ::new (at) Message(std::move(*static_cast<Message*>(object)));
  }
  void destroy(void* at) const noexcept override { static_cast<Message*>(at)->~Message(); }
  std::uint64_t bytes(const void*) const noexcept override { return sizeof(Message); }

  std::atomic<bool> fails{false}, moves_fail{false};
};

class LocalQueueOf : public ::testing::TestWithParam<Buffer> {
 protected:
  LocalQueue make(std::uint32_t depth, bool holds_back = false, std::function<void()> made_space = [] {}) const {
    return LocalQueue({.buffer = GetParam(), .depth = depth, .holds_back = holds_back, .thinning = {}, .publisher = {}, .subscriber = {}},
                      counters_->of_pair(1, 2), objects_, std::make_shared<Doorbell>(), std::move(made_space));
  }
  void put(LocalQueue& queue, std::uint64_t number) const {
    const Message message{number, text_of(number)};
    LocalQueue::Item item;
    item.sequence = number;
    item.source_time = static_cast<std::int64_t>(number);
    if (GetParam() == Buffer::shared) item.shared = std::make_shared<const Message>(message);
    if (GetParam() == Buffer::owned) item.owned = {new Message(message), {objects_.get()}};
    if (GetParam() == Buffer::value) item.copied = &message;
    queue.put(item);
  }
  const std::shared_ptr<MessageObjects> objects_ = std::make_shared<MessageObjects>();
  const std::shared_ptr<Counters> counters_ = std::make_shared<Counters>([](const auto&, std::uint32_t) {});
};

TEST_P(LocalQueueOf, messages_come_out_in_their_order_and_the_newest_stay_when_it_is_full) {
  LocalQueue queue = make(3);
  for (std::uint64_t number = 1; number <= 5; ++number) put(queue, number);
  EXPECT_TRUE(queue.is_full());
  EXPECT_EQ(queue.waiting(), 5U) << "that two are missed is counted when one is taken";
  EXPECT_EQ(queue.kept(), 3U);
  for (std::uint64_t number = 3; number <= 5; ++number) {
    const auto arrival = queue.take();
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->sequence, number);
    EXPECT_EQ(static_cast<const Message*>(arrival->look())->text, text_of(number));
    EXPECT_EQ(arrival->missed, number == 3 ? 2U : 0U);
  }
  EXPECT_FALSE(queue.has_news());
  EXPECT_FALSE(queue.take());
  EXPECT_EQ(queue.missed(), 2U);
  EXPECT_EQ(queue.received(), 3U);
}

TEST_P(LocalQueueOf, what_a_taker_far_behind_has_missed_is_counted_at_once) {
  LocalQueue queue = make(2);
  for (std::uint64_t number = 1; number <= 1000; ++number) put(queue, number);
  const auto arrival = queue.take();
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->sequence, 999U);
  EXPECT_EQ(arrival->missed, 998U);
}

TEST_P(LocalQueueOf, a_publisher_and_a_taker_at_once_lose_nothing_that_is_not_counted) {
  for (const std::uint32_t depth : {1U, 2U, 7U}) {
    LocalQueue queue = make(depth);
    constexpr std::uint64_t count = 50'000;
    std::thread publisher([&] {
      for (std::uint64_t number = 1; number <= count; ++number) put(queue, number);
      queue.publisher_gone();
    });
    std::uint64_t last = 0, got = 0, missed = 0;
    while (!queue.finished()) {
      const auto arrival = queue.take();
      if (!arrival) continue;
      const auto& message = *static_cast<const Message*>(arrival->look());
      ASSERT_EQ(message.number, arrival->sequence);
      ASSERT_EQ(message.text, text_of(arrival->sequence));
      ASSERT_EQ(arrival->sequence, last + 1 + arrival->missed);
      last = arrival->sequence;
      missed += arrival->missed;
      ++got;
    }
    publisher.join();
    EXPECT_EQ(last, count);
    EXPECT_EQ(got + missed, count);
    EXPECT_EQ(queue.received(), got);
    EXPECT_EQ(queue.missed(), missed);
  }
}

TEST_P(LocalQueueOf, a_publisher_goes_on_while_the_queue_is_closed) {
  for (int round = 0; round < 100; ++round) {
    LocalQueue queue = make(4);
    std::thread publisher([&] {
      for (std::uint64_t number = 1; number <= 200; ++number) put(queue, number);
    });
    for (int i = 0; i < 20; ++i) queue.take();
    queue.close();
    publisher.join();
    EXPECT_FALSE(queue.is_open());
  }
}

INSTANTIATE_TEST_SUITE_P(Buffers, LocalQueueOf, ::testing::Values(Buffer::shared, Buffer::owned, Buffer::value), [](const auto& buffer) {
  return std::string(buffer.param == Buffer::shared ? "shared" : buffer.param == Buffer::owned ? "owned" : "value");
});

class LocalQueueOfValues : public LocalQueueOf {};

TEST_P(LocalQueueOfValues, a_message_that_cannot_be_copied_counts_as_missed_and_pushes_nothing_out) {
  LocalQueue queue = make(2);
  put(queue, 1);
  put(queue, 2);
  objects_->fails = true;
  put(queue, 3);
  EXPECT_EQ(queue.waiting(), 2U);
  EXPECT_EQ(queue.missed(), 1U);
  EXPECT_EQ(queue.take()->sequence, 1U);
  EXPECT_EQ(queue.take()->sequence, 2U);
}

TEST_P(LocalQueueOfValues, an_object_that_was_given_to_a_full_queue_is_handed_out_once) {
  LocalQueue queue = make(3);
  for (std::uint64_t number = 1; number <= 12; ++number) {
    LocalQueue::Item item;
    item.owned = {new Message{number, text_of(number)}, {objects_.get()}};
    item.sequence = number;
    queue.put(item);
  }
  for (std::uint64_t number = 10; number <= 12; ++number) {
    const auto arrival = queue.take();
    ASSERT_TRUE(arrival);
    EXPECT_EQ(arrival->sequence, number);
    EXPECT_EQ(static_cast<const Message*>(arrival->look())->text, text_of(number));
  }
}

TEST_P(LocalQueueOfValues, one_that_there_is_no_memory_to_look_at_counts_as_missed_and_the_next_ones_come) {
  LocalQueue queue = make(2);
  put(queue, 1);
  put(queue, 2);
  EXPECT_EQ(queue.take()->sequence, 1U);
  objects_->moves_fail = true;
  EXPECT_THROW(queue.take(), std::bad_alloc);
  objects_->moves_fail = false;
  EXPECT_EQ(queue.missed(), 1U);
  for (std::uint64_t number = 3; number <= 8; ++number) put(queue, number);
  const auto arrival = queue.take();
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->sequence, 7U);
  EXPECT_EQ(arrival->missed, 5U);
  EXPECT_EQ(queue.missed(), 5U);
}

TEST_P(LocalQueueOfValues, one_that_there_is_no_memory_to_look_at_makes_space_for_a_publisher_that_waits) {
  int told = 0;
  LocalQueue queue = make(2, true, [&] { ++told; });
  put(queue, 1);
  objects_->moves_fail = true;
  EXPECT_THROW(queue.take(), std::bad_alloc);
  EXPECT_EQ(told, 1);
}

INSTANTIATE_TEST_SUITE_P(Buffers, LocalQueueOfValues, ::testing::Values(Buffer::value), [](const auto&) { return std::string("value"); });

}  // namespace
}  // namespace sinew::session
