// Any text as the manager's configuration is refused in a sentence, or gives rules that can be kept.
#include <algorithm>
#include <string>
#include <string_view>

#include "input.hpp"
#include "manager/state/config.hpp"
#include "manager/state/names.hpp"
#include "sinew/error.hpp"

namespace {

using namespace sinew::manager;
using sinew::fuzz::require;

/// A topic that the pattern matches.
std::string topic_of(std::string pattern) {
  std::ranges::replace(pattern, '*', 'a');
  return pattern;
}

void check(const AccessRules& rules) {
  for (const AccessRule& rule : rules.rules) {
    require(is_topic_pattern(rule.topic), "a rule is about a good pattern");
    for (const char c : rule.name) require((c < 0 || c >= ' ') && c != '\x7f', "a rule's name controls no terminal");
    const std::string topic = topic_of(rule.topic);
    if (complaint_about_topic_name(topic)) continue;
    for (const Access access : {Access::publish, Access::subscribe}) {
      const auto denied = decide(rules, access, topic, 1000, 44);
      require(!denied || denied->find('\0') == denied->npos, "a refusal can be sent");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Accounts accounts{[](const std::string& name) { return name == "robot" ? std::optional<uid_t>(1000) : std::nullopt; },
                                 [](const std::string& name) { return name == "video" ? std::optional<gid_t>(44) : std::nullopt; }};
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    check(parse_config(text, "rules.json", accounts));
  } catch (const sinew::Error& error) {
    require(error.kind() == sinew::ErrorKind::invalid_argument, "a configuration is refused for what it says");
    require(std::string_view(error.what()).starts_with("sinewd cannot use its configuration 'rules.json': "), "a refusal names the file");
  }
  return 0;
}
