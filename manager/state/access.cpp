#include "manager/state/access.hpp"

#include <algorithm>

#include "manager/state/names.hpp"
#include "wire/topic_name.hpp"

namespace sinew::manager {
namespace {

using Levels = std::vector<std::string_view>;

Levels levels_of(std::string_view name) {
  Levels levels;
  for (std::size_t slash = 0; (slash = name.find('/')) != name.npos; name.remove_prefix(slash + 1)) levels.push_back(name.substr(0, slash));
  levels.push_back(name);
  return levels;
}

/// Whether `text` is what `pattern` says, piece by piece: `is_star(piece)` stands for any number of pieces, another one for what `fits` it. A star that took
/// too little takes one piece more, and only the last one need be asked: what lies before it has found its place.
template <class Pieces, class IsStar, class Fits>
bool wildcard(const Pieces& pattern, const Pieces& text, IsStar is_star, Fits fits) {
  std::size_t p = 0, t = 0, after_star = 0, taken_to = 0;
  while (t < text.size()) {
    if (p < pattern.size() && is_star(pattern[p])) {
      after_star = ++p;
      taken_to = t;
    } else if (p < pattern.size() && fits(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (after_star > 0) {
      p = after_star;
      t = ++taken_to;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && is_star(pattern[p])) ++p;
  return p == pattern.size();
}

bool level_matches(std::string_view pattern, std::string_view level) {
  return wildcard(pattern, level, [](char c) { return c == '*'; }, [](char wanted, char there) { return wanted == there; });
}

template <class Numbers>
std::string listed(const char* what, const Numbers& numbers) {
  std::string text;
  for (const auto number : numbers) text += (text.empty() ? std::string(what) + " " : ", ") + std::to_string(number);
  return text;
}

std::string described(const Principals& principals) {
  if (principals.users.empty() && principals.groups.empty()) return "nobody";
  const char* const between = principals.users.empty() || principals.groups.empty() ? "" : " and ";
  return listed("uid", principals.users) + between + listed("gid", principals.groups);
}

}  // namespace

bool includes(const Principals& principals, User uid, Group gid) {
  return principals.all || principals.users.contains(uid) || principals.groups.contains(gid);
}

bool is_topic_pattern(std::string_view pattern) {
  for (const std::string_view level : levels_of(pattern)) {
    if (level != "**" && level.find("**") != level.npos) return false;
  }
  std::string name(pattern);
  std::ranges::replace(name, '*', '_');
  return wire::canonical_topic_name(name) == name && !complaint_about_topic_name(name);
}

bool matches(std::string_view pattern, std::string_view topic) {
  return wildcard(levels_of(pattern), levels_of(topic), [](std::string_view level) { return level == "**"; }, level_matches);
}

std::optional<std::string> decide(const AccessRules& rules, Access access, std::string_view topic, User uid, Group gid) {
  for (std::size_t place = 0; place < rules.rules.size(); ++place) {
    const AccessRule& rule = rules.rules[place];
    const std::optional<Principals>& principals = access == Access::publish ? rule.publish : rule.subscribe;
    if (!principals || !matches(rule.topic, topic)) continue;
    if (includes(*principals, uid, gid)) return std::nullopt;
    const std::string where = "access[" + std::to_string(place) + "] of " + rules.file;
    return std::string("you may not ") + (access == Access::publish ? "publish" : "subscribe to") + " topic '" + std::string(topic) +
           "': access rule " + (rule.name.empty() ? where : "'" + rule.name + "' (" + where + ")") + " allows " + described(*principals) +
           "; you are uid " + std::to_string(uid) + ", gid " + std::to_string(gid) +
           ". Run this program as somebody who is allowed, or change the rule and start sinewd again.";
  }
  return std::nullopt;
}

}  // namespace sinew::manager
