#include <cstdio>
#include <nlohmann/json.hpp>

#include "run.hpp"

namespace sinew::bench::graphs {

namespace {

using nlohmann::json;

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.3g", value);
  return text;
}

// p50 / p90 / p99 / max.
std::string latency(const json& row, const std::string& prefix) {
  std::string text;
  for (const char* key : {"p50_us", "p90_us", "p99_us", "max_us"}) {
    const json& value = row[prefix + key];
    text += (text.empty() ? "" : " / ") + (value.is_null() ? std::string("-") : number(value.get<double>()));
  }
  return text;
}

std::string megabytes(const json& row, const std::string& name) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f -> %.1f", row[name + "_first_kib"].get<double>() / 1024,
                row[name + "_last_kib"].get<double>() / 1024);
  return text;
}

std::string line_of(const json& row) {
  char growth[32];
  std::snprintf(growth, sizeof growth, "%+.2f", row["growth_kib_per_s"].get<double>());
  const std::string cells[] = {row["mode"].get<std::string>(),
                               std::to_string(row["processes"].get<unsigned>()),
                               std::to_string(row["received"].get<std::uint64_t>()),
                               std::to_string(row["lost"].get<std::uint64_t>()),
                               latency(row, ""),
                               latency(row, "big_"),
                               number(row["cpu_cores"].get<double>()),
                               row["cpu_us_per_message"].is_null() ? "-" : number(row["cpu_us_per_message"].get<double>()),
                               megabytes(row, "pss"),
                               growth,
                               megabytes(row, "rss"),
                               number(row["load"].get<double>())};
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

}  // namespace

std::string table_of(std::span<const json> rows) {
  if (rows.empty()) return "";
  const json& first = rows.front();
  std::string text = first["graph"].get<std::string>() + ": " + first["nodes"].dump() + " nodes, " + first["publishers"].dump() +
                     " publishers, " + first["subscriptions"].dump() + " subscriptions, " + number(first["seconds"].get<double>()) +
                     " s\n\n" + "| mode | processes | received | lost | p50 / p90 / p99 / max, us | from " + std::to_string(big_bytes) +
                     " B | cores | us/message | PSS, MiB | KiB/s | RSS, MiB | load |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const json& row : rows) text += line_of(row);
  return text;
}

}  // namespace sinew::bench::graphs
