// Which messages of several topics belong together: what of it does not depend on their types. Not for direct use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "sinew/error.hpp"

namespace sinew::message_filters::detail {

using Held = std::shared_ptr<const void>;

/// Takes messages of topics, which are numbered from 0, and gives out sets with one of each, in their order. Not thread-safe.
class SINEW_API Matcher {
 public:
  using Output = std::function<void(std::span<const Held>)>;
  virtual ~Matcher();
  /// `stamp` in nanoseconds. Calls `output` with each set that is complete now, which must not add any.
  virtual void add(std::size_t topic, std::int64_t stamp, Held message, const Output& output) = 0;
  /// Messages that it holds now.
  virtual std::size_t held() const noexcept = 0;
};

/// Sets with equal stamps. Of those that are not complete it keeps the newest `queue_size`; those that are older than one that is given out are let go. A message that is older than one of its topic, and than what is given out or all that waits, begins anew.
class SINEW_API ExactMatcher final : public Matcher {
 public:
  ExactMatcher(std::size_t topics, std::size_t queue_size);
  void add(std::size_t topic, std::int64_t stamp, Held message, const Output& output) override;
  std::size_t held() const noexcept override;

 private:
  std::size_t queue_size_;
  std::map<std::int64_t, std::vector<Held>> sets_;
  std::int64_t given_out_ = INT64_MIN;  // stamp of the last
  std::vector<std::int64_t> newest_;    // stamp of each topic's newest that came
};

/// What ApproximateTime can be told beside the size of its queues. Durations in nanoseconds.
struct ApproximateOptions {
  double age_penalty = 0.1;
  std::int64_t max_interval = INT64_MAX;
  std::vector<std::int64_t> lower_bounds;  ///< of each topic, between its messages
};

/// Sets as sync_policies::ApproximateTime describes them. A message that is older than the last one given out of its topic, or that finds the queue full of later ones, begins anew: what waits is let go.
class SINEW_API ApproximateMatcher final : public Matcher {
 public:
  ApproximateMatcher(std::size_t topics, std::size_t queue_size, ApproximateOptions options);
  void add(std::size_t topic, std::int64_t stamp, Held message, const Output& output) override;
  std::size_t held() const noexcept override;

 private:
  struct Entry {
    std::int64_t stamp = 0;
    Held message;
  };
  struct Topic {
    std::deque<Entry> queue;             ///< in the order of their stamps
    std::int64_t newest = INT64_MIN;     ///< stamp of the newest that came
    std::int64_t given_out = INT64_MIN;  ///< of the last that was given out
    std::int64_t lower_bound = 0;
  };
  /// The place of its message in each topic's queue.
  using Choice = std::vector<std::size_t>;

  bool is_complete() const noexcept;
  std::size_t pivot() const noexcept;
  void drop_too_old();
  bool find_best(Choice& best) const;
  void give_out(const Choice& choice, const Output& output);
  void begin_anew();

  std::size_t queue_size_;
  ApproximateOptions options_;
  std::vector<Topic> topics_;
};

}  // namespace sinew::message_filters::detail
