// A publisher that does as it is told, in this process or in another, and what handlers of events were told.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/harness.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {

/// What a handler was told so far.
template <class Event>
class Told {
 public:
  std::function<void(const Event&)> handler() {
    return [this](const Event& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(event);
    };
  }
  std::vector<Event> all() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }
  Event last() const {
    const std::lock_guard lock(mutex_);
    return events_.empty() ? Event{} : events_.back();
  }
  /// Waits until the last one fits; nothing when none comes.
  template <class Fits>
  std::optional<Event> soon(Fits fits) const {
    if (!eventually([&] { return fits(last()); })) return std::nullopt;
    return last();
  }
  /// The total, when it is the sum of the changes.
  std::uint64_t total() const {
    const std::vector<Event> told = all();
    std::uint64_t sum = 0;
    for (const Event& event : told) sum += event.total_count_change;
    require(sum == (told.empty() ? 0 : told.back().total_count), "the changes do not add up to the total");
    return sum;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Event> events_;
};

/// "viewer | reliability: best_effort / reliable | deadline: 2 ms / 1 ms"
inline std::string why_apart(const IncompatibleQosEvent& event) {
  std::string text = event.node;
  for (const auto& policy : event.policies) text += " | " + policy.name + ": " + policy.offered + " / " + policy.requested;
  return text;
}

/// Does what orders say. `create QOS`, `publish`, `assert`, `destroy`; and what its handlers must have been told soon: `subscribers NOW EVER`, `incompatible PEER | WHY ...`,
/// `missed AT_LEAST`, `lost AT_LEAST [SIGN]`: it gives the sign again where none of its threads had the time to see that it was alive.
class PublisherByOrder {
 public:
  explicit PublisherByOrder(const std::string& name) : node_(Node::create(name)) {}

  void obey(const std::string& order) {
    std::istringstream in(order);
    std::string verb, rest;
    in >> verb;
    std::getline(in, rest);
    const auto number = [&] { return std::stoull(rest); };
    if (verb == "create") {
      create(qos_of(rest));
    } else if (verb == "publish") {
      require(publisher_->publish(sample_of(1, ++published_, 1000)) == PublishResult::published, "not published");
    } else if (verb == "assert") {
      publisher_->assert_liveliness();
    } else if (verb == "destroy") {
      publisher_.reset();
    } else if (verb == "subscribers") {
      std::istringstream numbers(rest);
      std::uint64_t now = 0, ever = 0;
      numbers >> now >> ever;
      require(told_->matched.soon([&](const auto& event) { return event.current_count == now && event.total_count == ever; }).has_value(),
              "it is not told of its subscribers");
      require(told_->matched.total() == ever, "the changes are not those of the total");
      require(publisher_->statistics().subscribers == now, "statistics() says otherwise");
    } else if (verb == "incompatible") {
      const auto event = told_->incompatible.soon([](const auto& each) { return each.total_count > 0; });
      require(event.has_value(), "it is not told of who does not fit");
      require(" " + why_apart(*event) == rest, "it is told something else: " + why_apart(*event));
      require(publisher_->statistics().incompatible == 1 && publisher_->statistics().subscribers == 0, "statistics() says otherwise");
    } else if (verb == "missed") {
      require(eventually([&] { return told_->missed.total() >= number(); }), "it is not told of its deadline");
      require(publisher_->statistics().deadlines_missed >= number(), "statistics() says otherwise");
    } else if (verb == "lost") {
      std::istringstream words(rest);
      std::uint64_t least = 0;
      std::string sign;
      words >> least >> sign;
      require(eventually([&] {
                if (told_->lost.total() >= least) return true;
                if (sign.empty()) return false;
                std::this_thread::sleep_for(std::chrono::milliseconds(300));
                if (told_->lost.total() < least) obey(sign);
                return false;
              }),
              "it is not told that its liveliness is lost");
      require(publisher_->statistics().liveliness_lost >= number(), "statistics() says otherwise");
    } else {
      fail("no such order: " + order);
    }
  }

 private:
  void create(const Qos& qos) {
    publisher_.reset();
    told_ = std::make_unique<ToldOfOne>();
    PublisherOptions options;
    options.events.matched = told_->matched.handler();
    options.events.incompatible_qos = told_->incompatible.handler();
    options.events.deadline_missed = told_->missed.handler();
    options.events.liveliness_lost = told_->lost.handler();
    publisher_ = node_->create_publisher<Sample>("topic", qos, options);
  }

  struct ToldOfOne {
    Told<MatchedEvent> matched;
    Told<IncompatibleQosEvent> incompatible;
    Told<DeadlineMissedEvent> missed;
    Told<LivelinessLostEvent> lost;
  };
  std::unique_ptr<ToldOfOne> told_;
  std::shared_ptr<Node> node_;
  std::shared_ptr<Publisher<Sample>> publisher_;
  std::uint64_t published_ = 0;
};

/// Where its path wants it: in this process, or in one of its own, which may be another user's.
class PublisherSomewhere {
 public:
  explicit PublisherSomewhere(const Path& path, const std::string& node = "camera") {
    if (path.where == Where::this_process) {
      here_.emplace(node);
    } else {
      there_.emplace("publisher_by_order", Arguments{path.name, node});
    }
  }
  void obey(const std::string& order) {
    if (here_) return here_->obey(order);
    there_->order(order);
    there_->expect("done");
  }
  Child& process() { return there_.value(); }
  void end() {
    if (!there_) return;
    there_->order("end");
    there_->end();
  }

 private:
  std::optional<PublisherByOrder> here_;
  std::optional<Child> there_;
};

inline SubscriberOptions by(const Path& path) {
  SubscriberOptions options;
  options.delivery = path.asked;
  return options;
}

}  // namespace sinew::system
