// In C: loans that are published in pieces, what is kept of loans, and timers.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "bindings/c/sinew.h"
#include "bindings/c/tests/in_c.hpp"

namespace sinew::system {
namespace {

using Pieces = InC;
using TimerInC = InC;

TEST_F(Pieces, WhatLiesInALoanIsNotCopiedAndMayBeWrittenBeforeWhatComesBeforeIt) {
  sinew_publisher* publisher = nullptr;
  sinew_subscriber* subscriber = nullptr;
  const char* const type = "Image{frame_id:string;data:uint8[];rows:uint32;}";
  ASSERT_EQ(sinew_publisher_create(node, "image", type, nullptr, nullptr, &publisher), SINEW_OK) << sinew_last_error();
  ASSERT_EQ(sinew_subscriber_create(node, "image", type, nullptr, nullptr, &subscriber), SINEW_OK) << sinew_last_error();
  ASSERT_TRUE(is_matched(publisher));
  constexpr std::uint32_t bytes = 100'000;
  // More than a ring: storage is given back and used again.
  for (std::uint32_t number = 0; number < 3000; ++number) {
    sinew_loan* loan = nullptr;
    std::uint8_t* data = nullptr;
    ASSERT_EQ(sinew_publisher_loan(publisher, bytes, &loan, &data), SINEW_OK) << sinew_last_error();
    std::memset(data, static_cast<int>(number), bytes);
    const Stream before{0, 1, 0, 0, 3, 0, 0, 0, 'm', 'y', 0, 0}, size{0xa0, 0x86, 1, 0}, after{7, 0, 0, 0};
    const std::array<sinew_extent, 5> extents{sinew_extent{before.data(), before.size()},
                                              {size.data(), size.size()},
                                              {data, bytes - 10},
                                              {data + bytes - 10, 10},
                                              {after.data(), after.size()}};
    ASSERT_EQ(sinew_publisher_publish_pieces(publisher, loan, extents.data(), extents.size()), SINEW_OK) << sinew_last_error();
    sinew_frame* frame = nullptr;
    ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK) << sinew_last_error();
    Stream expected = before;
    expected.insert(expected.end(), size.begin(), size.end());
    expected.resize(expected.size() + bytes, static_cast<std::uint8_t>(number));
    expected.insert(expected.end(), after.begin(), after.end());
    ASSERT_EQ(joined(frame), expected) << number;
    ASSERT_EQ(sinew_frame_extent_count(frame), 4U) << "what is copied side by side is one";
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(sinew_frame_extent(frame, 0).data + 4) % 16, 0U);
    sinew_frame_release(frame);
  }
  sinew_publisher_statistics published;
  ASSERT_EQ(sinew_publisher_get_statistics(publisher, &published), SINEW_OK);
  EXPECT_EQ(published.bytes_copied, 3000U * 20U);
  EXPECT_LT(published.memory_mapped, 100'000'000U);
  sinew_publisher_destroy(publisher);
  sinew_subscriber_destroy(subscriber);
}

