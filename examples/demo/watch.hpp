// What the monitor measures of one topic, and how it shows it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "link.hpp"
#include "report.hpp"

namespace demo {

/// The value below which this part (0 to 1) of the values lies; 0 of none.
double percentile(std::vector<double> values, double part);

/// "0 B", "37.3 MB".
std::string human_bytes(double bytes);

/// Not thread-safe.
class Watch {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Watch(std::string topic) : topic_(std::move(topic)) {}

  void record(Clock::time_point now, const Arrival& arrival, std::size_t bytes, std::uint64_t copied_by_publisher);

  /// What the table shows: rates and latencies of the last two seconds, `bytes_copied` since the start by the publisher and, as given, by this subscriber.
  struct Row {
    std::string topic, path;
    double rate = 0;  ///< Hz
    double megabytes_per_second = 0;
    double p50_ms = 0, p99_ms = 0;
    double bytes_copied = 0;
  };
  Row row(Clock::time_point now, std::uint64_t copied_here);

  /// "watched": the same over the whole run, and how long the topic has been quiet.
  ReportLine total(Clock::time_point now) const;

 private:
  struct Sample {
    Clock::time_point time;
    double latency_ms;
    std::size_t bytes;
  };

  const std::string topic_;
  std::string path_ = "-";
  std::uint64_t copied_by_publisher_ = 0;
  std::deque<Sample> recent_;
  std::vector<double> latencies_ms_;
  double bytes_ = 0;
  Clock::time_point first_{}, last_{};
};

/// A table of several lines, each ending in a newline.
std::string table(std::span<const Watch::Row> rows);

}  // namespace demo
