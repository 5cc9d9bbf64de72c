#include "stage.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <system_error>

#include "clock.hpp"
#include "containers.hpp"
#include "cores.hpp"
#include "pipe.hpp"
#include "shared_memory.hpp"

namespace sinew::bench {

namespace {

constexpr std::uint64_t warm_up = 16;
constexpr double warm_up_rate = 200;
// A cell whose processes say nothing for this long beyond what its rate explains has failed.
constexpr std::int64_t patience_ms = 60'000;
// How long deliveries may trail the last publish before they count as lost.
constexpr std::int64_t grace_ms = 2'000;

// Of the calling thread, after all that it starts has been started, which would do the same.
void run_at(int fifo) {
  if (fifo == 0) return;
  const sched_param parameters{.sched_priority = fifo};
  if (sched_setscheduler(0, SCHED_FIFO, &parameters) != 0) {
    throw std::system_error(errno, std::generic_category(), "SCHED_FIFO, which needs root or a limit of rtprio (ulimit -r)");
  }
}

// What one process takes down, in memory it shares with the coordinator.
struct Record {
  std::int64_t cpu_before = 0;
  std::int64_t cpu_after = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = 0;
  std::uint64_t samples = 0;
  std::uint64_t damaged = 0;
  std::uint64_t bytes_copied = 0;
};

class SampleArrivals final : public Arrivals {
 public:
  SampleArrivals(Record& record, std::span<std::int64_t> latency, std::uint64_t warm_ups, const Pipe& report)
      : record_(record), latency_(latency), awaited_(latency.size() + warm_ups), report_(report) {}

  void add(std::int64_t stamp, std::span<const std::uint8_t> payload) override {
    const std::int64_t now = now_ns();
    const std::uint8_t value = payload.front();
    if (payload.back() != value || payload[payload.size() / 2] != value) ++record_.damaged;
    if (stamp != 0 && record_.samples < latency_.size()) {
      if (record_.samples == 0) record_.cpu_before = cpu_ns();
      latency_[record_.samples++] = now - stamp;
      record_.first = std::min(record_.first, stamp);
      record_.last = now;
    }
    if (++count_ == awaited_) report_.say(Word::arrived);
  }
  bool complete() const override { return count_ >= awaited_; }

 private:
  Record& record_;
  const std::span<std::int64_t> latency_;
  const std::uint64_t awaited_;
  const Pipe& report_;
  std::uint64_t count_ = 0;
};

class Stage {
 public:
  Stage(const Cell& cell, Transport& transport)
      : cell_(cell),
        transport_(transport),
        records_(sizeof(Record) * (cell.publishers + cell.subscribers)),
        latency_(sizeof(std::int64_t) * cell.deliveries()),
        publish_(sizeof(std::int64_t) * cell.count * cell.publishers),
        publish_cpu_(cell.publish_cpu ? sizeof(std::int64_t) * cell.count * cell.publishers : 1) {
    std::fill_n(records_.as<Record>(), cell.publishers + cell.subscribers, Record{});
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
    for (const int pidfd : pidfds_) close(pidfd);
  }

  Samples run() {
    for (unsigned subscriber = 0; subscriber < cell_.subscribers; ++subscriber) {
      start([&] { subscribe(subscriber); }, cell_.publishers + subscriber);
    }
    for (unsigned publisher = 0; publisher < cell_.publishers; ++publisher) start([&] { publish(publisher); }, publisher);
    hear_ready();
    go_.close_writer();
    hear_end();
    stop_.close_writer();
    join();
    return gather();
  }

 private:
  Record& publisher_record(unsigned publisher) const { return records_.as<Record>()[publisher]; }
  Record& subscriber_record(unsigned subscriber) const { return records_.as<Record>()[cell_.publishers + subscriber]; }
  std::span<std::int64_t> latency_of(unsigned subscriber) const {
    const std::size_t each = cell_.count * cell_.publishers;
    return {latency_.as<std::int64_t>() + subscriber * each, each};
  }
  std::span<std::int64_t> publish_of(unsigned publisher) const {
    return {publish_.as<std::int64_t>() + publisher * cell_.count, cell_.count};
  }
  std::span<std::int64_t> publish_cpu_of(unsigned publisher) const {
    if (!cell_.publish_cpu) return {};
    return {publish_cpu_.as<std::int64_t>() + publisher * cell_.count, cell_.count};
  }

  void start(const std::function<void()>& work, unsigned number) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child > 0) {
      children_.push_back(child);
      pidfds_.push_back(static_cast<int>(syscall(SYS_pidfd_open, child, 0)));
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (cell_.publishers + cell_.subscribers <= cores_.size()) stay_on_core(cores_[number]);
    go_.close_writer();
    stop_.close_writer();
    try {
      if (cell_.containers == Containers::each) enter_container();
      work();
      _exit(0);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "sinew-bench: %s\n", error.what());
      report_.say(Word::failed);
      _exit(1);
    }
  }