TEST_F(Pieces, TheyStayWithTheirFrameWhenAllThatItCameByIsGone) {
  sinew_publisher* publisher = nullptr;
  sinew_subscriber* subscriber = nullptr;
  ASSERT_EQ(sinew_publisher_create(node, "text", "Text{data:string;}", nullptr, nullptr, &publisher), SINEW_OK) << sinew_last_error();
  ASSERT_EQ(sinew_subscriber_create(node, "text", "Text{data:string;}", nullptr, nullptr, &subscriber), SINEW_OK) << sinew_last_error();
  ASSERT_TRUE(is_matched(publisher));
  const auto loaned = [&] {
    sinew_loan* loan = nullptr;
    std::uint8_t* data = nullptr;
    require(sinew_publisher_loan(publisher, 10'000, &loan, &data) == SINEW_OK, sinew_last_error());
    std::memset(data, 'x', 9'999);
    data[9'999] = 0;
    return std::pair(loan, data);
  };
  const Stream size{0, 1, 0, 0, 0x10, 0x27, 0, 0};
  const auto [loan, data] = loaned();
  const std::array<sinew_extent, 2> extents{sinew_extent{size.data(), size.size()}, {data, 10'000}};
  ASSERT_EQ(sinew_publisher_publish_pieces(publisher, loan, extents.data(), extents.size()), SINEW_OK) << sinew_last_error();
  sinew_frame* frame = nullptr;
  ASSERT_EQ(sinew_subscriber_take(subscriber, -1, &frame), SINEW_OK) << sinew_last_error();
  const auto [late, room] = loaned();
  sinew_subscriber_destroy(subscriber);
  sinew_node_destroy(std::exchange(node, nullptr));
  const std::array<sinew_extent, 2> more{sinew_extent{size.data(), size.size()}, {room, 10'000}};
  EXPECT_EQ(sinew_publisher_publish_pieces(publisher, late, more.data(), more.size()), SINEW_CLOSED);
  sinew_publisher_destroy(publisher);
  Stream expected = size;
  expected.resize(expected.size() + 9'999, 'x');
  expected.push_back(0);
  EXPECT_EQ(joined(frame), expected);
  sinew_frame_release(frame);
}

TEST_F(Pieces, ALoanWhosePiecesAreNoStreamIsGivenBackUnpublished) {
  sinew_publisher* publisher = nullptr;
  ASSERT_EQ(sinew_publisher_create(node, "number", "Number{value:uint32;}", nullptr, nullptr, &publisher), SINEW_OK) << sinew_last_error();
  const auto published = [&](const std::vector<sinew_extent>& extents) {
    sinew_loan* loan = nullptr;
    std::uint8_t* data = nullptr;
    require(sinew_publisher_loan(publisher, 100'000, &loan, &data) == SINEW_OK, sinew_last_error());
    return sinew_publisher_publish_pieces(publisher, loan, extents.data(), extents.size());
  };
  const Stream stream{0, 1, 0, 0, 5, 0, 0, 0};
  EXPECT_EQ(published({}), SINEW_INVALID_MESSAGE);
  EXPECT_EQ(published({{nullptr, 0}}), SINEW_INVALID_MESSAGE);
  EXPECT_EQ(published({{nullptr, 4}}), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(published({{stream.data(), 3}, {stream.data() + 3, 5}}), SINEW_INVALID_MESSAGE) << "its first piece has 4 bytes at least";
  EXPECT_EQ(published({{stream.data() + 4, 4}}), SINEW_INVALID_MESSAGE);
  EXPECT_EQ(published({{stream.data(), 8}, {stream.data(), SIZE_MAX}}), SINEW_NO_MEMORY);
  EXPECT_EQ(published({{stream.data(), 8}, {stream.data(), std::size_t{1} << 40}}), SINEW_NO_MEMORY);
  EXPECT_EQ(sinew_publisher_publish_pieces(publisher, nullptr, nullptr, 0), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "the argument 'loan' is NULL");
  EXPECT_EQ(sinew_publisher_publish_pieces(nullptr, nullptr, nullptr, 0), SINEW_INVALID_ARGUMENT);
  sinew_publisher_statistics statistics;
  ASSERT_EQ(sinew_publisher_get_statistics(publisher, &statistics), SINEW_OK);
  EXPECT_EQ(statistics.published, 0U);
  EXPECT_EQ(statistics.memory_in_use, 0U);
  sinew_publisher_destroy(publisher);
}

TEST_F(Pieces, WhatIsKeptOfALoanStaysAsItIsWhateverBecomesOfIt) {
  sinew_publisher* publisher = nullptr;
  ASSERT_EQ(sinew_publisher_create(node, "data", "Data{data:uint8[];}", nullptr, nullptr, &publisher), SINEW_OK) << sinew_last_error();
  constexpr std::size_t size = std::size_t{1} << 20;
  const Stream head{0, 1, 0, 0}, other(size / 8, 0);
  std::vector<sinew_loan_memory*> kept;
  std::vector<std::uint8_t*> bytes;
  const auto loan_that_is_kept = [&] {
    sinew_loan* loan = nullptr;
    EXPECT_EQ(sinew_publisher_loan(publisher, size, &loan, &bytes.emplace_back()), SINEW_OK) << sinew_last_error();
    std::memcpy(bytes.back(), head.data(), 4);
    std::memset(bytes.back() + 4, static_cast<int>(bytes.size()), size - 4);
    EXPECT_EQ(sinew_loan_keep(loan, &kept.emplace_back()), SINEW_OK) << sinew_last_error();
    return loan;
  };
  EXPECT_EQ(sinew_publisher_publish_loan(publisher, loan_that_is_kept(), size), SINEW_OK);
  sinew_loan* const in_pieces = loan_that_is_kept();
  const std::array<sinew_extent, 2> extents{sinew_extent{head.data(), 4}, sinew_extent{bytes.back() + 4, size - 4}};
  EXPECT_EQ(sinew_publisher_publish_pieces(publisher, in_pieces, extents.data(), extents.size()), SINEW_OK);
  EXPECT_EQ(sinew_publisher_publish_pieces(publisher, loan_that_is_kept(), nullptr, 0), SINEW_INVALID_MESSAGE);
  sinew_loan_release(loan_that_is_kept());
  const sinew_extent more{other.data(), other.size()};
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(sinew_publisher_publish(publisher, &more, 1), SINEW_OK);  // what is free is used again
  EXPECT_EQ(sinew_loan_keep(nullptr, kept.data()), SINEW_INVALID_ARGUMENT);
  sinew_publisher_destroy(publisher);
  sinew_node_destroy(std::exchange(node, nullptr));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(std::count(bytes[i] + 4, bytes[i] + size, i + 1), static_cast<std::ptrdiff_t>(size - 4)) << i;
    sinew_loan_memory_release(kept[i]);
  }
  sinew_loan_memory_release(nullptr);
}

TEST_F(TimerInC, ItCallsBackUntilItIsCancelledAndAgainWhenItIsReset) {
  struct Ticks {
    std::atomic<int> count = 0;
    std::atomic<int> released = 0;
  } ticks;
  const sinew_timer_options options{.struct_size = sizeof options,
                                    .execution_thread = 0,
                                    .on_time = [](void* context) { ++static_cast<Ticks*>(context)->count; },
                                    .context = &ticks,
                                    .release = [](void* context) { ++static_cast<Ticks*>(context)->released; }};
  sinew_timer* timer = nullptr;
  ASSERT_EQ(sinew_timer_create(node, 1'000'000, &options, &timer), SINEW_OK) << sinew_last_error();
  EXPECT_TRUE(eventually([&] { return ticks.count >= 3; }));
  sinew_timer_cancel(timer);
  sinew_timer_reset(timer);
  const int before = ticks.count;
  EXPECT_TRUE(eventually([&] { return ticks.count > before + 1; }));
  EXPECT_EQ(ticks.released, 0);
  sinew_timer_destroy(timer);
  EXPECT_EQ(ticks.released, 1);
  EXPECT_EQ(sinew_timer_create(node, 0, &options, &timer), SINEW_INVALID_ARGUMENT);
  EXPECT_EQ(sinew_timer_create(node, 1, nullptr, &timer), SINEW_INVALID_ARGUMENT);
  EXPECT_STREQ(sinew_last_error(), "sinew_timer_options.on_time is NULL");
  EXPECT_EQ(ticks.released, 2);
}

}  // namespace
}  // namespace sinew::system
