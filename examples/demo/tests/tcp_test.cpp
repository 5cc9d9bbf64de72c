// The baseline delivers whole messages over real sockets, and counts what it copies.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>

#include "tcp_link.hpp"

namespace demo {
namespace {

class Tcp : public testing::Test {
 protected:
  Tcp() { std::filesystem::create_directories(folder_); }
  ~Tcp() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("demo_tcp_" + std::to_string(::getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
  std::mutex one_at_a_time_;
};

Image image_of(std::size_t bytes) {
  Image image;
  image.header.stamp_ns = 42;
  image.encoding = "an encoding that does not fit into the string itself";
  for (std::size_t i = 0; i < bytes; ++i) image.data.push_back(static_cast<std::uint8_t>(i * 7));
  return image;
}

TEST(Serialize, AMessageComesBackEqual) {
  const Image image = image_of(1000);
  std::vector<std::byte> bytes;
  serialize(image, bytes);
  EXPECT_EQ(bytes.size(), serialized_size(image));
  Image back;
  deserialize(bytes, back);
  EXPECT_EQ(back.encoding, image.encoding);
  EXPECT_EQ(back.data, image.data);
  EXPECT_EQ(back.header.stamp_ns, 42U);
}

TEST(Serialize, EveryTruncationIsRefused) {
  std::vector<std::byte> bytes;
  serialize(image_of(3), bytes);
  Image back;
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(std::span(bytes).first(size), back), std::runtime_error) << size;
  bytes.push_back({});
  EXPECT_THROW(deserialize(bytes, back), std::runtime_error);
}

TEST(Serialize, ACountThatOverflowsIsRefused) {
  World world;
  std::vector<std::byte> bytes;
  serialize(world, bytes);
  std::fill_n(bytes.begin() + sizeof(Header) + sizeof world.position, 8, std::byte{0xFF});
  EXPECT_THROW(deserialize(bytes, world), std::runtime_error);
}

TEST_F(Tcp, ASubscriberStartedBeforeItsPublisherGetsTheMessageWhole) {
  std::promise<std::shared_ptr<const Image>> arrived;
  TcpInput<Image> input(folder_, "camera/image", one_at_a_time_, [&, first = true](auto image, const Arrival&) mutable {
    if (std::exchange(first, false)) arrived.set_value(std::move(image));
  });
  TcpOutput<Image> output(folder_, "camera/image", 4);
  const Image sent = image_of(5'000'000);
  auto image = arrived.get_future();
  // Nothing is sent to who is not connected yet, so publish until it is.
  while (image.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) output.publish([&](Image& m) { m = sent; });
  const auto received = image.get();
  EXPECT_EQ(received->data, sent.data);
  EXPECT_EQ(received->encoding, sent.encoding);
  EXPECT_GT(received->header.published_ns, 0U);
}

TEST_F(Tcp, EachSubscriberCostsItsOwnCopies) {
  std::promise<void> first, second;
  const auto once = [](std::promise<void>& promise) {
    return [&promise, fresh = true](const std::shared_ptr<const Cloud>&, const Arrival&) mutable {
      if (std::exchange(fresh, false)) promise.set_value();
    };
  };
  TcpOutput<Cloud> output(folder_, "lidar/points", 4);
  TcpInput<Cloud> one(folder_, "lidar/points", one_at_a_time_, once(first)), two(folder_, "lidar/points", one_at_a_time_, once(second));
  auto one_there = first.get_future(), two_there = second.get_future();
  std::size_t size = 0;
  const auto publish = [&] {
    output.publish([&](Cloud& cloud) {
      cloud.points.resize(1000);
      size = serialized_size(cloud);
    });
  };
  while (one_there.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) publish();
  while (two_there.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) publish();
  EXPECT_GE(one.count().bytes_copied, 2 * size) << "out of the kernel, and out of the frame";
  // A message may arrive before its sender has counted what the kernel took of it.
  const auto all_counted = [&] { return output.count().bytes_copied >= output.count().published * size + 2 * size; };
  for (int i = 0; i < 10'000 && !all_counted(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(all_counted()) << "into the frame, and into the kernel for each";
  const InputCount count = one.count();
  EXPECT_EQ(count.received, count.not_in_place);
}

TEST_F(Tcp, APublisherNeverWaitsForASubscriberThatDoesNotRead) {
  std::promise<void> arrived, go_on;
  auto may_go_on = go_on.get_future().share();
  std::atomic<bool> stuck{false};
  TcpOutput<Image> output(folder_, "camera/image", 2);
  TcpInput<Image> input(folder_, "camera/image", one_at_a_time_, [&](const std::shared_ptr<const Image>&, const Arrival&) {
    if (!stuck.exchange(true)) arrived.set_value();
    may_go_on.wait();
  });
  const Image sent = image_of(1'000'000);
  auto there = arrived.get_future();
  while (there.wait_for(std::chrono::milliseconds(5)) != std::future_status::ready) output.publish([&](Image& m) { m = sent; });
  for (int i = 0; i < 100; ++i) output.publish([&](Image& m) { m = sent; });  // more than any socket buffer takes
  go_on.set_value();
  while (input.count().missed == 0) output.publish([&](Image& m) { m = sent; });
}

TEST_F(Tcp, AnInputCanBeGivenUpBeforeItsPublisherExists) {
  TcpInput<Image> input(folder_, "nobody/publishes/this", one_at_a_time_,
                        [](const std::shared_ptr<const Image>&, const Arrival&) { FAIL(); });
}

}  // namespace
}  // namespace demo
