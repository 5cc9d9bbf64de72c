#include <algorithm>
#include <utility>

#include "sinew/message_filters/matcher.hpp"

namespace sinew::message_filters::detail {

Matcher::~Matcher() = default;

ExactMatcher::ExactMatcher(std::size_t topics, std::size_t queue_size)
    : queue_size_(queue_size > 0 ? queue_size : SIZE_MAX), newest_(topics, INT64_MIN) {}

void ExactMatcher::add(std::size_t topic, std::int64_t stamp, Held message, const Output& output) {
  const bool is_first_to_go = sets_.size() == queue_size_ && stamp < sets_.begin()->first;
  if (stamp < newest_[topic] && (stamp < given_out_ || is_first_to_go)) {
    sets_.clear();
    given_out_ = INT64_MIN;
    std::ranges::fill(newest_, INT64_MIN);
  }
  newest_[topic] = std::max(newest_[topic], stamp);
  auto [place, is_new] = sets_.try_emplace(stamp, newest_.size());
  std::vector<Held>& set = place->second;
  set[topic] = std::move(message);
  if (std::ranges::all_of(set, [](const Held& each) { return each != nullptr; })) {
    given_out_ = stamp;
    const std::vector<Held> whole = std::move(set);
    sets_.erase(sets_.begin(), std::next(place));
    output(whole);
  } else if (is_new && sets_.size() > queue_size_) {
    sets_.erase(sets_.begin());
  }
}

std::size_t ExactMatcher::held() const noexcept {
  std::size_t count = 0;
  for (const auto& [stamp, set] : sets_)
    count += static_cast<std::size_t>(std::ranges::count_if(set, [](const Held& each) { return each != nullptr; }));
  return count;
}

}  // namespace sinew::message_filters::detail
