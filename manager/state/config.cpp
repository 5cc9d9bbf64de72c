#include "manager/state/config.hpp"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "manager/state/names.hpp"
#include "sinew/error.hpp"
#include "wire/topic_name.hpp"

namespace sinew::manager {
namespace {

using nlohmann::json;

// The largest number stands for "no user" in system calls.
constexpr std::uint64_t count_of_numbers = 0xffff'ffff;

/// `what` is wrong with the configuration `file`.
[[noreturn]] void refuse(const std::string& file, const std::string& what) {
  throw Error(ErrorKind::invalid_argument, "sinewd cannot use its configuration '" + file + "': " + what + ".");
}

std::string described(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.dump(-1, ' ', true);  // in ASCII
}

/// Walks the JSON and knows where it is: what is wrong is told with its path.
class Reader {
 public:
  Reader(const std::string& file, const Accounts& accounts) : file_(file), accounts_(accounts) {}

  AccessRules read(const json& root) const {
    AccessRules rules{file_, {}, {}};
    require_object(root, "", {"join", "access"});
    if (root.contains("join")) rules.join = principals(root["join"], "join");
    if (!root.contains("access")) return rules;
    const json& access = root["access"];
    if (!access.is_array()) expected("a list of rules", "access", access);
    for (std::size_t i = 0; i < access.size(); ++i) rules.rules.push_back(rule(access[i], "access[" + std::to_string(i) + "]"));
    return rules;
  }

 private:
  [[noreturn]] void expected(const std::string& wanted, const std::string& path, const json& there) const {
    refuse(file_, (path.empty() ? "the whole" : path) + " is " + described(there) + ", expected " + wanted);
  }

  void require_object(const json& value, const std::string& path, const std::vector<std::string>& keys) const {
    std::string wanted;
    for (const std::string& key : keys) wanted.append(wanted.empty() ? "'" : ", '").append(key).append("'");
    if (!value.is_object()) expected("an object with " + wanted, path, value);
    for (const auto& [key, unused] : value.items()) {
      if (std::ranges::find(keys, key) == keys.end()) {
        refuse(file_, member(path, key) + " is not known, expected " + (keys.size() > 1 ? "one of " : "") + wanted);
      }
    }
  }

  static std::string member(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

  AccessRule rule(const json& value, const std::string& path) const {
    require_object(value, path, {"name", "topic", "publish", "subscribe"});
    AccessRule rule;
    if (value.contains("name")) rule.name = name(value["name"], path + ".name");
    if (!value.contains("topic")) refuse(file_, path + " has no 'topic', expected a pattern of the topics that it is about");
    rule.topic = topic(value["topic"], path + ".topic");
    if (value.contains("publish")) rule.publish = principals(value["publish"], path + ".publish");
    if (value.contains("subscribe")) rule.subscribe = principals(value["subscribe"], path + ".subscribe");
    return rule;
  }

  // It becomes part of a message to nodes, which holds no NUL, and of what they print.
  std::string name(const json& value, const std::string& path) const {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
    std::string text = value.is_string() ? value.get<std::string>() : "";
    if (text.empty() || std::ranges::any_of(text, is_control)) expected("some words without control characters", path, value);
    return text;
  }

  std::string topic(const json& value, const std::string& path) const {
    const std::string text = value.is_string() ? value.get<std::string>() : "";
    std::string pattern(wire::canonical_topic_name(text));
    if (!is_topic_pattern(pattern)) {
      expected(
          "a topic's name, in which '*' may stand for any characters within one level, and a whole level '**' for any number of levels",
          path, value);
    }
    return pattern;
  }

  Principals principals(const json& value, const std::string& path) const {
    if (value == "all") return {.all = true, .users = {}, .groups = {}};
    if (value == "none") return {};
    if (!value.is_object() || value.empty()) expected("\"all\", \"none\", or an object with 'uid' or 'gid' or both", path, value);
    require_object(value, path, {"uid", "gid"});
    Principals principals;
    if (value.contains("uid")) principals.users = numbers(value["uid"], path + ".uid", "user", accounts_.user);
    if (value.contains("gid")) principals.groups = numbers(value["gid"], path + ".gid", "group", accounts_.group);
    return principals;
  }

  template <class Number>
  std::set<Number> numbers(const json& value, const std::string& path, const std::string& of,
                           const std::function<std::optional<Number>(const std::string&)>& by_name) const {
    if (!value.is_array()) expected("a list of numbers or names of " + of + "s", path, value);
    std::set<Number> found;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const json& each = value[i];
      std::optional<Number> number;
      if (each.is_string()) number = by_name(each.get<std::string>());
      if (each.is_number_unsigned() && each.get<std::uint64_t>() < count_of_numbers) number = each.get<Number>();
      if (!number) expected("the number of a " + of + " or the name of one on this machine", path + "[" + std::to_string(i) + "]", each);
      found.insert(*number);
    }
    return found;
  }

  const std::string& file_;
  const Accounts& accounts_;
};

/// Of two equal keys in an object the parser would silently keep one: whoever wrote the other would believe in a rule that does not hold.
class RepeatedKeys {
 public:
  explicit RepeatedKeys(const std::string& file) : file_(file) {}
  bool operator()(int, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second) {
      refuse(file_, "the key " + described(parsed) + " stands twice in one object");
    }
    return true;
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> open_;  // keys of the objects that have begun and not ended
};

}  // namespace

AccessRules parse_config(const std::string& text, const std::string& file, const Accounts& accounts) {
  try {
    constexpr bool may_throw = true, with_comments = true;
    return Reader(file, accounts).read(json::parse(text, RepeatedKeys(file), may_throw, with_comments));
  } catch (const json::exception& error) {
    const std::string what = error.what();  // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    refuse(file, what.substr(what.find("] ") + 2));
  }
}

}  // namespace sinew::manager
