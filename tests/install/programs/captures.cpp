// Has callbacks of every kind change variables of main() that they have captured by reference, and exits with 0 when main() finds them changed. Says which it does not.
//
// Nothing but these callbacks writes to them, and all that could tell a compiler so are the headers of sinew: what comes of it depends on how it optimises.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sinew/message_filters.hpp>
#include <sinew/rclcpp.hpp>
#include <sinew/sinew.hpp>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

using namespace std::chrono_literals;
namespace filters = sinew::message_filters;
namespace ros = sinew::rclcpp;

namespace captures {

struct Header {
  std::uint64_t stamp_ns = 0;
};
struct Word {
  Header header{};
  std::int32_t number = 0;
};
struct Echo {
  using Request = Word;
  using Response = Word;
};

// Calls until now, of all kinds. What a callback wrote before it counted here is seen by who reads it here.
std::atomic<int> calls{0};
int expected = 0;
bool all_well = true;

void until_called(int times) {
  expected += times;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (calls < expected && std::chrono::steady_clock::now() < patience) std::this_thread::sleep_for(1ms);
  if (calls < expected) {
    std::printf("only %d of %d calls came\n", calls.load(), expected);
    std::exit(2);
  }
}

void check(const char* what, int found, int wanted) {
  if (found == wanted) return;
  std::printf("%s: %d of %d\n", what, found, wanted);
  all_well = false;
}

void messages(const std::shared_ptr<sinew::Node>& node) {
  int by_reference = 0, with_info = 0, shared = 0, shared_with_info = 0, owned = 0, owned_with_info = 0, matched = 0, built = 0;
  // Two of each, so that no function is inlined because it has but one caller.
  const auto look = [&](const Word&) { ++by_reference, ++calls; };
  const auto look_with_info = [&](const Word&, const sinew::MessageInfo&) { ++with_info, ++calls; };
  const auto share = [&](std::shared_ptr<const Word>) { ++shared, ++calls; };
  const auto share_with_info = [&](std::shared_ptr<const Word>, const sinew::MessageInfo&) { ++shared_with_info, ++calls; };
  const auto own = [&](std::unique_ptr<Word>) { ++owned, ++calls; };
  const auto own_with_info = [&](std::unique_ptr<Word>, const sinew::MessageInfo&) { ++owned_with_info, ++calls; };
  sinew::SubscriberOptions with_events;
  with_events.events.matched = [&](const sinew::MatchedEvent&) {
    if (++matched == 1) ++calls;
  };
  const auto a1 = node->create_subscriber<Word>("word", look), a2 = node->create_subscriber<Word>("word", look);
  const auto b1 = node->create_subscriber<Word>("word", look_with_info), b2 = node->create_subscriber<Word>("word", look_with_info);
  const auto c1 = node->create_subscriber<Word>("word", share), c2 = node->create_subscriber<Word>("word", share);
  const auto d1 = node->create_subscriber<Word>("word", share_with_info), d2 = node->create_subscriber<Word>("word", share_with_info);
  const auto e1 = node->create_subscriber<Word>("word", own), e2 = node->create_subscriber<Word>("word", own);
  const auto f1 = node->create_subscriber<Word>("word", own_with_info), f2 = node->create_subscriber<Word>("word", own_with_info);
  const auto told = node->create_subscriber<Word>("word", sinew::Qos{}, with_events);
  const auto publisher = node->create_publisher<Word>("word");
  until_called(1);
  auto loan = publisher->loan();
  loan.build([&](Word& word) { ++built, word.number = 1; });
  publisher->publish(std::move(loan));
  until_called(12);
  check("create_subscriber, const T&", by_reference, 2);
  check("create_subscriber, const T& with MessageInfo", with_info, 2);
  check("create_subscriber, std::shared_ptr", shared, 2);
  check("create_subscriber, std::shared_ptr with MessageInfo", shared_with_info, 2);
  check("create_subscriber, std::unique_ptr", owned, 2);
  check("create_subscriber, std::unique_ptr with MessageInfo", owned_with_info, 2);
  check("SubscriberEvents", matched > 0 ? 1 : 0, 1);
  check("Loan::build", built, 1);
}

// With a callable of which there is more than fits into a std::function.
void one_message(const std::shared_ptr<sinew::Node>& node) {
  int heard = 0, large = 0;
  const auto small = node->create_subscriber<Word>("one", [&](const Word&) { ++heard, ++calls; });
  const auto other = node->create_subscriber<Word>("one", [&, text = std::string("text"), more = std::string("more")](const Word&) {
    large += static_cast<int>(text.size() + more.size()) / 8;
    ++calls;
  });
  const auto publisher = node->create_publisher<Word>("one");
  publisher->publish(Word{});
  until_called(2);
  check("create_subscriber, a lambda where it is called", heard, 1);
  check("create_subscriber, a large lambda where it is called", large, 1);
}

void services(const std::shared_ptr<sinew::Node>& node) {
  int simple = 0, with_call = 0, building = 0, answers = 0;
  const auto handle = [&](const Word& word) {
    ++simple, ++calls;
    return word;
  };
  const auto handle_call = [&](const Word& word, sinew::ServiceCall<Word>&) {
    ++with_call, ++calls;
    return word;
  };
  const auto build = [&](const Word& word, sinew::ServiceCall<Word>& call) {
    call.build([&](Word& response) { ++building, response = word; });
    ++calls;
  };
  const auto a1 = node->create_service_provider<Word, Word>("a1", handle), a2 = node->create_service_provider<Word, Word>("a2", handle);
  const auto b1 = node->create_service_provider<Word, Word>("b1", handle_call),
             b2 = node->create_service_provider<Word, Word>("b2", handle_call);
  const auto c1 = node->create_service_provider<Word, Word>("c1", build), c2 = node->create_service_provider<Word, Word>("c2", build);
  const auto on_answer = [&](std::shared_ptr<const Word>, const sinew::ServiceError*) { ++answers, ++calls; };
  for (const char* const name : {"a1", "a2", "b1", "b2", "c1", "c2"}) {
    const auto client = node->create_service_client<Word, Word>(name);
    client->call(Word{}, on_answer);
    auto request = client->loan();
    client->call(std::move(request), on_answer);
    until_called(4);
  }
  check("create_service_provider, (request)", simple, 4);
  check("create_service_provider, (request, call)", with_call, 4);
  check("create_service_provider, a response that is built", building, 4);
  check("ServiceClient::call", answers, 12);
}

void actions(const std::shared_ptr<sinew::Node>& node) {
  int asked = 0, executed = 0, told = 0, ended = 0;
  sinew::ActionServerOptions<Word> options;
  options.accept = [&](const Word&) {
    ++asked, ++calls;
    return sinew::Acceptance::yes();
  };
  const auto execute = [&](sinew::ServerGoal<Word, Word>& goal) {
    goal.feedback(Word{});
    ++executed, ++calls;
    return Word{};
  };
  const auto one = node->create_action_server<Word, Word, Word>("one", execute, options);
  const auto two = node->create_action_server<Word, Word, Word>("two", execute, options);
  for (const char* const name : {"one", "two"}) {
    const auto client = node->create_action_client<Word, Word, Word>(name);
    using Outcome = std::remove_reference_t<decltype(*client)>::Outcome;
    const auto goal = client->send_goal(
        Word{}, [&](const Word&) { ++told, ++calls; }, [&](const Outcome&, const sinew::ServiceError*) { ++ended, ++calls; });
    until_called(4);
  }
  check("ActionServerOptions::accept", asked, 2);
  check("create_action_server", executed, 2);
  check("send_goal, feedback", told, 2);
  check("send_goal, result", ended, 2);
}

void others(const std::shared_ptr<sinew::Node>& node) {
  int ticks = 0, updates = 0, taken = 0, pairs = 0, pairs_by_reference = 0;
  std::shared_ptr<sinew::Timer> timer = node->create_timer(1ms, [&] {
    timer->cancel();
    ++ticks, ++calls;
  });
  until_called(1);
  auto watch = node->watch_domain([&](const sinew::DomainUpdate&) {
    if (++updates == 1) ++calls;
  });
  until_called(1);
  watch.reset();
  filters::Subscriber<Word> left(node, "left"), right(node, "right");
  using Exact = filters::sync_policies::ExactTime<Word, Word>;
  filters::Synchronizer<Exact> synchronizer(Exact(10), left, right);
  left.registerCallback([&](const std::shared_ptr<const Word>&) { ++taken, ++calls; });
  const auto by_pointer = [&](const std::shared_ptr<const Word>&, const std::shared_ptr<const Word>&) { ++pairs, ++calls; };
  const auto by_reference = [&](const Word&, const Word&) { ++pairs_by_reference, ++calls; };
  synchronizer.registerCallback(by_pointer);
  synchronizer.registerCallback(by_pointer);
  synchronizer.registerCallback(by_reference);
  synchronizer.registerCallback(by_reference);
  node->create_publisher<Word>("left")->publish(Word{.header = {7}});
  node->create_publisher<Word>("right")->publish(Word{.header = {7}});
  until_called(5);
  check("create_timer", ticks, 1);
  check("watch_domain", updates > 0 ? 1 : 0, 1);
  check("message_filters::Subscriber", taken, 1);
  check("message_filters::Synchronizer, std::shared_ptr", pairs, 2);
  check("message_filters::Synchronizer, const T&", pairs_by_reference, 2);
}

void spin_until_called(const ros::Node::SharedPtr& node, int times) {
  expected += times;
  const auto patience = std::chrono::steady_clock::now() + 60s;
  while (calls < expected && std::chrono::steady_clock::now() < patience) ros::spin_some(node);
  if (calls < expected) {
    std::printf("only %d of %d calls came in spin()\n", calls.load(), expected);
    std::exit(2);
  }
}

void those_of_ros() {
  const auto node = std::make_shared<ros::Node>("ros");
  int by_reference = 0, with_info = 0, constant = 0, constant_with_info = 0, shared = 0, owned = 0, ticks = 0, ticks_of = 0, served = 0,
      served_with_id = 0, answers = 0, matched = 0;
  const auto look = [&](const Word&) { ++by_reference, ++calls; };
  const auto look_with_info = [&](const Word&, const ros::MessageInfo&) { ++with_info, ++calls; };
  const auto keep = [&](std::shared_ptr<const Word>) { ++constant, ++calls; };
  const auto keep_with_info = [&](std::shared_ptr<const Word>, const ros::MessageInfo&) { ++constant_with_info, ++calls; };
  const auto share = [&](std::shared_ptr<Word>) { ++shared, ++calls; };
  const auto own = [&](std::unique_ptr<Word>) { ++owned, ++calls; };
  const auto a1 = node->create_subscription<Word>("word", 10, look), a2 = node->create_subscription<Word>("word", 10, look);
  const auto b1 = node->create_subscription<Word>("word", 10, look_with_info),
             b2 = node->create_subscription<Word>("word", 10, look_with_info);
  const auto c1 = node->create_subscription<Word>("word", 10, keep), c2 = node->create_subscription<Word>("word", 10, keep);
  const auto d1 = node->create_subscription<Word>("word", 10, keep_with_info),
             d2 = node->create_subscription<Word>("word", 10, keep_with_info);
  const auto e1 = node->create_subscription<Word>("word", 10, share), e2 = node->create_subscription<Word>("word", 10, share);
  const auto f1 = node->create_subscription<Word>("word", 10, own), f2 = node->create_subscription<Word>("word", 10, own);
  ros::PublisherOptions with_events;
  with_events.event_callbacks.matched_callback = [&](ros::MatchedInfo&) {
    if (++matched == 1) ++calls;
  };
  const auto publisher = node->create_publisher<Word>("word", 10, with_events);
  spin_until_called(node, 1);
  publisher->publish(Word{});
  spin_until_called(node, 12);
  ros::TimerBase::SharedPtr timer = node->create_wall_timer(1ms, [&] {
    timer->cancel();
    ++ticks, ++calls;
  });
  const auto tick = [&](ros::TimerBase& of) {
    of.cancel();
    ++ticks_of, ++calls;
  };
  const auto t1 = node->create_wall_timer(1ms, tick), t2 = node->create_timer(1ms, tick);
  spin_until_called(node, 3);
  const auto serve = [&](std::shared_ptr<Word>, std::shared_ptr<Word>) { ++served, ++calls; };
  const auto serve_with_id = [&](std::shared_ptr<ros::RequestId>, std::shared_ptr<Word>, std::shared_ptr<Word>) {
    ++served_with_id, ++calls;
  };
  const auto s1 = node->create_service<Echo>("s1", serve), s2 = node->create_service<Echo>("s2", serve);
  const auto s3 = node->create_service<Echo>("s3", serve_with_id), s4 = node->create_service<Echo>("s4", serve_with_id);
  const auto on_answer = [&](ros::Client<Echo>::SharedFuture) { ++answers, ++calls; };
  for (const char* const name : {"s1", "s2", "s3", "s4"}) {
    const auto client = node->create_client<Echo>(name);
    client->async_send_request(std::make_shared<Word>(), on_answer);
    spin_until_called(node, 2);
  }
  check("create_subscription, const T&", by_reference, 2);
  check("create_subscription, const T& with MessageInfo", with_info, 2);
  check("create_subscription, std::shared_ptr<const T>", constant, 2);
  check("create_subscription, std::shared_ptr<const T> with MessageInfo", constant_with_info, 2);
  check("create_subscription, std::shared_ptr<T>", shared, 2);
  check("create_subscription, std::unique_ptr<T>", owned, 2);
  check("PublisherEventCallbacks", matched > 0 ? 1 : 0, 1);
  check("create_wall_timer", ticks, 1);
  check("create_wall_timer, create_timer, (TimerBase&)", ticks_of, 2);
  check("create_service", served, 2);
  check("create_service, with the request's id", served_with_id, 2);
  check("async_send_request", answers, 4);
}

}  // namespace captures

int main(int argc, char** argv) {
  {
    const auto node = sinew::Node::create("captures");
    captures::messages(node);
    captures::one_message(node);
    captures::services(node);
    captures::actions(node);
    captures::others(node);
  }
  ros::init(argc, argv);
  captures::those_of_ros();
  ros::shutdown();
  if (captures::all_well) std::puts("all seen");
  return captures::all_well ? 0 : 1;
}
