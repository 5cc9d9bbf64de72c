#include "driver.hpp"

#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "clock.hpp"

namespace sinew::bench::peers {

namespace {

constexpr std::int64_t second = 1'000'000'000, patience = 30 * second;
// How long a subscriber that sleeps until the next message may take to end, when there is none.
constexpr useconds_t grace_us = 300'000;
// Before who measures is woken, by what a publisher says at its end: the last message shall not wait for a core for that.
constexpr std::chrono::milliseconds settling{10};

void say(const std::string& words) {
  std::printf("%s\n", words.c_str());
  std::fflush(stdout);
}

void become_fifo(int priority) {
  if (priority == 0) return;
  const sched_param wanted{.sched_priority = priority};
  if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &wanted) != 0)
    throw std::system_error(errno, std::generic_category(), "SCHED_FIFO, which needs root");
}

template <typename Sample>
void write_samples(const std::string& path, const std::vector<Sample>& samples) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(Sample)));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::unique_ptr<Work> work_of(const Run& run, unsigned subscriber) {
  if (run.work == "lidar") return lidar_work(run.data);
  if (run.work == "light") return light_work(subscriber);
  return plain_work(run);
}

/// Absolute times, without making up for what came too late: a publisher that cannot keep up goes on as fast as it can.
void sleep_until(std::int64_t due) {
  const timespec time{due / second, due % second};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
  }
}

}  // namespace

double Run::rate_of(std::uint64_t number) const {
  const std::uint64_t steps = number / step;
  return rate + rate_step * static_cast<double>(steps);
}

void Run::plan_sizes() {
  if (size_step <= 0) return;
  sizes_ = {size};
  while (sizes_.size() <= messages() / step) {
    sizes_.push_back(sizes_.back() + std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(sizes_.back()) * size_step)));
  }
}

Arrivals::Arrivals(const Run& run, unsigned index)
    : run_(run),
      index_(index),
      work_(work_of(run, index)),
      samples_(run.publishers * run.messages()),
      outstanding_(run.publishers) {}  // touched, so that no page fault is measured

void Arrivals::add(const Header& header, std::span<const std::uint8_t> payload) {
  const std::int64_t readable = now_ns();
  if (header.publisher >= run_.publishers || header.number >= run_.messages()) throw std::runtime_error("a message of another cell came");
  const bool whole = work_->use(header, payload);
  const std::int64_t read = now_ns();

  const std::lock_guard lock(mutex_);
  if (std::exchange(first_, false)) become_fifo(run_.fifo);
  samples_[header.publisher * run_.messages() + header.number] = {header.began, header.sent, whole ? readable : damaged, read};
  if (header.number + 1 == run_.messages() && --outstanding_ == 0) {
    complete_.store(true);
    say("complete " + std::to_string(index_));
  }
}

bool Arrivals::more() {
  if (complete_.load()) may_end_.wait(false);
  return !may_end_.load();
}

void Arrivals::wait() {
  may_end_.wait(false);
}

void Arrivals::let_end() {
  may_end_.store(true);
  may_end_.notify_all();
}

void Arrivals::write() {
  const std::lock_guard lock(mutex_);
  write_samples(run_.folder + "/subscriber-" + std::to_string(index_) + ".ns", samples_);
}

void connect(const std::function<bool()>& connected) {
  for (const std::int64_t until = now_ns() + patience; !connected(); usleep(1000)) {
    if (now_ns() > until) throw std::runtime_error("the other side was not there in time");
  }
  say("connected");
}

void publish_all(const Run& run, const std::function<void(Header&, Work&)>& send) {
  struct Sample {
    std::int64_t began, sent, published;
  };
  std::vector<Sample> samples(run.messages());
  const std::unique_ptr<Work> work = work_of(run, 0);
  std::string line;
  if (!std::getline(std::cin, line)) throw std::runtime_error("the script ended before this cell began");
  become_fifo(run.fifo);
  // Publishers are evenly spread over a period.
  const std::int64_t start = now_ns();
  std::int64_t due = start;
  if (run.rate > 0) due += static_cast<std::int64_t>(second / run.rate * run.index / run.publishers);
  std::uint64_t number = 0;
  for (; number < run.messages() && (run.seconds <= 0 || static_cast<double>(now_ns() - start) < run.seconds * second); ++number) {
    if (run.rate > 0) {
      sleep_until(due);
      due = std::max(due + static_cast<std::int64_t>(second / run.rate_of(number)), now_ns());
    }
    Header header{.began = now_ns(), .sent = 0, .number = number, .publisher = run.index, .size = 0};
    header.size = work->prepare(number);
    send(header, *work);
    samples[number] = {header.began, header.sent, now_ns()};
    if (number + 1 == run.warm_up) say("warm");
  }
  std::this_thread::sleep_for(settling);
  samples.resize(number);
  write_samples(run.folder + "/publisher-" + std::to_string(run.index) + ".ns", samples);
  say("published");
  std::getline(std::cin, line);
}

