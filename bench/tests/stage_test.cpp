#include "stage.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace sinew::bench {
namespace {

// What goes wrong, at which of the measured messages (from 1).
struct Faults {
  std::uint64_t lose = 0;
  std::uint64_t damage = 0;
  std::uint64_t die = 0;
};

struct Note {
  std::int64_t stamp;
  std::uint8_t payload[8];
};

class PipeSource final : public Source {
 public:
  PipeSource(int fd, Faults faults) : fd_(fd), faults_(faults) {}
  void fill(std::uint8_t value) override { std::memset(note_.payload, value, sizeof note_.payload); }
  void send(std::int64_t stamp) override {
    if (stamp != 0) ++sent_;
    note_.stamp = stamp;
    if (stamp != 0 && sent_ == faults_.die) raise(SIGKILL);
    if (stamp != 0 && sent_ == faults_.lose) return;
    if (stamp != 0 && sent_ == faults_.damage) ++note_.payload[7];
    if (write(fd_, &note_, sizeof note_) != sizeof note_) throw std::runtime_error("the pipe is full");
  }
  std::uint64_t bytes_copied() const override { return sent_ * sizeof note_.payload; }

 private:
  const int fd_;
  const Faults faults_;
  Note note_{};
  std::uint64_t sent_ = 0;
};

class PipeSink final : public Sink {
 public:
  PipeSink(int fd, std::uint64_t readable, Arrivals& arrivals) : fd_(fd), readable_(readable), arrivals_(arrivals) {}
  void receive(int /*stop*/) override {
    for (; !arrivals_.complete() && readable_ > 0; --readable_) {
      Note note;
      if (read(fd_, &note, sizeof note) != sizeof note) throw std::runtime_error("the pipe is broken");
      arrivals_.add(note.stamp, note.payload);
    }
  }
  std::uint64_t bytes_copied() const override { return 0; }

 private:
  const int fd_;
  std::uint64_t readable_;
  Arrivals& arrivals_;
};

class PipeTransport final : public Transport {
 public:
  PipeTransport(Faults faults, std::uint64_t readable) : faults_(faults), readable_(readable) { EXPECT_EQ(pipe(ends_), 0); }
  ~PipeTransport() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  std::unique_ptr<Source> open_source(unsigned) override { return std::make_unique<PipeSource>(ends_[1], faults_); }
  std::unique_ptr<Sink> open_sink(unsigned, Arrivals& arrivals) override {
    return std::make_unique<PipeSink>(ends_[0], readable_, arrivals);
  }

 private:
  const Faults faults_;
  const std::uint64_t readable_;
  int ends_[2] = {-1, -1};
};

Cell ten_messages() {
  Cell cell;
  cell.count = 10;
  cell.rate = 0;
  return cell;
}

Samples measure(Faults faults, std::uint64_t readable = 1000) {
  PipeTransport transport(faults, readable);
  const Cell cell = ten_messages();
  return run_processes(cell, transport);
}

std::string complaint_about(Faults faults) {
  try {
    measure(faults);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(Stage, takes_one_latency_and_one_publish_time_of_every_measured_message) {
  const Samples samples = measure({});
  EXPECT_EQ(samples.latency.size(), 10u);
  EXPECT_EQ(samples.publish.size(), 10u);
  EXPECT_EQ(samples.lost, 0u);
  EXPECT_EQ(samples.bytes_copied, 80u);
  EXPECT_GT(samples.cpu, 0);
  EXPECT_GT(samples.seconds, 0);
  for (const std::int64_t latency : samples.latency) EXPECT_GT(latency, 0);
}

TEST(Stage, counts_what_never_came_as_lost) {
  constexpr std::uint64_t warm_up = 16;
  const Samples samples = measure({.lose = 3}, warm_up + 9);
  EXPECT_EQ(samples.latency.size(), 9u);
  EXPECT_EQ(samples.publish.size(), 10u);
  EXPECT_EQ(samples.lost, 1u);
}

TEST(Stage, refuses_to_give_numbers_when_a_payload_was_damaged) {
  EXPECT_EQ(complaint_about({.damage = 5}), "1 messages arrived damaged");
}

TEST(Stage, says_at_once_that_a_process_died) {
  EXPECT_EQ(complaint_about({.die = 5}), "a process of this cell failed or died");
}

}  // namespace
}  // namespace sinew::bench
