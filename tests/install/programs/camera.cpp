// Publishes an image thirty times a second until SIGTERM, each built where its viewers read it, and exits with 0 when none was refused and no byte of any was copied. Prints who views it
// whenever that changes.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <sinew/sinew.hpp>
#include <string>
#include <utility>
#include <vector>

#include "image.hpp"

std::string viewers_of(const std::vector<sinew::MatchedSubscriber>& subscribers) {
  std::vector<std::string> names;
  for (const auto& each : subscribers) names.push_back(each.node);
  std::ranges::sort(names);
  std::string text;
  for (const auto& name : names) text += " " + name;
  return text;
}

int main() {
  // Before the node has threads, so that none of them gets it.
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const auto node = sinew::Node::create("camera");
  const auto publisher = node->create_publisher<Image>("camera/image", sinew::Qos{}.keep_last(4));
  const timespec pause{.tv_sec = 0, .tv_nsec = 33'000'000};
  std::string viewers;
  for (std::uint64_t number = 0; sigtimedwait(&end, nullptr, &pause) != SIGTERM; ++number) {
    auto image = publisher->loan();
    image->header.number = number;
    image->header.frame = frame;
    image->height = height;
    image->width = width;
    image->encoding = encoding;
    image->data.assign(std::size_t{height} * width * 3, byte_of(number));
    publisher->publish(std::move(image));
    if (const auto now = viewers_of(publisher->subscribers()); now != viewers) std::printf("viewed by%s\n", (viewers = now).c_str());
  }
  const auto statistics = publisher->statistics();
  std::printf("published %llu, refused %llu, bytes copied %llu\n", static_cast<unsigned long long>(statistics.published),
              static_cast<unsigned long long>(statistics.refused), static_cast<unsigned long long>(statistics.bytes_copied));
  return statistics.refused == 0 && statistics.bytes_copied == 0 ? 0 : 1;
}
