// What the drivers of all systems that are compared take down of the messages that come.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

namespace sinew::bench::peers {
namespace {

class PeerArrivals : public testing::Test {
 protected:
  PeerArrivals() {
    run.size = 100;
    run.warm_up = 1;
    run.count = 3;
    run.read_all = true;
    run.output = (std::filesystem::path(testing::TempDir()) / ("arrivals" + std::to_string(now_ns()) + ".ns")).string();
  }
  ~PeerArrivals() override { std::filesystem::remove(run.output); }

  static Header header(std::uint64_t number) {
    return {.began = now_ns() - 2'000'000'000, .sent = now_ns() - 1'000'000'000, .number = number};
  }
  std::vector<std::uint8_t> payload(std::uint64_t number) const { return std::vector<std::uint8_t>(run.size, header(number).value()); }

  peers::Run run;
};

TEST_F(PeerArrivals, both_times_of_each_message_after_the_warm_up_are_written) {
  Arrivals arrivals(run);
  for (std::uint64_t number = 0; number < run.messages(); ++number) {
    EXPECT_FALSE(arrivals.complete());
    arrivals.add(header(number), payload(number));
  }
  EXPECT_TRUE(arrivals.complete());
  arrivals.wait();
  arrivals.finish();
  std::vector<std::int64_t> written(2 * run.count + 1);
  std::ifstream file(run.output, std::ios::binary);
  file.read(reinterpret_cast<char*>(written.data()), static_cast<std::streamsize>(written.size() * sizeof written[0]));
  ASSERT_EQ(file.gcount(), static_cast<std::streamsize>(2 * run.count * sizeof written[0]));
  for (std::size_t i = 0; i < run.count; ++i) {
    EXPECT_GE(written[2 * i], 1'000'000'000);
    EXPECT_GE(written[2 * i + 1], 2'000'000'000);
  }
}

TEST_F(PeerArrivals, a_message_that_is_missing_is_an_error) {
  Arrivals arrivals(run);
  for (const std::uint64_t number : {0u, 1u, 3u}) arrivals.add(header(number), payload(number));
  EXPECT_TRUE(arrivals.complete());
  EXPECT_THROW(arrivals.finish(), std::runtime_error);
}

TEST_F(PeerArrivals, a_damaged_byte_anywhere_is_an_error_when_all_are_read) {
  Arrivals arrivals(run);
  for (std::uint64_t number = 0; number < run.messages(); ++number) {
    std::vector<std::uint8_t> bytes = payload(number);
    if (number == 2) bytes[33] = Header::absent;
    arrivals.add(header(number), bytes);
  }
  EXPECT_THROW(arrivals.finish(), std::runtime_error);
}

TEST_F(PeerArrivals, the_payload_of_another_message_is_an_error_when_three_bytes_are_read) {
  run.read_all = false;
  Arrivals arrivals(run);
  for (std::uint64_t number = 0; number < run.messages(); ++number) arrivals.add(header(number), payload(number == 2 ? 1 : number));
  EXPECT_THROW(arrivals.finish(), std::runtime_error);
}

TEST_F(PeerArrivals, no_byte_of_a_payload_is_what_subscribers_search_for) {
  for (std::uint64_t number = 0; number < 1000; ++number) EXPECT_NE(header(number).value(), Header::absent);
}

}  // namespace
}  // namespace sinew::bench::peers
