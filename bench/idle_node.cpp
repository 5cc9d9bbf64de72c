// sinew-bench-idle DOMAIN: a small robot program with nothing to do. Sends one message, awaits its echo, says so on standard output, and sleeps until
// standard input is closed.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <sinew/sinew.hpp>

#include "idle_topics.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: sinew-bench-idle DOMAIN (started by sinew-bench --system sinew-idle)\n");
    return 2;
  }
  try {
    std::atomic<bool> echoed = false;
    const auto node = sinew::Node::create("bench_idle", {.domain = argv[1]});
    const auto out = node->create_publisher<std::uint32_t>(sinew::bench::idle_out);
    const auto in = node->create_subscriber<std::uint32_t>(sinew::bench::idle_in, [&echoed](const std::uint32_t&) {
      echoed = true;
      echoed.notify_one();
    });
    while (out->statistics().subscribers == 0 || in->statistics().publishers == 0) usleep(1000);
    out->publish(std::uint32_t{1});
    echoed.wait(false);
    if (write(STDOUT_FILENO, "r", 1) != 1) return 1;
    char none;
    return read(STDIN_FILENO, &none, 1) == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sinew-bench-idle: %s\n", error.what());
    return 1;
  }
}
