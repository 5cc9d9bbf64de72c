// What the drivers of all systems that are compared take down of the messages that come, and when they publish what.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>
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
    run.folder = (std::filesystem::path(testing::TempDir()) / ("arrivals" + std::to_string(now_ns()))).string();
    std::filesystem::create_directory(run.folder);
  }
  ~PeerArrivals() override { std::filesystem::remove_all(run.folder); }

  static Header header(std::uint64_t number, std::uint64_t publisher = 0) {
    return {.began = now_ns() - 2'000'000'000, .sent = now_ns() - 1'000'000'000, .number = number, .publisher = publisher};
  }
  std::vector<std::uint8_t> payload(std::uint64_t number) const {
    return std::vector<std::uint8_t>(run.size_of(number), header(number).value());
  }

  struct Sample {
    std::int64_t began, sent, readable, read;
  };
  std::vector<Sample> written(unsigned index = 0) const {
    const std::string path = run.folder + "/subscriber-" + std::to_string(index) + ".ns";
    std::vector<Sample> samples(std::filesystem::file_size(path) / sizeof(Sample));
    std::ifstream(path, std::ios::binary)
        .read(reinterpret_cast<char*>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(Sample)));
    return samples;
  }

  peers::Run run;
};

TEST_F(PeerArrivals, all_times_of_each_message_are_written) {
  Arrivals arrivals(run, 2);
  for (std::uint64_t number = 0; number < run.messages(); ++number) arrivals.add(header(number), payload(number));
  arrivals.write();
  const std::vector<Sample> samples = written(2);
  ASSERT_EQ(samples.size(), run.messages());
  for (const Sample& sample : samples) {
    EXPECT_GE(sample.readable - sample.sent, 1'000'000'000);
    EXPECT_GE(sample.read - sample.began, 2'000'000'000);
    EXPECT_GE(sample.read, sample.readable);
  }
}

TEST_F(PeerArrivals, a_message_that_never_came_is_told_from_those_that_did) {
  Arrivals arrivals(run, 0);
  for (const std::uint64_t number : {0u, 1u, 3u}) arrivals.add(header(number), payload(number));
  arrivals.write();
  EXPECT_EQ(written()[2].readable, -1);
  EXPECT_GT(written()[3].readable, 0);
}

TEST_F(PeerArrivals, a_damaged_byte_anywhere_is_noticed_when_all_are_read) {
  Arrivals arrivals(run, 0);
  std::vector<std::uint8_t> bytes = payload(2);
  bytes[33] = Header::absent;
  arrivals.add(header(2), bytes);
  arrivals.add(header(3), payload(3));
  arrivals.write();
  EXPECT_EQ(written()[2].readable, -2);
  EXPECT_GT(written()[3].readable, 0);
}

TEST_F(PeerArrivals, the_payload_of_another_message_is_noticed_when_three_bytes_are_read) {
  run.read_all = false;
  Arrivals arrivals(run, 0);
  arrivals.add(header(2), payload(1));
  arrivals.write();
  EXPECT_EQ(written()[2].readable, -2);
}

TEST_F(PeerArrivals, messages_of_several_publishers_are_kept_apart) {
  run.publishers = 2;
  Arrivals arrivals(run, 0);
  arrivals.add(header(1, 1), payload(1));
  arrivals.write();
  ASSERT_EQ(written().size(), 2 * run.messages());
  EXPECT_EQ(written()[1].readable, -1);
  EXPECT_GT(written()[run.messages() + 1].readable, 0);
}

TEST_F(PeerArrivals, what_belongs_to_another_cell_is_an_error) {
  Arrivals arrivals(run, 0);
  EXPECT_THROW(arrivals.add(header(run.messages()), payload(0)), std::runtime_error);
  EXPECT_THROW(arrivals.add(header(0, 1), payload(0)), std::runtime_error);
}

TEST_F(PeerArrivals, a_subscriber_goes_on_until_all_is_there_and_it_is_let_end) {
  Arrivals arrivals(run, 0);
  EXPECT_TRUE(arrivals.more());
  for (std::uint64_t number = 0; number < run.messages(); ++number) arrivals.add(header(number), payload(number));
  std::thread script([&] { arrivals.let_end(); });
  EXPECT_FALSE(arrivals.more());
  arrivals.wait();
  script.join();
}

TEST_F(PeerArrivals, no_byte_of_a_payload_is_what_subscribers_search_for) {
  for (std::uint64_t number = 0; number < 1000; ++number) EXPECT_NE(header(number).value(), Header::absent);
}

TEST_F(PeerArrivals, rate_and_size_grow_with_each_step) {
  run.count = 1000;
  run.rate = 10;
  run.rate_step = 1;
  EXPECT_EQ(run.rate_of(9), 10);
  EXPECT_EQ(run.rate_of(25), 12);
  EXPECT_EQ(run.size_of(500), run.size);
  run.size = 10;
  run.size_step = 0.5;
  run.plan_sizes();
  EXPECT_EQ(run.size_of(9), 10u);
  EXPECT_EQ(run.size_of(10), 15u);
  EXPECT_EQ(run.size_of(29), 22u);
  run.size_step = 0.01;
  run.plan_sizes();
  EXPECT_EQ(run.size_of(10), 11u);
  EXPECT_GE(run.largest(), run.size_of(run.messages() - 1));
}

}  // namespace
}  // namespace sinew::bench::peers
