// Tries all executions of a few threads. A thread is a function that does the same each time when it reads the same, so to know what it does next it is run from its beginning with what it has read,
// and left at its first new step.
#pragma once

#include <functional>
#include <set>
#include <source_location>
#include <string>
#include <vector>

#include "graph.hpp"

namespace checked {

/// Makes a step in the thread that is being run, and returns what it reads. `initial` is the value of the place before the threads began; when none is being run, it is read or changed itself.
std::uint64_t perform(Step step, std::memory_order order, const std::source_location& at, std::uint64_t& initial);

/// In a thread: what must hold in every execution.
void require(bool holds, const char* what);

/// A place in the source where a memory order stands.
struct Site {
  std::string file;
  unsigned line = 0, column = 0;
  Step::Kind kind = Step::Kind::fence;
  std::memory_order order = std::memory_order_relaxed;
  auto operator<=>(const Site&) const = default;
};

/// An order that is used instead of that of the source.
struct Weakening {
  Site site;
  std::memory_order order;
};

struct Report {
  std::string failure;     ///< "" when all executions are as they must be; else what the first bad one had wrong
  std::size_t graphs = 0;  ///< tried, also those that go on
  std::set<Site> sites;    ///< all that were come to
};

/// `start(thread)` runs it from its beginning; `ended()`, if any, is called when all have ended, for each execution.
Report explore(std::size_t threads, const std::function<void(std::size_t)>& start, const std::vector<Weakening>& weakened = {},
               const std::function<void()>& ended = nullptr);

}  // namespace checked
