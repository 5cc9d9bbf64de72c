// The ways from a publisher to a subscriber, for tests of what holds on all of them alike. A new way is a new line in `paths`.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {

enum class Where { this_process, other_process, other_user };

struct Path {
  const char* name;
  Where where;
  std::optional<Delivery> asked;  ///< SubscriberOptions::delivery
  Delivery expected;
  friend std::ostream& operator<<(std::ostream& out, const Path& path) { return out << path.name; }
};

inline constexpr std::array paths = {
    Path{"pointer", Where::this_process, {}, Delivery::pointer},        Path{"native", Where::other_process, {}, Delivery::native},
    Path{"view", Where::other_process, Delivery::view, Delivery::view}, Path{"copy", Where::other_process, Delivery::copy, Delivery::copy},
    Path{"other_user", Where::other_user, {}, Delivery::copy},
};

inline const Path& path_named(const std::string& name) {
  return *std::ranges::find(paths, name, &Path::name);
}

/// Those that messages go where nobody asks for another way.
inline std::vector<Path> unasked_paths() {
  std::vector<Path> unasked;
  std::ranges::copy_if(paths, std::back_inserter(unasked), [](const Path& path) { return !path.asked; });
  return unasked;
}

/// What is offered or asked for, in words that go through a command line: "reliable", "all", "last=N", "kept" (transient-local), "lifespan=MS", "deadline=MS", "lease=MS", "manual_by_topic".
inline Qos qos_of(const std::string& words) {
  Qos qos;
  std::istringstream each(words);
  for (std::string word; each >> word;) {
    const auto value = [&] { return std::stoul(word.substr(word.find('=') + 1)); };
    if (word == "reliable") qos.reliable();
    if (word == "all") qos.keep_all();
    if (word.starts_with("last=")) qos.keep_last(static_cast<std::uint32_t>(value()));
    if (word == "kept") qos.transient_local();
    if (word.starts_with("lifespan=")) qos.lifespan(std::chrono::milliseconds(value()));
    if (word.starts_with("deadline=")) qos.deadline(std::chrono::milliseconds(value()));
    if (word.starts_with("lease=")) qos.liveliness(qos.liveliness(), std::chrono::milliseconds(value()));
    if (word == "manual_by_topic") qos.liveliness(Liveliness::manual_by_topic, qos.lease().value_or(std::chrono::hours(1)));
  }
  return qos;
}

/// A subscriber that takes when it is told to. More words: "every=N", "rate=N", "owned", "value".
class Taker {
 public:
  Taker(const Path& path, const std::string& node, const std::string& words) : path_(path), node_(Node::create(node)) {
    SubscriberOptions options;
    options.delivery = path.asked;
    if (const auto every = words.find("every="); every != std::string::npos) {
      options.every = static_cast<std::uint32_t>(std::stoul(words.substr(every + 6)));
    }
    if (const auto rate = words.find("rate="); rate != std::string::npos) options.max_rate = std::stod(words.substr(rate + 5));
    if (words.find("owned") != std::string::npos) options.buffer = Buffer::owned;
    if (words.find("value") != std::string::npos) options.buffer = Buffer::value;
    subscriber_ = node_->create_subscriber<Sample>("topic", qos_of(words), options);
  }

  /// "take N": the next N messages as "writer:number ..."; "rest": all that wait; "missed", "expired", "skipped", "incompatible", "deadlines", "alive": the number; "hear N": waits for N publishers.
  std::string answer(const std::string& order) {
    std::istringstream words(order);
    std::string what;
    std::size_t count = 0;
    words >> what >> count;
    if (what == "take") return take(count, true);
    if (what == "rest") return take(~std::size_t{0}, false);
    if (what == "hear") {
      require(eventually([&] { return subscriber_->statistics().publishers == count; }), "the publishers do not come, or do not go");
      return "heard";
    }
    const SubscriberStatistics statistics = subscriber_->statistics();
    if (what == "missed") return std::to_string(statistics.missed);
    if (what == "expired") return std::to_string(statistics.expired);
    if (what == "skipped") return std::to_string(statistics.skipped);
    if (what == "incompatible") return std::to_string(statistics.incompatible);
    if (what == "deadlines") return std::to_string(statistics.deadlines_missed);
    if (what == "alive") return std::to_string(statistics.publishers_alive);
    fail("no such order: " + order);
  }

