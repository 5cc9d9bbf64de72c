// What of ROS 2's message definitions sinew carries without a copy, and what in pieces: tried with each, and written down as a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "coverage_msgs/msg/builtins.hpp"
#include "coverage_msgs/msg/comments.hpp"
#include "coverage_msgs/msg/constants.hpp"
#include "coverage_msgs/msg/defaults.hpp"
#include "coverage_msgs/msg/nested.hpp"
#include "coverage_msgs/srv/ask.hpp"
#include "coverage_msgs/srv/ping.hpp"
#include "examine.hpp"
#include "table.hpp"

namespace sinew::coverage {
namespace {

bool is_ours(const Definition& definition) {
  return definition.repository == "sinew" || definition.repository == "stand_ins";
}

/// Why a message may be missing from what is covered, or null.
const char* known_reason(const Definition& definition) {
  if (!definition.missing.empty()) return "contains a definition that is in none of the folders, so that there is no structure";
  // wstring is the only text of ROS 2 that sinew has not, and the generator uses no other class that is refused.
  if (definition.trouble == msg::Trouble::standard_class)
    return "contains a wstring, which is std::u16string: the only text in a message is std::string";
  return nullptr;
}

/// The name of a stand-in that a message contains, or nothing.
std::string stand_in_of(const Definition& definition, const Listing& listing) {
  const std::string signature = definition.message ? definition.message->signature : "";
  for (const Definition& other : listing.definitions) {
    if (other.repository == "stand_ins" && signature.find(other.name + "{") != std::string::npos) return other.name;
  }
  return {};
}

std::vector<Result> examine_all(bool ours) {
  const Listing listing = listing_of_all();
  std::vector<Result> results;
  for (const Definition& definition : listing.definitions) {
    if (is_ours(definition) != ours) continue;
    Result result{definition, std::nullopt, {}, ours ? "" : stand_in_of(definition, listing)};
    if (definition.message) {
      result.findings = examine(*definition.message, listing);
    } else if (const char* const known = known_reason(definition)) {
      result.reason = known;
    }
    results.push_back(std::move(result));
  }
  return results;
}

void expect_covered(const std::vector<Result>& results) {
  for (const Result& result : results) {
    SCOPED_TRACE(result.definition.name);
    if (!result.findings) {
      EXPECT_NE(result.reason, "") << "not a message, trouble " << static_cast<int>(result.definition.trouble);
      EXPECT_EQ(result.definition.signature, "");
      continue;
    }
    const Findings& findings = *result.findings;
    EXPECT_EQ(result.definition.message->name, result.definition.name);
    EXPECT_EQ(result.definition.message->signature, result.definition.signature);
    EXPECT_EQ(findings.native, "");
    EXPECT_EQ(findings.cdr, "");
    EXPECT_EQ(findings.pieces, "");
    EXPECT_FALSE(findings.obstacles.contains(Obstacle::unknown)) << words_for(Obstacle::unknown);
    EXPECT_TRUE(findings.text_in_place || !findings.obstacles.contains(Obstacle::text)) << "a string of a page is not referred to";
  }
}

void publish(const std::vector<Result>& results, const std::string& file) {
  const std::string table = table_of(results);
  std::cout << table;
  std::ofstream(std::string(SINEW_COVERAGE_FOLDER) + "/" + file) << table;
}

TEST(Coverage, every_construct_of_a_definition_is_covered_but_wide_text) {
  const std::vector<Result> results = examine_all(true);
  expect_covered(results);
  publish(results, "coverage_of_constructs.md");
  const auto find = [&](const std::string& name) -> const Result& {
    return *std::ranges::find(results, "coverage_msgs/" + name, [](const Result& result) { return result.definition.name; });
  };
  for (const char* name : {"msg/Wide", "msg/WideInside"}) EXPECT_EQ(find(name).definition.trouble, msg::Trouble::standard_class) << name;
  EXPECT_NE(find("msg/Unknown").definition.missing, "");
  EXPECT_EQ(std::ranges::count_if(results, [](const Result& result) { return !result.findings; }), 3);

  for (const char* name : {"msg/Sequences", "msg/BoundedAbovePage", "msg/NarrowInside", "action/Go_Goal", "srv/Ask_Response"})
    EXPECT_GT(find(name).findings->arrays_in_place, 0U) << name;
  using enum Obstacle;
  EXPECT_EQ(find("msg/Bounded").findings->obstacles, (std::set{bound, texts}));
  EXPECT_EQ(find("msg/Flags").findings->obstacles, std::set{bits});
  EXPECT_EQ(find("msg/GapsInside").findings->obstacles, std::set{padding});
  EXPECT_EQ(find("srv/Ask_Request").findings->obstacles, std::set{text});
  EXPECT_TRUE(find("srv/Ask_Request").findings->text_in_place);
  EXPECT_FALSE(find("msg/Arrays").findings->obstacles.contains(unknown));
  EXPECT_FALSE(find("srv/Ping_Request").findings->variable);
}

TEST(Coverage, structures_are_as_ros_2_has_them) {
  namespace ours = coverage_msgs;
  EXPECT_EQ(sizeof(ours::srv::Ping_Request::structure_needs_at_least_one_member), 1U);
  EXPECT_EQ(ours::msg::Constants::LEAST64, INT64_MIN);
  EXPECT_EQ(ours::msg::Constants::MOST64, UINT64_MAX);
  EXPECT_EQ(ours::msg::Constants::QUOTED, "two words");
  const ours::msg::Defaults defaults;
  EXPECT_EQ(defaults.i8, -2);
  EXPECT_EQ(defaults.double_quoted, "it is \"said\"");
  EXPECT_EQ(defaults.single_quoted, "a, b");
  EXPECT_EQ(defaults.numbers, (std::array{1, -2, 3}));
  EXPECT_EQ(defaults.flags, (std::vector{true, false}));
  EXPECT_EQ(defaults.words, (std::vector<std::string>{"a, b", "c"}));
  static_assert(std::is_same_v<decltype(ours::msg::Builtins::raw), std::uint8_t> &&
                std::is_same_v<decltype(ours::msg::Builtins::letter), std::uint8_t>);
  static_assert(std::is_same_v<decltype(ours::msg::Nested::named_package), ours::msg::Builtins>);
  static_assert(std::is_same_v<decltype(ours::msg::Comments::last), std::uint8_t>);
  static_assert(std::is_same_v<decltype(ours::srv::Ask_Response::parts), std::vector<coverage_parts_msgs::msg::Part>>);
}

TEST(Coverage, the_definitions_of_ros_2_are_covered) {
  const std::vector<Result> results = examine_all(false);
  if (results.empty())
    GTEST_SKIP() << "there are no definitions of ROS 2 in " SINEW_MESSAGE_DEFINITIONS " (CMake's SINEW_MESSAGE_DEFINITIONS)";
  expect_covered(results);
  publish(results, "coverage.md");
}

}  // namespace
}  // namespace sinew::coverage
