// Two nodes of one process: an image is handed on by pointer, changed in place, and never copied. The same nodes in two processes need no other code.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include <sinew/sinew.hpp>

struct Image {
  std::uint32_t height, width;
  std::vector<std::uint8_t> data;
};

int main() {
  auto camera = sinew::Node::create("camera");
  auto filter = sinew::Node::create("filter");
  auto raw = camera->create_publisher<Image>("camera/raw");
  auto dark = filter->create_publisher<Image>("camera/dark");

  // The filter owns what it gets, so it may change it and give it on.
  auto darken = filter->create_subscriber<Image>("camera/raw", [&](std::unique_ptr<Image> image) {
    for (auto& value : image->data) value /= 2;
    dark->publish(std::move(image));
  });
  std::atomic<const void*> seen{nullptr};
  auto viewer = camera->create_subscriber<Image>("camera/dark", [&](const Image& image) { seen = image.data.data(); });

  auto image = std::make_unique<Image>(Image{1080, 1920, std::vector<std::uint8_t>(1920 * 1080 * 3, 200)});
  const void* const published = image->data.data();
  raw->publish(std::move(image));

  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!seen && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::printf("published at %p, seen at %p\n", published, seen.load());
  return seen == published ? 0 : 1;
}
