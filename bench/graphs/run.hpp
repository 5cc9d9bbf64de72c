// One run of a graph: what is measured, and what came out of it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

#include "topology.hpp"

namespace sinew::bench::graphs {

/// A way of carrying the messages.
struct Mode {
  std::string_view name, help;
  std::string_view program;  ///< lies beside this one
  bool with_manager;         ///< needs sinewd
  enum class Nodes { on_one_thread, on_threads, in_processes } nodes;
};

std::span<const Mode> modes();

/// Payloads from this size on are summed up once more by themselves.
inline constexpr std::size_t big_bytes = 10'000;

/// Runs all nodes for so many seconds in fresh processes, in a domain of their own, and returns the row (README.md says what is in it). Throws std::exception
/// when it cannot be measured.
nlohmann::json run(const std::string& graph, const Mode& mode, unsigned seconds, bool awake);

/// Rows as a table for people, in Markdown.
std::string table_of(std::span<const nlohmann::json> rows);

}  // namespace sinew::bench::graphs
