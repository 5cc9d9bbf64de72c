#include "rclcpp/rules.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <ios>
#include <locale>
#include <sstream>

namespace sinew::rclcpp::detail {
namespace {

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorKind::invalid_argument, sentence);
}

const char* type_name(const ParameterValue& value) noexcept {
  constexpr std::array names = {"an empty list",   "a bool",          "an integer",         "a double",          "a string",
                                "a list of bytes", "a list of bools", "a list of integers", "a list of doubles", "a list of strings"};
  return names.at(value.index());
}

bool is_list(const ParameterValue& value) noexcept {
  return std::visit([]<class T>(const T&) { return !std::same_as<T, std::string> && requires(T each) { each.push_back({}); }; }, value);
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// As C writes them, which is how ROS reads them: 31, 0x1f and 037 are one number.
std::optional<std::int64_t> integer_of(std::string_view text) {
  std::string digits = text.starts_with('-') ? "-" : "";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  const bool is_hex = text.starts_with("0x") || text.starts_with("0X");
  if (is_hex) text.remove_prefix(2);
  const int base = is_hex ? 16 : text.starts_with('0') ? 8 : 10;
  if (text.starts_with('-')) return std::nullopt;
  digits += text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc() && end == digits.data() + digits.size() ? std::optional(value) : std::nullopt;
}

// By a stream, as libc++ has std::from_chars for integers only.
std::optional<double> real_of(std::string_view text) {
  const std::string_view size = text.starts_with('-') || text.starts_with('+') ? text.substr(1) : text;
  for (const auto* const word : {".inf", ".Inf", ".INF", "inf"}) {
    if (size == word) return text.starts_with('-') ? -HUGE_VAL : HUGE_VAL;
  }
  for (const auto* const word : {".nan", ".NaN", ".NAN", "nan"}) {
    if (text == word) return std::nan("");
  }
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double value = 0;
  in >> std::noskipws >> value;
  return in && in.peek() == std::istringstream::traits_type::eof() ? std::optional(value) : std::nullopt;
}

bool is_quoted(std::string_view text) {
  return text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
}

ParameterValue parse_scalar(std::string_view text) {
  if (is_quoted(text)) return std::string(text.substr(1, text.size() - 2));
  for (const auto* const word : {"true", "True", "TRUE", "yes", "Yes", "YES", "y", "Y", "on", "On", "ON"}) {
    if (text == word) return true;
  }
  for (const auto* const word : {"false", "False", "FALSE", "no", "No", "NO", "n", "N", "off", "Off", "OFF"}) {
    if (text == word) return false;
  }
  if (const auto integer = integer_of(text)) return *integer;
  if (const auto real = real_of(text)) return *real;
  return std::string(text);
}

// Commas inside of quotes separate nothing.
std::vector<std::string_view> elements_of(std::string_view list) {
  std::vector<std::string_view> elements;
  char quote = '\0';
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && (quote == '\0' ? list[i] == '"' || list[i] == '\'' : list[i] == quote)) {
      quote = quote == '\0' ? list[i] : '\0';
    } else if (i == list.size() || (list[i] == ',' && quote == '\0')) {
      elements.push_back(trim(list.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  return elements;
}

template <class T>
ParameterValue vector_of(const std::vector<ParameterValue>& elements) {
  std::vector<T> made;
  made.reserve(elements.size());
  for (const ParameterValue& each : elements) made.push_back(std::get<T>(each));
  return made;
}

ParameterValue parse_list(std::string_view text) {
  std::vector<ParameterValue> elements;
  bool has_reals = false;
  for (const std::string_view each : elements_of(text)) {
    elements.push_back(parse_scalar(each));
    has_reals |= std::holds_alternative<double>(elements.back());
  }
  if (has_reals) {  // then 1 is a number like 0.5
    for (ParameterValue& each : elements) {
      if (const auto* const integer = std::get_if<std::int64_t>(&each)) each = static_cast<double>(*integer);
    }
  }
  const bool alike = std::ranges::all_of(elements, [&](const auto& each) { return each.index() == elements.front().index(); });
  if (!alike) refuse("the list [" + std::string(text) + "] has values of several types: a parameter's list has one type");
  switch (elements.front().index()) {
    case 1:
      return vector_of<bool>(elements);
    case 2:
      return vector_of<std::int64_t>(elements);
    case 3:
      return vector_of<double>(elements);
    default:
      return vector_of<std::string>(elements);
  }
}

/// "FROM:=TO".
std::pair<std::string, std::string> parse_rule(const std::string& rule, std::string_view what) {
  const std::size_t middle = rule.find(":=");
  if (middle == std::string::npos || middle == 0 || middle + 2 == rule.size())
    refuse("'" + rule + "' is no " + std::string(what) + ": write it without spaces, with something on both sides of the ':='");
  std::pair<std::string, std::string> parts{rule.substr(0, middle), rule.substr(middle + 2)};
  if (parts.first.find(':') != std::string::npos)
    refuse("'" + rule + "' is for one node only, which cannot be said here: write '" + parts.first.substr(parts.first.find(':') + 1) +
           ":=" + parts.second + "', which is for all nodes of the program");
  return parts;
}

Logger::Level level_of(std::string_view word, const std::string& argument) {
  using enum Logger::Level;
  constexpr std::array<std::pair<std::string_view, Logger::Level>, 6> levels = {
      {{"unset", Unset}, {"debug", Debug}, {"info", Info}, {"warn", Warn}, {"error", Error}, {"fatal", Fatal}}};
  const auto is_word = [&](const auto& level) {
    return std::ranges::equal(level.first, word, {}, {},
                              [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter; });
  };
  const auto* const found = std::ranges::find_if(levels, is_word);
  if (found == levels.end())
    refuse("'" + argument + "': there is no such level: write debug, info, warn, error or fatal, or LOGGER:= before it, as talker:=debug");
  return found->second;
}

void add_level(Rules& rules, const std::string& argument) {
  const std::size_t middle = argument.find(":=");
  if (middle == std::string::npos) {
    rules.levels.emplace_back("", level_of(argument, argument));
  } else {
    rules.levels.emplace_back(argument.substr(0, middle), level_of(std::string_view(argument).substr(middle + 2), argument));
  }
}

void add_rule(Rules& rules, const std::string& flag, const std::string& rule) {
  if (flag == "-p" || flag == "--param") {
    const auto [name, value] = parse_rule(rule, "parameter with a value");
    if (name == "use_sim_time" && parse_value(value) != ParameterValue(false))
      refuse("use_sim_time: there is no time of a simulation, clocks show the machine's: leave it out");
    rules.parameters[name] = parse_value(value);
    return;
  }
  auto [from, to] = parse_rule(rule, "new name");
  if (from == "__node" || from == "__name") {
    rules.node_name = to;
  } else if (from == "__ns") {
    if (to.front() != '/') refuse("'" + rule + "': a namespace begins with a slash: write '__ns:=/" + to + "'");
    rules.name_space = to;
  } else if (from.starts_with("__")) {
    refuse("'" + rule + "': only names of topics and services, __node and __ns can be replaced");
  } else {
    rules.renamed.emplace_back(std::move(from), std::move(to));
  }
}

}  // namespace

Rules take_rules(std::vector<std::string>& arguments) {
  Rules rules;
  std::vector<std::string> rest;
  bool inside = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (!inside) {
      inside = i > 0 && word == "--ros-args";
      if (!inside) rest.push_back(word);
    } else if (word == "--") {
      inside = false;
    } else if (word == "-p" || word == "--param" || word == "-r" || word == "--remap") {
      if (i + 1 == arguments.size()) refuse("'" + word + "' at the end of the arguments needs NAME:=VALUE behind it");
      add_rule(rules, word, arguments[++i]);
    } else if (word == "--log-level") {
      if (i + 1 == arguments.size()) refuse("'" + word + "' at the end of the arguments needs LEVEL or LOGGER:=LEVEL behind it");
      add_level(rules, arguments[++i]);
    } else if (word != "--ros-args") {
      refuse("'" + word +
             "' behind --ros-args is not understood: what there is is -p NAME:=VALUE, -r FROM:=TO, -r __node:=NAME, -r __ns:=/NAMESPACE "
             "and --log-level LEVEL; what is for the "
             "program itself stands before --ros-args, or behind --");
    }
  }
  arguments = std::move(rest);
  return rules;
}

ParameterValue parse_value(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    const std::string_view inner = trim(text.substr(1, text.size() - 2));
    if (inner.empty()) return std::monostate();  // of whatever type is declared
    return parse_list(inner);
  }
  return parse_scalar(text);
}

