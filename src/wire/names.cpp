#include "wire/names.hpp"

#include <array>
#include <cstddef>

#include "base/cut.hpp"
#include "base/printable.hpp"
#include "wire/messages.hpp"

namespace sinew::wire {
namespace {

constexpr std::size_t shown_of_long = 64;

// What has the longest name of all that is made of it.
constexpr std::size_t most_of_service = max_name - response_suffix.size();
constexpr std::size_t most_of_action = most_of_service - std::string_view("/_action/goal").size();  // A1

struct Rule {
  const char* what;
  const char* allowed;  // up to the number
  const char* more;     // behind it
  std::size_t most;
};
// By Named.
constexpr std::array<Rule, 4> rules = {{
    {"node", "A node name is 1 to ", ": letters, digits, '_', '.', '/' and '-'.", max_name},
    {"topic", "A topic name is words of letters, digits and '_' with a single '/' between them, as in 'camera/image', at most ", ".",
     max_name},
    {"service", "A service name is words of letters, digits and '_' with a single '/' between them, as in 'arm/move', at most ", ".",
     most_of_service},
    {"action", "An action name is words of letters, digits and '_' with a single '/' between them, as in 'arm/move', at most ", ".",
     most_of_action},
}};

const Rule& rule_of(Named what) noexcept {
  return rules[static_cast<std::size_t>(what)];
}

std::string characters(std::size_t count) {
  return std::to_string(count) + " characters";
}

}  // namespace

std::string bad_name(Named what, std::string_view name, const std::string& reason) {
  const Rule& rule = rule_of(what);
  const bool is_long = name.size() > rule.most;
  return std::string(rule.what) + " name '" + base::printable(is_long ? base::cut(name, shown_of_long) : name) + (is_long ? "..." : "") +
         "' is not allowed: " + reason + ". " + rule.allowed + characters(rule.most) + rule.more;
}

std::optional<std::string> complaint_about_length(Named what, std::string_view name) {
  if (name.size() > rule_of(what).most) return bad_name(what, name, "it has " + characters(name.size()));
  if (what == Named::node ? name.empty() : canonical_topic_name(name).empty()) return bad_name(what, name, "it is empty");
  return std::nullopt;
}

}  // namespace sinew::wire
