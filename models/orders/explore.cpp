#include "explore.hpp"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace checked {

namespace {

struct Left {};  // thrown at the first new step
struct Broken {
  std::string what;
};

/// The thread that is being run.
struct Running {
  const std::vector<std::uint64_t>& results;
  const std::vector<Weakening>& weakened;
  std::set<Site>& sites;
  std::size_t made = 0;
  std::optional<Step> next = std::nullopt;
};
Running* running = nullptr;

std::memory_order order_of(const Step& step, std::memory_order order, const std::source_location& at) {
  const std::string_view path = at.file_name();
  const Site site{std::string(path.substr(path.rfind('/') + 1)), at.line(), at.column(), step.kind, order};
  running->sites.insert(site);
  const auto found = std::ranges::find(running->weakened, site, &Weakening::site);
  return found == running->weakened.end() ? order : found->order;
}

class Explorer {
 public:
  Explorer(const std::function<void(std::size_t)>& start, std::size_t threads, const std::vector<Weakening>& weakened,
           const std::function<void()>& ended)
      : start_(start), ended_(ended), threads_(threads), weakened_(weakened) {}

  Report run() {
    std::vector<Graph> waiting{Graph(threads_)};
    try {
      while (!waiting.empty()) {
        const Graph graph = std::move(waiting.back());
        waiting.pop_back();
        go_on(graph, waiting);
      }
    } catch (const Broken& broken) {
      report_.failure = broken.what;
    }
    return report_;
  }

 private:
  // What the thread does next; nothing: it has ended.
  std::optional<Step> next_of(const Graph& graph, std::size_t thread) {
    Running state{graph.results(thread), weakened_, report_.sites};
    running = &state;
    try {
      start_(thread);
    } catch (const Left&) {
    } catch (const Broken&) {
      running = nullptr;
      throw;
    }
    running = nullptr;
    return state.next;
  }

  void go_on(const Graph& graph, std::vector<Graph>& waiting) {
    ++report_.graphs;
    std::vector<std::pair<std::size_t, Step>> reading;
    for (std::size_t thread = 0; thread < threads_; ++thread) {
      const std::optional<Step> next = next_of(graph, thread);
      if (!next) continue;
      if (!next->reads_word()) {
        // Nobody can do anything else for want of waiting for this: later stores may come before it in their order, and loads may read older ones.
        add(graph.after(thread, *next), waiting);
        return;
      }
      reading.emplace_back(thread, *next);
    }
    if (reading.empty()) {
      if (ended_) ended_();
      return;
    }
    bool goes_on = false;
    for (const auto& [thread, step] : reading) {
      std::vector<Graph> all = graph.after(thread, step);
      goes_on = goes_on || !all.empty();
      add(std::move(all), waiting);
    }
    if (!goes_on) throw Broken{"everybody waits for good"};
  }

  void add(std::vector<Graph>&& all, std::vector<Graph>& waiting) {
    for (Graph& graph : all) {
      if (!graph.race().empty()) throw Broken{graph.race()};
      if (known_.insert(graph.key()).second) waiting.push_back(std::move(graph));
    }
  }

  const std::function<void(std::size_t)>& start_;
  const std::function<void()>& ended_;
  const std::size_t threads_;
  const std::vector<Weakening>& weakened_;
  std::unordered_set<std::string> known_;
  Report report_;
};

}  // namespace

std::uint64_t perform(Step step, std::memory_order order, const std::source_location& at, std::uint64_t& initial) {
  if (!running) {
    const std::uint64_t before = initial;
    if (step.kind == Step::Kind::change || step.kind == Step::Kind::store || step.kind == Step::Kind::write) {
      initial = step.changed(before);
    }
    return before;
  }
  if (running->made < running->results.size()) return running->results[running->made++];
  step.order = step.is_plain() ? order : order_of(step, order, at);
  step.initial = initial;
  running->next = step;
  throw Left{};
}

void require(bool holds, const char* what) {
  if (!holds) throw Broken{what};
}

Report explore(std::size_t threads, const std::function<void(std::size_t)>& start, const std::vector<Weakening>& weakened,
               const std::function<void()>& ended) {
  return Explorer(start, threads, weakened, ended).run();
}

}  // namespace checked
