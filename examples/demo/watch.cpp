#include "watch.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace demo {
namespace {

constexpr std::chrono::seconds window{2};

template <class... A>
std::string format(const char* pattern, A... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), pattern, values...);
  return text.data();
}

double seconds(Watch::Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

double percentile(std::vector<double> values, double part) {
  if (values.empty()) return 0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::string human_bytes(double bytes) {
  if (bytes < 1e3) return format("%.0f B", bytes);
  if (bytes < 1e6) return format("%.1f kB", bytes / 1e3);
  if (bytes < 1e9) return format("%.1f MB", bytes / 1e6);
  return format("%.1f GB", bytes / 1e9);
}

void Watch::record(Clock::time_point now, const Arrival& arrival, std::size_t bytes, std::uint64_t copied_by_publisher) {
  if (latencies_ms_.empty()) first_ = now;
  last_ = now;
  path_ = arrival.path;
  copied_by_publisher_ = copied_by_publisher;
  const double latency = std::chrono::duration<double, std::milli>(arrival.latency).count();
  recent_.push_back({now, latency, bytes});
  latencies_ms_.push_back(latency);
  bytes_ += static_cast<double>(bytes);
}

Watch::Row Watch::row(Clock::time_point now, std::uint64_t copied_here) {
  while (!recent_.empty() && recent_.front().time < now - window) recent_.pop_front();
  Row row{.topic = topic_, .path = path_, .bytes_copied = static_cast<double>(copied_by_publisher_ + copied_here)};
  if (recent_.size() < 2) return row;
  std::vector<double> latencies;
  double bytes = 0;
  for (const Sample& sample : recent_) {
    latencies.push_back(sample.latency_ms);
    bytes += static_cast<double>(sample.bytes);
  }
  const auto count = static_cast<double>(recent_.size());
  row.rate = (count - 1) / seconds(recent_.back().time - recent_.front().time);
  row.megabytes_per_second = row.rate * bytes / count / 1e6;
  row.p50_ms = percentile(latencies, 0.5);
  row.p99_ms = percentile(std::move(latencies), 0.99);
  return row;
}

ReportLine Watch::total(Clock::time_point now) const {
  const auto count = static_cast<double>(latencies_ms_.size());
  const double span = seconds(last_ - first_);
  return {.kind = "watched",
          .node = {},
          .topic = topic_,
          .values = {{"received", count},
                     {"rate", span > 0 ? (count - 1) / span : 0},
                     {"bytes", bytes_},
                     {"p50_ms", percentile(latencies_ms_, 0.5)},
                     {"p99_ms", percentile(latencies_ms_, 0.99)},
                     {"quiet_s", count > 0 ? seconds(now - last_) : 0}}};
}

std::string table(std::span<const Watch::Row> rows) {
  std::string text = format("%-18s %8s %9s %10s %10s %13s  %s\n", "topic", "Hz", "MB/s", "p50 ms", "p99 ms", "bytes copied", "delivery");
  for (const Watch::Row& row : rows) {
    text += format("%-18s %8.1f %9.2f %10.3f %10.3f %13s  %s\n", row.topic.c_str(), row.rate, row.megabytes_per_second, row.p50_ms,
                   row.p99_ms, human_bytes(row.bytes_copied).c_str(), row.path.c_str());
  }
  return text;
}

}  // namespace demo
