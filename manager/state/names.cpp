#include "manager/state/names.hpp"

#include "base/printable.hpp"
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

std::string bad_name(const char* what, std::string_view name, const std::string& reason, const char* allowed) {
  return std::string(what) + " name '" + base::printable(name) + "' is not allowed: " + reason + ". " + allowed;
}

constexpr const char* node_rule = "A node name is 1 to 255 characters: letters, digits, '_', '.', '/' and '-'.";
constexpr const char* topic_rule =
    "A topic name is words of letters, digits and '_' with a single '/' between them, as in 'camera/image', at most 255 characters.";
constexpr const char* service_rule =
    "A service name is words of letters, digits and '_' with a single '/' between them, as in 'arm/move', at most 246 characters.";

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
  const std::string_view service = wire::service_of(name);
  const bool is_service = !service.empty();
  const auto bad = [&](const std::string& reason) {
    return bad_name(is_service ? "service" : "topic", is_service ? service : name, reason, is_service ? service_rule : topic_rule);
  };
  if (name.size() > wire::max_name) return bad("it has " + std::to_string(is_service ? service.size() : name.size()) + " characters");
  const std::string_view canonical = wire::canonical_topic_name(is_service ? service : name);
  if (canonical.empty()) return bad("it is empty");
  char before = '/';
  for (const char c : canonical) {
    if (!is_word(c) && c != '/') return bad(shown(c) + " is in it");
    if (c == '/' && before == '/') return bad("it has '/' with no word before it");
    before = c;
  }
  if (before == '/') return bad("it ends with '/'");
  return std::nullopt;
}

}  // namespace sinew::manager
