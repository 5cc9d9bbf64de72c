#include "tests/storm/graph.hpp"

#include <unistd.h>

#include <sstream>

namespace sinew::system {
namespace {

// Those of the same role pass the same points.
const std::vector<std::string> of_all = {"manager_link.node_told", "manager_link.interface_told"};
const std::vector<std::string> of_talkers = {"publisher.attaching",
                                             "publisher.listed",
                                             "publisher.newcomer_told",
                                             "publisher.telling",
                                             "publisher.all_told",
                                             "publisher.prepared",
                                             "publisher.pieces_written",
                                             "publisher.before_publish",
                                             "publisher.before_doorbell",
                                             "publisher.retired",
                                             "publisher.claims_gathered",
                                             "publisher.history_copied",
                                             "ring.fields",
                                             "ring.published",
                                             "ring.head",
                                             "ring.retired",
                                             "window.sealed"};
const std::vector<std::string> of_listeners = {"claim.first_look",   "claim.stored",       "claim.second_look",       "claim.copied",
                                               "claim.cursor",       "subscriber.claimed", "subscriber.chunk_mapped", "mappings.made",
                                               "thread.falls_asleep"};
const std::vector<std::string> of_servers = {"service.received",       "service.executed", "service.answered", "publisher.lane_prepared",
                                             "publisher.lane_retired", "ring.fields",      "ring.head",        "claim.stored",
                                             "subscriber.claimed"};
const std::vector<std::string> of_callers = {"service.sent",           "service.in_hand",    "publisher.lane_prepared",
                                             "publisher.lane_retired", "ring.fields",        "ring.head",
                                             "claim.stored",           "subscriber.claimed", "subscription.falls_asleep"};
const std::vector<std::string> of_exporters = {"export.written", "export.retired"};

std::vector<std::string> both(std::vector<std::string> some, const std::vector<std::string>& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

std::map<std::string, std::uint64_t> counts_in(const std::string& report) {
  std::map<std::string, std::uint64_t> counts;
  std::istringstream words(report);
  for (std::string name; words >> name;) words >> counts[name];
  return counts;
}

// What a burst of messages makes a window take at most, beyond what it had when it was looked at first.
constexpr std::size_t more_descriptors = 12, more_mappings = 60, more_kilobytes = 8 * 1024;

}  // namespace

Graph::Graph() {
  const bool has_strangers = ::geteuid() == 0;
  const auto add = [this](const std::string& role, const std::string& option, bool is_mortal, const std::vector<std::string>& labels) {
    places_.push_back({.role = role, .option = option, .is_mortal = is_mortal, .labels = both(labels, of_all)});
  };
  add("talker", "1", false, {});
  for (const char* way : {"native", "held", "view", "copy"}) add("listener", way, false, {});
  if (has_strangers) add("listener", "stranger", false, {});
  add("gossip", "2", false, {});
  add("server", "", false, {});
  add("caller", "", false, {});
  add("talker", "3", true, has_strangers ? both(of_talkers, of_exporters) : of_talkers);
  for (const char* way : {"held", "view"}) add("listener", way, true, of_listeners);
  if (has_strangers) add("listener", "stranger", true, {});
  add("gossip", "4", true, both(of_talkers, of_listeners));
  add("server", "", true, of_servers);
  add("caller", "", true, of_callers);
  for (Place& place : places_) start(place);
}

std::vector<Place*> Graph::mortals() {
  std::vector<Place*> mortals;
  for (Place& place : places_) {
    if (place.is_mortal) mortals.push_back(&place);
  }
  return mortals;
}

void Graph::start(Place& place) {
  place.name = place.role + "_" + place.option + "_" + std::to_string(++started_);
  place.child = std::make_unique<Child>(place.role, Arguments{place.name, place.option});
  place.child->expect("ready");
}

std::unique_ptr<Child> Graph::start_doomed(const Place& place, const std::string& at) {
  return std::make_unique<Child>(place.role, Arguments{"doomed_" + std::to_string(++started_), place.option},
                                 Child::Environment{{"SINEW_AT", at}});
}

std::string Graph::report_of(Place& place) {
  if (place.child->has_ended()) return place.name + " has ended (" + std::to_string(place.child->wait()) + "): " + place.child->errors();
  place.child->order("report");
  const std::optional<std::string> report = place.child->line();
  if (!report) return place.name + " says nothing: " + place.child->errors();
  return report->starts_with("wrong") ? place.name + " is " + *report : *report;
}

std::string Graph::trouble(const Place* but) {
  for (Place& place : places_) {
    if (&place == but) continue;
    std::string trouble;
    std::map<std::string, std::uint64_t> first;
    std::string halted;
    const auto goes_on = [&] {
      const std::string report = report_of(place);
      if (report.starts_with(place.name)) {
        trouble = report;
        return true;
      }
      const auto now = counts_in(report);
      if (first.empty()) first = now;
      halted.clear();
      for (const auto& [name, count] : now) {
        if (count == first[name]) halted += name + " ";
      }
      return halted.empty();
    };
    if (!eventually(goes_on)) trouble = place.name + " does not get on with " + halted;
    if (!trouble.empty()) return trouble;
  }
  return "";
}

std::map<std::string, Graph::Belongings> Graph::belongings(pid_t manager) const {
  std::map<std::string, Belongings> all;
  const auto look = [&all](const std::string& name, pid_t pid) {
    all[name] = {descriptors_of(pid), mappings_of(pid), private_bytes_of(pid) / 1024};
  };
  look("manager", manager);
  for (const Place& place : places_) {
    if (!place.is_mortal) look(place.name, place.child->pid());
  }
  return all;
}

std::string what_has_grown(const std::map<std::string, Graph::Belongings>& before, const std::map<std::string, Graph::Belongings>& now) {
  std::string grown;
  for (const auto& [name, had] : before) {
    const Graph::Belongings& has = now.at(name);
    const auto compare = [&](const char* what, std::size_t was, std::size_t is, std::size_t more) {
      if (is > was + more) grown += name + " had " + std::to_string(was) + what + ", now " + std::to_string(is) + "; ";
    };
    compare(" descriptors", had.descriptors, has.descriptors, more_descriptors);
    compare(" shared mappings", had.mappings, has.mappings, more_mappings);
    if (!sanitized) compare(" private kB", had.kilobytes, has.kilobytes, more_kilobytes);  // which keep what was freed
  }
  return grown;
}

std::string Graph::end() {
  std::string trouble;
  for (const char* role : {"caller", "server", "gossip", "listener", "talker"}) {  // callers first: they wait for answers
    for (Place& place : places_) {
      if (place.role != role) continue;
      place.child->finish();
      if (place.child->wait() != 0) trouble += place.name + ": " + place.child->errors() + "\n";
    }
  }
  return trouble;
}

}  // namespace sinew::system
