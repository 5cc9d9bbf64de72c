// The graph of the storm: workers in their places, some of which are killed and replaced while the others must not notice.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// One place in the graph.
struct Place {
  std::string role, option;
  bool is_mortal = false;
  std::vector<std::string> labels{};  ///< the points of the protocols that such a worker passes
  std::unique_ptr<Child> child{};
  std::string name{};
};

class Graph {
 public:
  /// With root's rights one of another user is among them. Starts all.
  Graph();

  std::vector<Place*> mortals();
  /// A worker in an empty place, which is ready.
  void start(Place& place);
  /// One like it beside it, which is to die at this point ("LABEL:PASS:kill").
  std::unique_ptr<Child> start_doomed(const Place& place, const std::string& at);

  /// Every worker that was not killed still lives, has found nothing wrong, and gets on with all that it does, one after the other. Says what is not so; "" when all is well.
  std::string trouble(const Place* but = nullptr);
  /// Descriptors, shared mappings and private memory of those that are never killed, and of the manager, by their names.
  struct Belongings {
    std::size_t descriptors = 0, mappings = 0, kilobytes = 0;
  };
  std::map<std::string, Belongings> belongings(pid_t manager) const;

  /// All end by themselves. Says what does not; "" when all did.
  std::string end();

 private:
  std::string report_of(Place& place);
  std::vector<Place> places_;
  std::uint64_t started_ = 0;
};

/// Says whose belongings are more than a burst of messages explains; "" when nobody's are.
std::string what_has_grown(const std::map<std::string, Graph::Belongings>& before, const std::map<std::string, Graph::Belongings>& now);

}  // namespace sinew::system
