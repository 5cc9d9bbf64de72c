// How sets are found. Of the messages at hand the first of each topic is looked at: a set that leaves out no message of some topic has one of these, so the latest of them, the pivot, is in a set of the smallest size. The search begins with
// those first messages and moves on, each time, in the topic whose message is the earliest, since only that makes the set smaller at its begin; it is over when that is the pivot.
// Where a topic has no message to move on to, the next one may come at any time from a bound on: taken at the best of these times, it says how small a set may become. As long as that is better than the best one at hand, wait.
#include <algorithm>
#include <utility>

#include "sinew/message_filters/matcher.hpp"

namespace sinew::message_filters::detail {
namespace {

/// a + b for b from 0 on, at most INT64_MAX.
std::int64_t after(std::int64_t a, std::int64_t b) noexcept {
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}
/// a - b where both may be anything, as a number.
double difference(std::int64_t a, std::int64_t b) noexcept {
  return static_cast<double>(static_cast<std::uint64_t>(std::max(a, b)) - static_cast<std::uint64_t>(std::min(a, b))) * (a < b ? -1 : 1);
}

struct Interval {
  std::int64_t begin = 0, end = 0;
};
Interval around(const std::vector<std::int64_t>& times) noexcept {
  const auto [begin, end] = std::ranges::minmax(times);
  return {begin, end};
}

}  // namespace

ApproximateMatcher::ApproximateMatcher(std::size_t topics, std::size_t queue_size, ApproximateOptions options)
    : queue_size_(std::max<std::size_t>(queue_size, 1)), options_(std::move(options)), topics_(topics) {
  for (std::size_t i = 0; i < std::min(topics, options_.lower_bounds.size()); ++i)
    topics_[i].lower_bound = std::max<std::int64_t>(options_.lower_bounds[i], 0);
}

void ApproximateMatcher::add(std::size_t topic, std::int64_t stamp, Held message, const Output& output) {
  Topic& to = topics_[topic];
  const bool is_first_to_go = to.queue.size() == queue_size_ && stamp < to.queue.front().stamp;
  if (stamp < to.given_out || is_first_to_go) begin_anew();
  const auto place = std::ranges::upper_bound(to.queue, stamp, {}, &Entry::stamp);
  to.queue.insert(place, {stamp, std::move(message)});
  to.newest = std::max(to.newest, stamp);
  if (to.queue.size() > queue_size_) to.queue.pop_front();
  Choice best;
  for (drop_too_old(); is_complete() && find_best(best); drop_too_old()) give_out(best, output);
}

bool ApproximateMatcher::is_complete() const noexcept {
  return std::ranges::none_of(topics_, [](const Topic& each) { return each.queue.empty(); });
}

std::size_t ApproximateMatcher::pivot() const noexcept {
  const auto latest = std::ranges::max_element(topics_, {}, [](const Topic& each) { return each.queue.front().stamp; });
  return static_cast<std::size_t>(latest - topics_.begin());
}

// What is further from the pivot than a set may be large is in none: all of the pivot's topic is later.
void ApproximateMatcher::drop_too_old() {
  for (bool again = options_.max_interval < INT64_MAX; again && is_complete();) {
    again = false;
    const std::int64_t latest = topics_[pivot()].queue.front().stamp;
    for (Topic& each : topics_) {
      while (!each.queue.empty() && difference(latest, each.queue.front().stamp) > static_cast<double>(options_.max_interval)) {
        each.queue.pop_front();
        again = true;
      }
    }
  }
}

// False when a message that is still to come may make a better one.
bool ApproximateMatcher::find_best(Choice& best) const {
  const std::size_t fixed = pivot();
  const std::int64_t pivot_time = topics_[fixed].queue.front().stamp;
  Choice at(topics_.size(), 0);
  std::vector<std::int64_t> times;
  times.reserve(topics_.size());
  for (const Topic& each : topics_) times.push_back(each.queue.front().stamp);
  best = at;
  Interval smallest = around(times);
  for (bool is_at_hand = true;;) {
    const auto earliest = static_cast<std::size_t>(std::ranges::min_element(times) - times.begin());
    if (times[earliest] == pivot_time) return true;
    const Topic& topic = topics_[earliest];
    if (++at[earliest] < topic.queue.size()) {
      times[earliest] = topic.queue[at[earliest]].stamp;
    } else {
      times[earliest] = std::max(after(topic.newest, topic.lower_bound), pivot_time);
      is_at_hand = false;
    }
    const Interval now = around(times);
    if (difference(now.begin, smallest.begin) <= difference(now.end, smallest.end) * (1 + options_.age_penalty)) continue;
    if (!is_at_hand) return false;
    best = at;
    smallest = now;
  }
}

void ApproximateMatcher::give_out(const Choice& choice, const Output& output) {
  std::vector<Held> set;
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    std::deque<Entry>& queue = topics_[i].queue;
    topics_[i].given_out = queue[choice[i]].stamp;
    set.push_back(std::move(queue[choice[i]].message));
    queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(choice[i] + 1));
  }
  output(set);
}

void ApproximateMatcher::begin_anew() {
  for (Topic& each : topics_) {
    each.queue.clear();
    each.newest = each.given_out = INT64_MIN;
  }
}

std::size_t ApproximateMatcher::held() const noexcept {
  std::size_t count = 0;
  for (const Topic& each : topics_) count += each.queue.size();
  return count;
}

}  // namespace sinew::message_filters::detail
