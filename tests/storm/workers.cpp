// The processes of the storm. Each checks everything that it gets: every byte, the order, and that what is missing was counted.
#include <unistd.h>

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "tests/storm/report.hpp"
#include "tests/system/action.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// Does `work` again and again, with a pause, on a thread of its own.
class Ceaseless {
 public:
  template <class Work>
  Ceaseless(std::chrono::microseconds pause, Work work)
      : thread_([this, pause, work]() mutable {
          for (std::uint64_t number = 1; !over_; ++number) {
            work(number);
            std::this_thread::sleep_for(pause);
          }
        }) {}
  ~Ceaseless() {
    over_ = true;
    thread_.join();
  }
  Ceaseless(const Ceaseless&) = delete;
  Ceaseless& operator=(const Ceaseless&) = delete;

 private:
  std::atomic<bool> over_{false};
  std::thread thread_;
};

// --- topics ------------------------------------------------------------------------------------------------------------------------------

// Which loses messages, which does not, and which keeps some for those who come late.
const Qos best = Qos{}.keep_last(5).deadline(1s).liveliness(Liveliness::automatic, 2s);
const Qos sure = lossless();
const Qos kept = Qos{}.keep_last(4).reliable().transient_local();

/// So many bytes each talker's message with this number has: it is small, or now and then a large one.
std::size_t message_size(std::uint64_t number) {
  return number % 50 == 0 ? 300'000 : number % 7 * 500;
}
bool is_complete(const Sample& sample) {
  return is_whole(sample) && sample.data.size() == message_size(sample.number);
}

/// A message that is refused, since a reader is too far behind, is tried again.
template <class Publish>
auto again_and_again(Report& report, const char* name, Publish publish) {
  return [&report, name, publish, number = std::uint64_t{1}](std::uint64_t) mutable {
    const PublishResult result = publish(number);
    report.expect(result == PublishResult::published || result == PublishResult::would_block, "a reliable message is refused");
    if (result == PublishResult::published) ++number;
    report.did(name);
  };
}

/// Publishes all the time. The number of each is that of its sequence.
class Talker {
 public:
  Talker(Node& node, Report& report, std::uint64_t writer)
      : best_(node.create_publisher<Sample>("best", best)),
        sure_(node.create_publisher<Sample>("sure", sure, {.max_blocking = 0ms})),
        kept_(node.create_publisher<Sample>("kept", kept, {.max_blocking = 0ms})),
        talking_best_(1000us,
                      [this, &report, writer](std::uint64_t number) {
                        const PublishResult result = publish_in_place(*best_, writer, number, message_size(number));
                        report.expect(result == PublishResult::published, "a best-effort message is refused");
                        report.did("best_out");
                      }),
        talking_sure_(2000us, again_and_again(report, "sure_out",
                                              [this, writer](std::uint64_t number) {
                                                return sure_->publish(sample_of(writer, number, message_size(number)));
                                              })),
        talking_kept_(5000us, again_and_again(report, "kept_out", [this, writer](std::uint64_t number) {
                        return kept_->publish(std::make_unique<Sample>(sample_of(writer, number, message_size(number))));
                      })) {}

 private:
  const std::shared_ptr<Publisher<Sample>> best_, sure_, kept_;
  Ceaseless talking_best_, talking_sure_, talking_kept_;
};

/// What comes by one subscription, from publishers that come and go.
class Stream {
 public:
  Stream(Report& report, const char* name, bool is_lossless) : report_(report), name_(name), is_lossless_(is_lossless) {}

  void receive(const Sample& sample, const MessageInfo& info) {
    const auto expect = [&](bool holds, const char* what) {
      if (!holds)
        report_.wrong(std::string(what) + " on '" + name_ + "': number " + std::to_string(sample.number) + " of " + info.publisher);
    };
    expect(is_complete(sample), "a torn message, or a part of one");
    auto& [sequence, number] = last_[info.publisher];
    expect(sequence == 0 || info.sequence == sequence + info.missed + 1, "a loss that is not counted");
    expect(sample.number == info.sequence, "a message in the place of another one");
    expect(sample.number > number, "a message that is older than the one before");
    expect(!is_lossless_ || sequence == 0 || info.missed == 0, "a loss");
    sequence = info.sequence;
    number = sample.number;
    report_.did(name_);
  }

 private:
  Report& report_;
  const char* const name_;
  const bool is_lossless_;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>
      last_;  // sequence and number, by publisher, each of which has a name of its own
};

/// Subscribes to all topics. `way`: "native", "view", "copy"; "held": keeps messages for some time; "pointer", and "" for whatever comes.
class Listener {
 public:
  Listener(Node& node, Report& report, const std::string& way, bool is_stranger = false)
      : report_(report), best_in_(report, "best", false), sure_in_(report, "sure", true), kept_in_(report, "kept", false) {
    SubscriberOptions options;
    if (way == "native") options.delivery = Delivery::native;
    if (way == "view") options.delivery = Delivery::view;
    if (way == "copy") options.delivery = Delivery::copy;
    if (way == "pointer") options.delivery = Delivery::pointer;
    const std::size_t holds = way == "held" ? 20 : 0;
    const auto into = [this, holds](Stream& stream) {
      return [this, holds, &stream](std::shared_ptr<const Sample> sample, const MessageInfo& info) {
        stream.receive(*sample, info);
        held_.emplace_back(info.sequence, std::move(sample));
        for (; held_.size() > holds; held_.pop_front()) {
          const auto& [sequence, held] = held_.front();
          report_.expect(held->number == sequence && is_complete(*held), "a message that was held has changed");
        }
      };
    };
    subscribers_[0] = node.create_subscriber<Sample>("best", into(best_in_), best, options);
    if (!is_stranger) subscribers_[1] = node.create_subscriber<Sample>("sure", into(sure_in_), sure, options);
    subscribers_[2] = node.create_subscriber<Sample>("kept", into(kept_in_), is_stranger ? Qos{}.keep_last(4) : kept, options);
  }

