#include "summary.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "watch.hpp"

namespace demo {
namespace {

constexpr double longest_quiet_s = 2;

struct Totals {
  double published = 0, copied = 0, missed = 0;
};

/// Publisher and subscribers of a topic together.
Totals totals_of(const Outcome& outcome, const std::string& topic) {
  Totals totals;
  for (const ReportLine& line : outcome.lines) {
    if (line.topic != topic) continue;
    totals.published += line["published"];
    totals.copied += line["bytes_copied"];
    totals.missed += line["missed"];
  }
  return totals;
}

std::string columns(const Outcome& outcome, const ReportLine& watched) {
  const Totals totals = totals_of(outcome, watched.topic);
  const double megabytes_per_second = watched["received"] > 0 ? watched["rate"] * watched["bytes"] / watched["received"] / 1e6 : 0;
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%7.1f %7.2f %8.3f %8.3f %7.0f %9s", watched["rate"], megabytes_per_second, watched["p50_ms"],
                watched["p99_ms"], totals.missed, human_bytes(totals.published > 0 ? totals.copied / totals.published : 0).c_str());
  return text.data();
}

std::string processor_time(const Outcome& outcome) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), "%.1f s in %.1f s: %.2f cores", outcome.cpu_seconds, outcome.seconds,
                outcome.seconds > 0 ? outcome.cpu_seconds / outcome.seconds : 0);
  return text.data();
}

std::string pad(std::string text, std::size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text;
}

}  // namespace

std::vector<std::string> complaints(const Outcome& outcome, const std::string& transport) {
  std::vector<std::string> found = outcome.failures;
  for (const ReportLine& line : outcome.lines) {
    const std::string where = "over " + transport + ": ";
    if (line.kind == "watched" && line["received"] == 0) found.push_back(where + line.topic + " was silent");
    if (line.kind == "watched" && line["quiet_s"] > longest_quiet_s) found.push_back(where + line.topic + " fell silent before the end");
    if (line["refused"] > 0) found.push_back(where + line.node + " could not publish every message of " + line.topic);
    if (line.kind == "subscriber" && line["received"] == 0) found.push_back(where + line.node + " got nothing from " + line.topic);
    if (transport != "sinew" || (line.topic != "camera/image" && line.topic != "lidar/points")) continue;
    if (line["bytes_copied"] > 0) found.push_back(where + line.node + " copied " + human_bytes(line["bytes_copied"]) + " of " + line.topic);
    if (line["not_in_place"] > 0)
      found.push_back(where + line.node + " did not read every message of " + line.topic + " where it was built");
  }
  return found;
}

std::string side_by_side(const Outcome& sinew, const Outcome& tcp) {
  constexpr std::size_t name_width = 17, half_width = 51;
  const std::string titles = "     Hz    MB/s   p50 ms   p99 ms  missed copied/msg";
  std::string text = pad("", name_width) + "| " + pad("sinew", half_width) + " | loopback TCP, serialized\n";
  text += pad("topic", name_width) + "| " + pad(titles, half_width) + " | " + titles + '\n';
  for (const ReportLine& line : sinew.lines) {
    if (line.kind != "watched") continue;
    const auto other =
        std::find_if(tcp.lines.begin(), tcp.lines.end(), [&](const ReportLine& o) { return o.kind == "watched" && o.topic == line.topic; });
    text += pad(line.topic, name_width) + "| " + pad(columns(sinew, line), half_width) + " | " +
            (other == tcp.lines.end() ? "-" : columns(tcp, *other)) + '\n';
  }
  text += pad("processor time", name_width) + "| " + pad(processor_time(sinew), half_width) + " | " + processor_time(tcp) + '\n';
  text +=
      "Latency: from the start of publish() to the monitor's callback. Copied: payload bytes copied by the publisher and all subscribers "
      "of a topic,\n"
      "per message published; over TCP into and out of the kernel as well as by serializing and deserializing.\n";
  return text;
}

}  // namespace demo
