// What the command line says about nodes, and what names mean.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sinew/rclcpp/logging.hpp"
#include "sinew/rclcpp/parameter.hpp"

namespace sinew::rclcpp::detail {

/// What stands between `--ros-args` and `--`.
struct Rules {
  std::optional<std::string> node_name, name_space;          ///< of all nodes, in place of what they were given
  std::vector<std::pair<std::string, std::string>> renamed;  ///< topics and services, as they were typed
  std::map<std::string, ParameterValue> parameters;
  std::vector<std::pair<std::string, Logger::Level>> levels;  ///< by the names of loggers; empty: of those that have none of their own
};

/// Takes these arguments out of `arguments`, whose first is the program. Throws Error(invalid_argument).
Rules take_rules(std::vector<std::string>& arguments);

/// What a value on the command line is, as YAML has it for ROS: true, on, 3, 0x1f, 0.5, .inf, text, 'text', [1, 2].
ParameterValue parse_value(std::string_view text);
/// What a parameter declared with the value `declared` gets when `given` is given for it. Throws Error(invalid_argument) for another type.
ParameterValue given_value(const std::string& name, const ParameterValue& given, ParameterValue declared);

/// The name in the domain, without a slash before it, of what the node `node` ("front/talker") calls `name`. Throws Error(invalid_argument) for no name.
std::string expand(std::string_view name, std::string_view node);
/// The same, renamed.
std::string resolve(const Rules& rules, std::string_view name, std::string_view node);

}  // namespace sinew::rclcpp::detail
