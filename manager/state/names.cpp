#include "manager/state/names.hpp"

#include "wire/names.hpp"
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

}  // namespace

std::optional<std::string> complaint_about_node_name(std::string_view name) {
  if (auto complaint = wire::complaint_about_length(wire::Named::node, name)) return complaint;
  for (const char c : name) {
    if (!is_word(c) && c != '.' && c != '/' && c != '-') return wire::bad_name(wire::Named::node, name, shown(c) + " is in it");
  }
  return std::nullopt;
}

std::optional<std::string> complaint_about_topic_name(std::string_view name) {
  const wire::UsersName given = wire::users_name(name);
  const auto bad = [&](const std::string& reason) { return wire::bad_name(given.what, given.name, reason); };
  if (auto complaint = wire::complaint_about_length(given.what, given.name)) return complaint;
  char before = '/';
  for (const char c : wire::canonical_topic_name(given.name)) {
    if (!is_word(c) && c != '/') return bad(shown(c) + " is in it");
    if (c == '/' && before == '/') return bad("it has '/' with no word before it");
    before = c;
  }
  if (before == '/') return bad("it ends with '/'");
  return std::nullopt;
}

}  // namespace sinew::manager