  void publish(unsigned publisher) {
    const std::unique_ptr<Source> source = transport_.open_source(publisher);
    const std::span<std::int64_t> times = publish_of(publisher);
    const std::span<std::int64_t> cpu_times = publish_cpu_of(publisher);
    std::ranges::fill(times, 0);  // touched now, so that no page fault falls into the measurement
    std::ranges::fill(cpu_times, 0);
    run_at(cell_.fifo);
    report_.say(Word::ready);
    go_.wait_until_closed();

    const double share = static_cast<double>(publisher) / cell_.publishers;
    Pacer warm(warm_up_rate, share);
    for (std::uint64_t i = 0; i < warm_up; ++i) {
      warm.wait();
      source->fill(static_cast<std::uint8_t>(i));
      source->send(0);
    }
    Record& record = publisher_record(publisher);
    record.cpu_before = cpu_ns();
    const std::uint64_t copied = source->bytes_copied();
    Pacer pacer(cell_.rate, share);
    for (std::uint64_t i = 0; i < cell_.count; ++i) {
      pacer.wait();
      source->fill(static_cast<std::uint8_t>(i));
      const std::int64_t cpu = cell_.publish_cpu ? thread_cpu_ns() : 0;
      const std::int64_t stamp = now_ns();
      source->send(stamp);
      times[i] = now_ns() - stamp;
      if (cell_.publish_cpu) cpu_times[i] = thread_cpu_ns() - cpu;
    }
    record.cpu_after = cpu_ns();
    record.bytes_copied = source->bytes_copied() - copied;
    report_.say(Word::published);
    stop_.wait_until_closed();
  }

  void subscribe(unsigned subscriber) {
    Record& record = subscriber_record(subscriber);
    std::ranges::fill(latency_of(subscriber), 0);
    SampleArrivals arrivals(record, latency_of(subscriber), warm_up * cell_.publishers, report_);
    const std::unique_ptr<Sink> sink = transport_.open_sink(subscriber, arrivals);
    run_at(cell_.fifo);
    report_.say(Word::ready);
    go_.wait_until_closed();
    sink->receive(stop_.reader());
    record.cpu_after = cpu_ns();
    // The sink has counted the warm-up too: the same share of bytes as of messages.
    record.bytes_copied = sink->bytes_copied() * cell_.count / (cell_.count + warm_up);
    stop_.wait_until_closed();
  }

  Word hear(std::int64_t timeout_ms) const {
    const Word word = report_.hear(timeout_ms, pidfds_);
    if (word == Word::failed) throw std::runtime_error("a process of this cell failed or died");
    return word;
  }
  void hear_ready() const {
    for (unsigned heard = 0; heard < cell_.publishers + cell_.subscribers; ++heard) {
      if (hear(patience_ms) != Word::ready) throw std::runtime_error("the processes of this cell did not get ready in time");
    }
  }
  // A subscriber that lost something never says that all has arrived: when all is published and nobody says more, it is over.
  void hear_end() const {
    const double paced_ms = cell_.rate > 0 ? 1000.0 * static_cast<double>(cell_.count) / cell_.rate : 0;
    unsigned publishing = cell_.publishers;
    for (unsigned heard = 0; heard < cell_.publishers + cell_.subscribers; ++heard) {
      const Word word = hear(publishing > 0 ? patience_ms + static_cast<std::int64_t>(paced_ms) : grace_ms);
      if (word == Word::published) --publishing;
      if (word != Word::nothing) continue;
      if (publishing > 0) throw std::runtime_error("the publishers of this cell did not finish in time");
      return;
    }
  }

  void join() {
    while (!children_.empty()) {
      int status = 0;
      if (waitpid(children_.back(), &status, 0) < 0 && errno == EINTR) continue;
      children_.pop_back();
      if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw std::runtime_error("a process of this cell died before its end");
    }
  }

  Samples gather() const {
    Samples samples;
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    std::uint64_t damaged = 0;
    for (unsigned i = 0; i < cell_.publishers + cell_.subscribers; ++i) {
      const Record& record = records_.as<Record>()[i];
      if (record.cpu_before > 0) samples.cpu += record.cpu_after - record.cpu_before;
      samples.bytes_copied += record.bytes_copied;
      damaged += record.damaged;
      first = std::min(first, record.first);
      last = std::max(last, record.last);
    }
    for (unsigned subscriber = 0; subscriber < cell_.subscribers; ++subscriber) {
      const auto got = latency_of(subscriber).first(subscriber_record(subscriber).samples);
      samples.latency.insert(samples.latency.end(), got.begin(), got.end());
    }
    for (unsigned publisher = 0; publisher < cell_.publishers; ++publisher) {
      const auto times = publish_of(publisher);
      samples.publish.insert(samples.publish.end(), times.begin(), times.end());
      const auto cpu_times = publish_cpu_of(publisher);
      samples.publish_cpu.insert(samples.publish_cpu.end(), cpu_times.begin(), cpu_times.end());
    }
    if (damaged > 0) throw std::runtime_error(std::to_string(damaged) + " messages arrived damaged");
    samples.lost = cell_.deliveries() - samples.latency.size();
    if (last > first) samples.seconds = static_cast<double>(last - first) * 1e-9;
    return samples;
  }

  const Cell& cell_;
  Transport& transport_;
  SharedMemory records_, latency_, publish_, publish_cpu_;
  Pipe report_, go_, stop_;
  const std::vector<int> cores_ = allowed_cores();
  std::vector<pid_t> children_;
  std::vector<int> pidfds_;
};

}  // namespace

Samples run_processes(const Cell& cell, Transport& transport) {
  return Stage(cell, transport).run();
}

}  // namespace sinew::bench
