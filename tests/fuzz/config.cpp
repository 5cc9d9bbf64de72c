// Any text as the manager's configuration is refused in a sentence, or gives rules that mean what they say: which topics a pattern matches is compared with the plainest way to find out.
#include <string>
#include <string_view>

#include "input.hpp"
#include "manager/state/config.hpp"
#include "manager/state/names.hpp"
#include "sinew/error.hpp"
#include "wire/topic_name.hpp"

namespace {

using namespace sinew::manager;
using sinew::fuzz::require;

/// Characters, but for a level "**", which stands for any number of levels.
bool matches_plainly(std::string_view pattern, std::string_view topic) {
  const auto rest = [](std::string_view text, std::size_t level) { return text.substr(std::min(level + 1, text.size())); };
  const std::size_t slash = std::min(pattern.find('/'), pattern.size()), end = std::min(topic.find('/'), topic.size());
  const std::string_view level = pattern.substr(0, slash), there = topic.substr(0, end);
  if (pattern.empty() || topic.empty())
    return topic.empty() && (pattern.empty() || (level == "**" && matches_plainly(rest(pattern, slash), topic)));
  if (level == "**") return matches_plainly(rest(pattern, slash), topic) || matches_plainly(pattern, rest(topic, end));
  const auto fits = [](const auto& self, std::string_view stars, std::string_view text) -> bool {
    if (stars.empty()) return text.empty();
    if (stars[0] == '*') return self(self, stars.substr(1), text) || (!text.empty() && self(self, stars, text.substr(1)));
    return !text.empty() && stars[0] == text[0] && self(self, stars.substr(1), text.substr(1));
  };
  return fits(fits, level, there) && matches_plainly(rest(pattern, slash), rest(topic, end));
}

/// A topic that the pattern was made from, or nearly: for stars stand parts of the text.
std::string topic_of(std::string_view pattern, std::string_view text) {
  std::string topic;
  for (const char c : pattern) {
    const char other = text.empty() ? 'a' : text[topic.size() % text.size()];
    if (c == '*') {
      topic += other == '/' || (other >= 'a' && other <= 'z') ? std::string(1, other) : "";
    } else {
      topic += c;
    }
  }
  return topic;
}

void check(const AccessRules& rules, const std::string& text) {
  for (const AccessRule& rule : rules.rules) {
    require(is_topic_pattern(rule.topic), "a rule is about a good pattern");
    for (const char c : rule.name) require((c < 0 || c >= ' ') && c != '\x7f', "a rule's name controls no terminal");
    for (const std::string& topic : {topic_of(rule.topic, text), topic_of(rule.topic, ""), topic_of(rule.topic, "a/")}) {
      if (complaint_about_topic_name(topic) || sinew::wire::canonical_topic_name(topic) != topic) continue;
      if (rule.topic.size() < 24)
        require(matches(rule.topic, topic) == matches_plainly(rule.topic, topic), "a pattern matches what it says");
      for (const Access access : {Access::publish, Access::subscribe}) {
        const auto denied = decide(rules, access, topic, 1000, 44);
        require(!denied || denied->find('\0') == denied->npos, "a refusal can be sent");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Accounts accounts{[](const std::string& name) { return name == "robot" ? std::optional<uid_t>(1000) : std::nullopt; },
                                 [](const std::string& name) { return name == "video" ? std::optional<gid_t>(44) : std::nullopt; }};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check(parse_config(text, "rules.json", accounts), text);
  } catch (const sinew::Error& error) {
    require(error.kind() == sinew::ErrorKind::invalid_argument, "a configuration is refused for what it says");
    require(std::string_view(error.what()).starts_with("sinewd cannot use its configuration 'rules.json': "), "a refusal names the file");
  }
  return 0;
}
