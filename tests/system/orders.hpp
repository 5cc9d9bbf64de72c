// What the roles of services and actions are told while they run.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// Until there are no more orders: "go on" calls `go_on`; "quit" calls `quit` on a thread of its own, since it may wait for what waits for an order, and then says "gone".
inline void obey_orders(const std::function<void()>& go_on, const std::function<void()>& quit) {
  std::thread quitting;
  for (std::string order; std::getline(std::cin, order);) {
    if (order == "go on") go_on();
    if (order == "quit") {
      quitting = std::thread([&] {
        quit();
        say("gone");
      });
    }
  }
  if (quitting.joinable()) quitting.join();
}

}  // namespace sinew::system