namespace {

/// The threads of a system may sleep until the next message, when there will be none: then the process ends without them.
void end_subscriber(Arrivals& arrivals) {
  std::string line;
  std::getline(std::cin, line);
  arrivals.let_end();
  usleep(grace_us);
  arrivals.write();
  std::_Exit(0);
}

void be(const Run& run, const Driver& driver) {
  if (run.role == "publish") {
    driver.publish(run);
  } else if (run.role == "subscribe") {
    Arrivals arrivals(run, run.index);
    std::thread([&arrivals] { end_subscriber(arrivals); }).detach();
    driver.subscribe(run, arrivals);
    arrivals.write();
    std::_Exit(0);  // the thread still knows them
  } else if (driver.both == nullptr) {
    throw std::runtime_error("this system does not carry messages within a process");
  } else {
    std::vector<std::unique_ptr<Arrivals>> arrivals;
    arrivals.reserve(run.subscribers);
    for (unsigned index = 0; index < run.subscribers; ++index) arrivals.push_back(std::make_unique<Arrivals>(run, index));
    driver.both(run, arrivals);
    for (const auto& each : arrivals) each->write();
  }
}

}  // namespace

int drive(int argc, char** argv, const Driver& driver) {
  Run run;
  std::string read = "all", wait = "block";
  CLI::App app{"One end of a cell that bench/compare measures."};
  app.add_option("role", run.role)->required()->check(CLI::IsMember({"publish", "subscribe", "both"}));
  app.add_option("--way", run.way, "Of those that the system has to carry a message");
  app.add_option("--topic", run.topic)->required();
  app.add_option("--folder", run.folder, "For samples, and where the system may keep files")->required();
  app.add_option("--size", run.size, "Payload bytes")->check(CLI::Range(1ul, 1ul << 30));
  app.add_option("--rate", run.rate, "Messages per second; 0: one right after the other");
  app.add_option("--count", run.count, "Messages of each publisher that are measured");
  app.add_option("--warm-up", run.warm_up, "Messages of each that go before");
  app.add_option("--publishers", run.publishers, "How many there are")->check(CLI::Range(1, 8));
  app.add_option("--subscribers", run.subscribers, "How many there are")->check(CLI::Range(1, 8));
  app.add_option("--index", run.index, "Which of them this one is, from 0");
  app.add_option("--read", read, "What subscribers read: every byte, or three")->check(CLI::IsMember({"all", "touch"}));
  app.add_option("--wait", wait, "Whether subscribers sleep until a message comes")->check(CLI::IsMember({"block", "spin"}));
  app.add_option("--fifo", run.fifo, "Priority at SCHED_FIFO of the threads that publish and that receive");
  app.add_option("--rate-step", run.rate_step, "How much the rate grows with each step");
  app.add_option("--size-step", run.size_step, "By which share of itself the size grows with each step, at least by a byte");
  app.add_option("--step", run.step, "Messages of a step")->check(CLI::Range(1, 1000));
  app.add_option("--work", run.work, "What is in the payloads, and what subscribers do with it")
      ->check(CLI::IsMember({"plain", "lidar", "light"}));
  app.add_option("--data", run.data, "The folder of what that needs");
  app.add_option("--seconds", run.seconds, "A publisher ends after so long");
  app.add_option("--descriptors", run.descriptors, "Of floors: their memory, and the eventfds of all subscribers, or this one's")
      ->delimiter(',');
  CLI11_PARSE(app, argc, argv);
  run.read_all = read == "all";
  run.spins = wait == "spin";
  run.plan_sizes();

  try {
    be(run, driver);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s %s: %s\n", argv[0], run.role.c_str(), error.what());
    std::fflush(stderr);
    std::_Exit(1);  // without waiting for threads of the system
  }
  return 0;
}

}  // namespace sinew::bench::peers