void refuse_type(const std::string& name, const ParameterValue& is, const ParameterValue& wanted) {
  const char* const hint = std::holds_alternative<std::int64_t>(is) && std::holds_alternative<double>(wanted) ? "; write 1.0 for 1" : "";
  refuse("parameter '" + name + "' is " + type_name(is) + ", and was asked for as " + type_name(wanted) + hint);
}

ParameterValue given_value(const std::string& name, const ParameterValue& given, ParameterValue declared) {
  if (std::holds_alternative<std::monostate>(given) && is_list(declared)) {
    std::visit(
        [](auto& each) {
          if constexpr (requires { each.clear(); }) each.clear();
        },
        declared);
    return declared;
  }
  if (given.index() != declared.index()) refuse_type(name, given, declared);
  return given;
}

std::string expand(std::string_view name, std::string_view node) {
  if (name.empty()) refuse("the name of a topic or service is empty");
  if (name.front() == '/') return std::string(name.substr(1));
  if (name.front() == '~') {
    if (name.size() > 1 && name[1] != '/') refuse("'" + std::string(name) + "' is no name: write '~/" + std::string(name.substr(1)) + "'");
    return std::string(node) + std::string(name.substr(1));
  }
  const std::size_t last = node.rfind('/');
  return (last == std::string_view::npos ? std::string() : std::string(node.substr(0, last + 1))) + std::string(name);
}

std::string resolve(const Rules& rules, std::string_view name, std::string_view node) {
  std::string full = expand(name, node);
  for (const auto& [from, to] : rules.renamed) {
    if (expand(from, node) == full) return expand(to, node);
  }
  return full;
}

}  // namespace sinew::rclcpp::detail
