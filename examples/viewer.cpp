// Shows how bright the pictures of the pattern camera are, and how they came here. Keeps the newest two, as shared pointers like any other.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "sinew/sinew.hpp"

struct Picture {
  std::uint32_t width = 0, height = 0;
  std::string encoding;
  std::vector<std::uint8_t> pixels;
};

int main() {
  std::deque<std::shared_ptr<const Picture>> newest;
  auto node = sinew::Node::create("viewer");
  auto subscriber =
      node->create_subscriber<Picture>("pattern/image", [&](std::shared_ptr<const Picture> picture, const sinew::MessageInfo& info) {
        const auto sum = std::accumulate(picture->pixels.begin(), picture->pixels.end(), std::uint64_t{0});
        std::printf("%u x %u, mean %.1f, sequence %llu, delivery %s, missed %llu\n", picture->width, picture->height,
                    static_cast<double>(sum) / static_cast<double>(picture->pixels.size()), static_cast<unsigned long long>(info.sequence),
                    sinew::to_string(info.delivery), static_cast<unsigned long long>(info.missed));
        std::fflush(stdout);
        newest.push_back(std::move(picture));  // stays readable where it is, also when its camera is gone
        if (newest.size() > 2) newest.pop_front();
      });
  for (;;) ::pause();
}
