// Who may publish and who may subscribe to which topics, as the manager's configuration says.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::manager {

/// The numbers of a user and of a group of this machine.
using User = std::uint32_t;
using Group = std::uint32_t;

enum class Access { publish, subscribe };

/// Everybody, or those of these users or (effective) groups.
struct Principals {
  bool all = false;
  std::set<User> users;
  std::set<Group> groups;
};

/// Whether they include somebody with this user and effective group.
bool includes(const Principals& principals, User uid, Group gid);

struct AccessRule {
  std::string name;                              // for people; empty when it has none
  std::string topic;                             // a good pattern
  std::optional<Principals> publish, subscribe;  // nothing: the rule says nothing about that
};

struct AccessRules {
  std::string file;                // where they come from, for those whom they refuse
  std::optional<Principals> join;  // who may be in the domain, besides the manager's own user
  std::vector<AccessRule> rules;
};

/// True for a topic's name (as wire::canonical_topic_name() gives it) in which '*' may stand for any characters within one level, and a whole level '**' for any
/// number of levels, also none.
bool is_topic_pattern(std::string_view pattern);
/// REQUIRES: is_topic_pattern(pattern).
bool matches(std::string_view pattern, std::string_view topic);

/// Why this peer may not do that on the topic, as a sentence; nothing when it may. The first rule whose pattern matches and that speaks about the access
/// decides, and where there is none it is allowed.
std::optional<std::string> decide(const AccessRules& rules, Access access, std::string_view topic, User uid, Group gid);

}  // namespace sinew::manager