 private:
  Report& report_;
  Stream best_in_, sure_in_, kept_in_;
  std::deque<std::pair<std::uint64_t, std::shared_ptr<const Sample>>> held_;  // callbacks of one thread
  std::array<std::shared_ptr<Subscriber<Sample>>, 3> subscribers_;
};

// Forks a child that lives on for a moment, with all that it was given; or becomes another program.
void fork_or_exec(const std::string& order) {
  if (order == "fork") {
    const pid_t child = ::fork();
    if (child == 0) {
      std::this_thread::sleep_for(100ms);
      ::_exit(0);
    }
    say(std::to_string(child));
  } else if (order == "exec") {
    ::execl("/bin/sleep", "sleep", "0.1", nullptr);
  }
}

ROLE(talker) {
  Report report{"best_out", "sure_out", "kept_out"};
  auto node = Node::create(arguments[0]);
  const Talker talker(*node, report, std::stoul(arguments[1]));
  report_until_finished(report, fork_or_exec);
}

ROLE(listener) {
  const bool is_stranger = arguments[1] == "stranger";
  if (is_stranger) become_stranger();
  Report report = is_stranger ? Report{"best", "kept"} : Report{"best", "sure", "kept"};
  auto node = Node::create(arguments[0]);
  const Listener listener(*node, report, arguments[1], is_stranger);
  report_until_finished(report, fork_or_exec);
}

// Both in one process, each other's messages by pointer.
ROLE(gossip) {
  Report report{"best_out", "sure_out", "kept_out", "best", "sure", "kept"};
  auto node = Node::create(arguments[0]);
  const Listener listener(*node, report, "");
  const Talker talker(*node, report, std::stoul(arguments[1]));
  report_until_finished(report, fork_or_exec);
}

// --- services and actions ----------------------------------------------------------------------------------------------------------------

ROLE(server) {
  Report report{"requests", "goals"};
  auto node = Node::create(arguments[0]);
  const auto handler = [&](const Work::Request& request, ServiceCall<Work::Response>& call) {
    report.did("requests");
    call.build([&](Work::Response& response) { response = result_of(request, arguments[0]); });
  };
  auto work = node->create_service_provider<Work::Request, Work::Response>("work", handler);
  auto once = node->create_service_provider<Work::Request, Work::Response>("once", handler, {.parallel = 2, .at_most_once = true});
  auto mover = create_move_server(*node,
                                  [&](MoveGoal& goal) {
                                    report.did("goals");
                                    return counted(goal, arguments[0]);
                                  },
                                  {.goals_at_a_time = 4});
  report_until_finished(report, fork_or_exec);
}

ROLE(caller) {
  Report report{"waited", "futures", "callbacks", "goals"};
  auto node = Node::create(arguments[0]);
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto once = node->create_service_client<Work::Request, Work::Response>("once");
  auto mover = create_move_client(*node);
  const auto check = [&](const Work::Response& response, std::uint64_t number, std::uint64_t size, const char* name) {
    report.expect(is_right(response, number, 1, size), std::string("a wrong answer: ") + name);
    report.did(name);
  };
  const auto size_of = [](std::uint64_t number) -> std::uint64_t { return number % 20 == 0 ? 300'000 : number % 7 * 500; };
  const Ceaseless waiting(1ms, [&](std::uint64_t number) {
    try {
      check(*client->call_and_wait(loaned_addition(*client, number, size_of(number))), number, 0, "waited");
    } catch (const std::exception& error) {
      report.wrong(error.what());
    }
  });
  const Ceaseless promised(2ms, [&](std::uint64_t number) {
    try {
      std::vector<PendingCall<std::shared_ptr<const Work::Response>>> calls;
      for (int i = 0; i < 10; ++i) calls.push_back(client->call_shared(addition(number, 1, size_of(number))));
      for (auto& call : calls) check(*call.get(), number, size_of(number), "futures");
    } catch (const std::exception& error) {
      report.wrong(error.what());
    }
  });
  const Ceaseless calling_back(2ms, [&](std::uint64_t number) {
    std::counting_semaphore<> answered(0);
    for (int i = 0; i < 5; ++i) {
      once->call(addition(number, 1, size_of(number)),
                 [&](const std::shared_ptr<const Work::Response>& response, const ServiceError* error) {
                   if (response) {
                     check(*response, number, size_of(number), "callbacks");
                   } else if (error && error->kind() != ServiceError::Kind::lost) {
                     report.wrong(error->what());
                   }
                   answered.release();
                 });
    }
    for (int i = 0; i < 5; ++i) answered.acquire();
  });
  const Ceaseless moving(5ms, [&](std::uint64_t number) {
    const MoveHandle goal = mover->send_goal({.number = number, .steps = 5, .what = "count"});
    try {
      const auto outcome = goal.result().get();
      report.expect(outcome->state == GoalState::succeeded || outcome->state == GoalState::rejected,
                    "a goal that nobody cancelled did not succeed");
      report.expect(outcome->state != GoalState::succeeded || outcome->result.all.size() == 5, "a wrong result");
      report.did("goals");
    } catch (const ServiceError& error) {
      if (error.kind() != ServiceError::Kind::lost) report.wrong(error.what());
    }
  });
  report_until_finished(report, fork_or_exec);
}

}  // namespace
}  // namespace sinew::system
