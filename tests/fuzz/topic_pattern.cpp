// Any two texts as a rule's pattern and a topic: a good pattern matches just what the plainest way to find out finds.
#include <algorithm>
#include <string>
#include <string_view>

#include "input.hpp"
#include "manager/state/access.hpp"
#include "manager/state/names.hpp"

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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), std::min<std::size_t>(size, 48));  // the plain way takes long for more
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string pattern(all.substr(0, end)), topic(all.substr(std::min(end + 1, all.size())));
  if (!is_topic_pattern(pattern)) return 0;
  for (std::size_t at = 0; (at = pattern.find("**", at)) != pattern.npos; ++at) {
    const bool begins = at == 0 || pattern[at - 1] == '/', ends = at + 2 == pattern.size() || pattern[at + 2] == '/';
    require(begins && ends, "two stars stand for whole levels alone");
  }
  if (!complaint_about_topic_name(topic) && !topic.starts_with('/')) {
    require(matches(pattern, topic) == matches_plainly(pattern, topic), "a pattern matches what it says");
  }
  return 0;
}
