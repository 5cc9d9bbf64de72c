#include "driver.hpp"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>

#include "clock.hpp"

namespace sinew::bench::peers {

namespace {

constexpr std::int64_t patience_ns = 30'000'000'000;

void say(const char* word) {
  std::printf("%s\n", word);
  std::fflush(stdout);
}

}  // namespace

Arrivals::Arrivals(const Run& run) : run_(run), samples_(run.count, Sample{-1, -1}) {}  // touched, so that no page fault is measured

void Arrivals::add(const Header& header, std::span<const std::uint8_t> payload) {
  const std::int64_t readable = now_ns();
  const bool absent = !run_.read_all || std::memchr(payload.data(), Header::absent, payload.size()) == nullptr;
  const std::int64_t read = now_ns();

  const std::uint8_t value = header.value();
  const bool whole =
      payload.size() == run_.size && payload.front() == value && payload[payload.size() / 2] == value && payload.back() == value;
  if (!absent || !whole) ++damaged_;
  missing_ += header.number - next_;
  next_ = header.number + 1;
  if (header.number >= run_.warm_up && next_ <= run_.messages()) {
    samples_[header.number - run_.warm_up] = {readable - header.sent, read - header.began};
  }
  if (next_ == run_.messages()) {
    complete_.store(true, std::memory_order_release);
    complete_.notify_all();
  }
}

void Arrivals::finish() const {
  if (damaged_ > 0) throw std::runtime_error(std::to_string(damaged_) + " messages arrived damaged");
  if (missing_ > 0) throw std::runtime_error(std::to_string(missing_) + " of " + std::to_string(run_.messages()) + " messages were lost");
  std::ofstream file(run_.output, std::ios::binary);
  file.write(reinterpret_cast<const char*>(samples_.data()), static_cast<std::streamsize>(samples_.size() * sizeof(Sample)));
  if (!file.flush()) throw std::runtime_error("cannot write " + run_.output);
}

void connect(const std::function<bool()>& connected) {
  for (const std::int64_t until = now_ns() + patience_ns; !connected(); usleep(1000)) {
    if (now_ns() > until) throw std::runtime_error("the other side was not there in time");
  }
  say("connected");
}

void publish_all(const Run& run, const std::function<void(Header)>& send) {
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("the script ended before this cell began");
  Pacer pacer(run.rate, 0);
  for (std::uint64_t number = 0; number < run.messages(); ++number) {
    pacer.wait();
    send({.began = now_ns(), .sent = 0, .number = number});
  }
  say("published");
  std::getline(std::cin, line);
}

int drive(int argc, char** argv, void (*publish)(const Run&), void (*subscribe)(const Run&, Arrivals&)) {
  Run run;
  std::string role, read = "all";
  CLI::App app{"One end of a cell that bench/peers.py measures."};
  app.add_option("role", role)->required()->check(CLI::IsMember({"publish", "subscribe"}));
  app.add_option("--topic", run.topic)->required();
  app.add_option("--folder", run.folder, "Where the system may keep files")->required();
  app.add_option("--size", run.size, "Payload bytes")->check(CLI::Range(1ul, 1ul << 30));
  app.add_option("--rate", run.rate, "Messages per second");
  app.add_option("--count", run.count, "Messages that are measured");
  app.add_option("--warm-up", run.warm_up, "Messages that go before");
  app.add_option("--subscribers", run.subscribers, "How many there are")->check(CLI::Range(1, 8));
  app.add_option("--read", read, "What subscribers read: every byte, or three")->check(CLI::IsMember({"all", "touch"}));
  app.add_option("--output", run.output, "For transport and end-to-end time of each message, pairs of 64-bit integers in ns");
  app.add_option("--descriptors", run.descriptors, "Of the floor: its memory, and the eventfds of all subscribers, or this one's")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  run.publishes = role == "publish";
  run.read_all = read == "all";

  try {
    if (run.publishes) {
      publish(run);
    } else {
      Arrivals arrivals(run);
      subscribe(run, arrivals);
      arrivals.finish();
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s %s: %s\n", argv[0], role.c_str(), error.what());
    return 1;
  }
  return 0;
}

}  // namespace sinew::bench::peers
