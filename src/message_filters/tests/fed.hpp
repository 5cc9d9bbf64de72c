// Matchers that are fed with numbers, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sinew/message_filters/matcher.hpp"

namespace sinew::message_filters::detail {

/// What was given out: the stamps of each set.
using Sets = std::vector<std::vector<std::int64_t>>;

/// Its messages are their stamps.
class Fed {
 public:
  explicit Fed(std::unique_ptr<Matcher> matcher) : matcher_(std::move(matcher)) {}
  static Fed approximate(std::size_t topics, ApproximateOptions options = {.age_penalty = 0, .lower_bounds = {}},
                         std::size_t queue_size = 1000) {
    return Fed(std::make_unique<ApproximateMatcher>(topics, queue_size, std::move(options)));
  }
  static Fed exact(std::size_t topics, std::size_t queue_size) { return Fed(std::make_unique<ExactMatcher>(topics, queue_size)); }

  void add(std::size_t topic, std::int64_t stamp) {
    matcher_->add(topic, stamp, std::make_shared<const std::int64_t>(stamp), [this](std::span<const Held> set) {
      sets_.emplace_back();
      for (const Held& each : set) sets_.back().push_back(*static_cast<const std::int64_t*>(each.get()));
    });
  }
  const Sets& sets() const { return sets_; }
  std::size_t held() const { return matcher_->held(); }

 private:
  std::unique_ptr<Matcher> matcher_;
  Sets sets_;
};

}  // namespace sinew::message_filters::detail
