// Says something twice a second, until stopped. Start it in as many terminals as you like (SINEW_NODE=other names another one).
#include <chrono>
#include <string>
#include <thread>

#include "sinew/sinew.hpp"

struct Words {
  std::string text;
  unsigned count = 0;
};

int main() {
  auto node = sinew::Node::create("talker");
  auto words = node->create_publisher<Words>("chatter");
  for (unsigned count = 1;; ++count) {
    words->publish(Words{"hello for time number", count});
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}
