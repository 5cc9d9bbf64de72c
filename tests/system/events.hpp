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

/// "deadline 50 by_topic 200": milliseconds where there are any.
inline Qos qos_offered(const std::string& words) {
  std::istringstream in(words);
  Qos qos;
  const auto duration = [&] {
    std::int64_t number = 0;
    in >> number;
    return std::chrono::milliseconds(number);
  };
  for (std::string word; in >> word;) {
    if (word == "reliable") qos.reliable();
    if (word == "lifespan") qos.lifespan(duration());
    if (word == "deadline") qos.deadline(duration());
    if (word == "automatic") qos.liveliness(Liveliness::automatic, duration());
    if (word == "by_topic") qos.liveliness(Liveliness::by_topic, duration());
  }
  return qos;
}

/// Does what orders say. `create QOS`, `publish`, `assert`, `destroy`; and what its handlers must have been told soon: `subscribers NOW EVER`, `incompatible PEER`, `missed AT_LEAST`,
/// `lost AT_LEAST`.
class PublisherByOrder {
 public:
  explicit PublisherByOrder(const std::string& name = "camera") : node_(Node::create(name)) {}

  void obey(const std::string& order) {
    std::istringstream in(order);
    std::string verb, rest;
    in >> verb;
    std::getline(in, rest);
    const auto number = [&] { return std::stoull(rest); };
    if (verb == "create") {
      create(qos_offered(rest));
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
      require(" " + event->peer == rest && event->policies.at(0).name == "reliability" && event->policies.at(0).offered == "best_effort" &&
                  event->policies.at(0).requested == "reliable",
              "it is told something else");
    } else if (verb == "missed") {
      require(eventually([&] { return told_->missed.total() >= number(); }), "it is not told of its deadline");
      require(publisher_->statistics().deadlines_missed >= number(), "statistics() says otherwise");
    } else if (verb == "lost") {
      require(eventually([&] { return told_->lost.total() >= number(); }), "it is not told that its liveliness is lost");
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

/// Where it is: in this process, or in one of its own.
class PublisherSomewhere {
 public:
  explicit PublisherSomewhere(Delivery path, const std::string& role = "publisher_by_order") {
    if (path == Delivery::pointer) {
      here_.emplace();
    } else {
      there_.emplace(role);
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

inline void obey_until_the_end(PublisherByOrder& publisher) {
  for (std::string order; (order = next_order()) != "end";) {
    publisher.obey(order);
    say("done");
  }
}

inline SubscriberOptions by(Delivery path) {
  SubscriberOptions options;
  options.delivery = path;
  return options;
}

/// For every way that a message can take between two of the same user.
class EveryPath : public Domain, public ::testing::WithParamInterface<Delivery> {};
class BetweenProcesses : public Domain, public ::testing::WithParamInterface<Delivery> {};

inline std::string name_of_path(const ::testing::TestParamInfo<Delivery>& path) {
  return to_string(path.param);
}

}  // namespace sinew::system
