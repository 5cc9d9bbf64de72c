// Prints what every talker says, until stopped.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "sinew/sinew.hpp"

// The same fields as the talker's: that is all the two programs share.
struct Words {
  std::string text;
  unsigned count = 0;
};

int main() {
  auto node = sinew::Node::create("listener");
  auto subscriber = node->create_subscriber<Words>("chatter", [](const Words& words, const sinew::MessageInfo& info) {
    std::printf("%s: %s %u\n", info.publisher.c_str(), words.text.c_str(), words.count);
    std::fflush(stdout);
  });
  for (;;) ::pause();  // the callback runs in the node's own thread
}
