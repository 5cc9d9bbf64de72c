// Holds the newest three images until SIGTERM. Each is looked at byte by byte when it comes, again with each that comes while it is held, and at the end. Prints a line for each that came
// and for each camera that comes or goes, and exits with 0 when all were right at each look and all lay where the camera had built them.
#include <csignal>
#include <cstdio>
#include <deque>
#include <memory>
#include <sinew/sinew.hpp>
#include <utility>

#include "image.hpp"

int main() {
  sigset_t end;
  sigemptyset(&end);
  sigaddset(&end, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &end, nullptr);
  // What is printed must be there also when it is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::deque<std::shared_ptr<const Image>> held;
  int seen = 0, wrong = 0, elsewhere = 0;
  const auto look = [&] {
    for (const auto& image : held) wrong += is_right(*image) ? 0 : 1;
  };
  const auto view = [&](std::shared_ptr<const Image> image, const sinew::MessageInfo& info) {
    elsewhere += info.delivery == sinew::Delivery::native ? 0 : 1;
    ++seen;
    const auto number = static_cast<unsigned long long>(image->header.number);
    held.push_back(std::move(image));
    look();
    if (held.size() > 3) held.pop_front();
    std::printf("image %llu, %s, holds %zu\n", number, sinew::to_string(info.delivery), held.size());
  };
  sinew::SubscriberOptions options;
  options.events.matched = [](const sinew::MatchedEvent& event) {
    std::printf("cameras %llu\n", static_cast<unsigned long long>(event.current_count));
  };
  const auto node = sinew::Node::create("viewer");
  auto subscriber = node->create_subscriber<Image>("camera/image", view, {}, options);
  int signal = 0;
  sigwait(&end, &signal);
  // No callback runs any more; what it has kept stays.
  subscriber.reset();
  look();
  std::printf("seen %d, held %zu, wrong %d, not in place %d\n", seen, held.size(), wrong, elsewhere);
  return wrong == 0 && elsewhere == 0 ? 0 : 1;
}