 private:
  std::string take(std::size_t count, bool wait) {
    std::string numbers;
    for (; count > 0; --count) {
      MessageInfo info;
      std::shared_ptr<const Sample> sample;
      if (wait) {
        for (int patience = 0; !sample && patience < 60; ++patience) sample = subscriber_->take(std::chrono::seconds(1), &info);
        require(sample != nullptr, "only these messages came: " + numbers);
      } else {
        sample = subscriber_->take(&info);
        if (!sample) break;
      }
      require(is_whole(*sample), "a message is not as it was published");
      require(info.delivery == path_.expected, "it came by " + std::string(to_string(info.delivery)));
      numbers += (numbers.empty() ? "" : " ") + std::to_string(sample->writer) + ":" + std::to_string(sample->number);
    }
    return numbers;
  }

  Path path_;
  std::shared_ptr<Node> node_;
  std::shared_ptr<Subscriber<Sample>> subscriber_;
};

/// A Taker where its path wants it: in this process, or in a child's.
class Reader {
 public:
  Reader(const Path& path, const std::string& words, const std::string& node = "reader") {
    if (path.where == Where::this_process) {
      here_.emplace(path, node, words);
    } else {
      child_.emplace("path_reader", Arguments{path.name, node, words});
      child_->expect("ready");
    }
  }
  ~Reader() {
    if (!child_) return;
    child_->order("end");
    child_->end();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  std::string ask(const std::string& order) {
    if (here_) return here_->answer(order);
    child_->order(order);
    return child_->line().value_or("nothing: " + child_->errors());
  }

 private:
  std::optional<Taker> here_;
  std::optional<Child> child_;
};

/// A domain where all paths are. Another user's only when the test runs as root.
class Paths : public Foreign, public ::testing::WithParamInterface<Path> {
 protected:
  void SetUp() override {
    if (GetParam().where == Where::other_user) {
      Foreign::SetUp();
    } else {
      Domain::SetUp();
    }
  }
};

/// Publishes the messages of these numbers in all the ways that there are, one after the other.
inline void publish_numbers(Publisher<Sample>& publisher, std::uint64_t first, std::uint64_t last, std::uint64_t writer = 1) {
  for (std::uint64_t number = first; number <= last; ++number) {
    PublishResult result = PublishResult::closed;
    switch (number % 4) {
      case 0:
        result = publish_in_place(publisher, writer, number, 3000);
        break;
      case 1:
        result = publisher.publish(std::make_unique<Sample>(sample_of(writer, number, 3000)));
        break;
      case 2:
        result = publisher.publish(std::make_shared<const Sample>(sample_of(writer, number, 3000)));
        break;
      default:
        result = publisher.publish(sample_of(writer, number, 3000));
    }
    require(result == PublishResult::published,
            "message " + std::to_string(number) + " is not published: " + std::to_string(static_cast<int>(result)));
  }
}

/// "1:first ... 1:last", as a Taker says it.
inline std::string numbers(std::uint64_t first, std::uint64_t last, std::uint64_t step = 1, std::uint64_t writer = 1) {
  std::string all;
  for (std::uint64_t number = first; number <= last; number += step) {
    all += (all.empty() ? "" : " ") + std::to_string(writer) + ":" + std::to_string(number);
  }
  return all;
}

inline std::vector<Path> paths_to_others() {
  return {std::next(paths.begin()), paths.end()};
}

#define SINEW_ON_PATHS(Suite, these) \
  INSTANTIATE_TEST_SUITE_P(Path, Suite, ::testing::ValuesIn(these), [](const auto& path) { return path.param.name; })
#define SINEW_ON_ALL_PATHS(Suite) SINEW_ON_PATHS(Suite, ::sinew::system::paths)
#define SINEW_ON_PATHS_BETWEEN_PROCESSES(Suite) SINEW_ON_PATHS(Suite, ::sinew::system::paths_to_others())

}  // namespace sinew::system
