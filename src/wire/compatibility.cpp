#include "wire/compatibility.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace sinew::wire {
namespace {

/// None is longer than any.
std::int64_t length_of(std::int64_t duration) {
  return duration == 0 ? std::numeric_limits<std::int64_t>::max() : duration;
}

/// To the nanosecond, so that two different ones never read alike: "1.5 s", "33.333333 ms".
std::string text_of(std::int64_t duration) {
  struct Unit {
    std::int64_t nanoseconds;
    std::size_t digits;
    const char* name;
  };
  constexpr std::array<Unit, 4> units{{{1'000'000'000, 9, " s"}, {1'000'000, 6, " ms"}, {1'000, 3, " us"}, {1, 0, " ns"}}};
  std::size_t fitting = 0;
  while (fitting + 1 < units.size() && units[fitting].nanoseconds > duration) ++fitting;
  const Unit& unit = units[fitting];
  std::string text = std::to_string(duration / unit.nanoseconds);
  if (duration % unit.nanoseconds != 0) {
    const std::string fraction = std::to_string(duration % unit.nanoseconds);
    text += "." + std::string(unit.digits - fraction.size(), '0') + fraction;
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text + unit.name;
}

std::string deadline_of(const Qos& qos) {
  return qos.deadline == 0 ? "none" : text_of(qos.deadline);
}

std::string liveliness_of(const Qos& qos) {
  const std::string kind = qos.liveliness == Liveliness::manual_by_topic ? "manual_by_topic" : "automatic";
  return kind + (qos.lease == 0 ? " without a lease" : " with a lease of " + text_of(qos.lease));
}

std::string reliability_of(const Qos& qos) {
  return qos.reliable ? "reliable" : "best_effort";
}

std::string durability_of(const Qos& qos) {
  return qos.durability == Durability::transient_local ? "transient_local" : "volatile";
}

struct Rule {
  Policy policy;
  const char* name;
  bool (*fits)(const Qos& offered, const Qos& asked);
  std::string (*text)(const Qos& qos);
  const char* remedy;
};

constexpr std::array<Rule, 4> rules{{
    {Policy::reliability, "reliability", [](const Qos& offered, const Qos& asked) { return offered.reliable || !asked.reliable; },
     reliability_of, "Make the publisher reliable(), or the subscriber best_effort()."},
    {Policy::durability, "durability", [](const Qos& offered, const Qos& asked) { return offered.durability >= asked.durability; },
     durability_of, "Make the publisher transient_local(), or the subscriber volatile_()."},
    {Policy::deadline, "deadline",
     [](const Qos& offered, const Qos& asked) { return length_of(offered.deadline) <= length_of(asked.deadline); }, deadline_of,
     "Give the publisher a deadline() that is no longer than the subscriber's, or the subscriber a longer one or none."},
    {Policy::liveliness, "liveliness",
     [](const Qos& offered, const Qos& asked) {
       return offered.liveliness >= asked.liveliness && length_of(offered.lease) <= length_of(asked.lease);
     },
     liveliness_of,
     "Give the publisher the liveliness() that the subscriber asks for, with a lease that is no longer, or let the subscriber ask for "
     "less."},
}};

}  // namespace

std::vector<Policy> incompatible_policies(const Qos& offered, const Qos& asked) {
  std::vector<Policy> found;
  for (const Rule& rule : rules) {
    if (!rule.fits(offered, asked)) found.push_back(rule.policy);
  }
  return found;
}

Terms terms_of(Policy policy, const Qos& offered, const Qos& asked) {
  const Rule& rule = *std::ranges::find(rules, policy, &Rule::policy);
  return {rule.name, rule.text(offered), rule.text(asked), rule.remedy};
}

std::string explain(Policy policy, const Qos& offered, const Qos& asked) {
  const Terms terms = terms_of(policy, offered, asked);
  return terms.name + ": the publisher offers " + terms.offered + ", the subscriber asks for " + terms.asked;
}

}  // namespace sinew::wire
