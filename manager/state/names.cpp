#include "manager/state/names.hpp"

#include "wire/messages.hpp"
#include "wire/topic_name.hpp"

namespace sinew::manager {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// 'x', or byte 0x1b for what a terminal would not show.
std::string shown(char c) {
  if (c >= ' ' && c <= '~') return std::string("character '") + c + "'";
  constexpr const char* digits = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("byte 0x") + digits[byte >> 4] + digits[byte & 15];
}

std::string printable(std::string_view name) {
  std::string text;
  for (const char c : name) text += c >= ' ' && c <= '~' ? c : '?';
  return text;
}

std::string bad_name(const char* what, std::string_view name, const std::string& reason, const char* allowed) {
  return std::string(what) + " name '" + printable(name) + "' is not allowed: " + reason + ". " + allowed;
}

constexpr const char* node_rule = "A node name is 1 to 255 characters: letters, digits, '_', '.', '/' and '-'.";
constexpr const char* topic_rule =
    "A topic name is words of letters, digits and '_' with a single '/' between them, as in 'camera/image', at most 255 characters.";

}  // namespace

std::optional<std::string> complaint_about_node_name(std::string_view name) {
  if (name.empty()) return bad_name("node", name, "it is empty", node_rule);
  if (name.size() > wire::max_name) return bad_name("node", name, "it has " + std::to_string(name.size()) + " characters", node_rule);
  for (const char c : name) {
    if (!is_word(c) && c != '.' && c != '/' && c != '-') return bad_name("node", name, shown(c) + " is in it", node_rule);
  }
  return std::nullopt;
}

std::optional<std::string> complaint_about_topic_name(std::string_view name) {
  if (name.size() > wire::max_name) return bad_name("topic", name, "it has " + std::to_string(name.size()) + " characters", topic_rule);
  const std::string_view canonical = wire::canonical_topic_name(name);
  if (canonical.empty()) return bad_name("topic", name, "it is empty", topic_rule);
  char before = '/';
  for (const char c : canonical) {
    if (!is_word(c) && c != '/') return bad_name("topic", name, shown(c) + " is in it", topic_rule);
    if (c == '/' && before == '/') return bad_name("topic", name, "it has '/' with no word before it", topic_rule);
    before = c;
  }
  if (before == '/') return bad_name("topic", name, "it ends with '/'", topic_rule);
  return std::nullopt;
}

}  // namespace sinew::manager
