// What the processes in containers do.
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <semaphore>
#include <set>

#include "tests/isolation/container.hpp"
#include "tests/system/action.hpp"
#include "tests/system/orders.hpp"
#include "tests/system/paths.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

/// Answers each order until there are no more.
void answer_orders(const std::function<std::string(const std::string& what, std::istream& more)>& answer) {
  say("ready");
  for (std::string order; std::getline(std::cin, order);) {
    std::istringstream words(order);
    std::string what;
    words >> what;
    say(answer(what, words));
  }
}

// container: what it has of the outside
ROLE(inspector) {
  enter_container(arguments.at(0));
  answer_orders([](const std::string& what, std::istream&) {
    if (what == "pid") return std::to_string(::getpid());
    std::set<std::string> found;
    if (what == "interfaces") {
      ifaddrs* first = nullptr;
      require(::getifaddrs(&first) == 0, "the interfaces cannot be read");
      for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
        if ((each->ifa_flags & IFF_UP) != 0) found.insert(each->ifa_name);
      }
      ::freeifaddrs(first);
    } else {
      for (const auto& each : std::filesystem::directory_iterator(what)) {
        const std::string name = each.path().filename();
        const bool is_process = name.find_first_not_of("0123456789") == name.npos;
        if (what != "/proc" || is_process)
          found.insert(std::filesystem::is_symlink(each) ? std::filesystem::read_symlink(each) : each.path());
      }
    }
    std::string all;
    for (const std::string& each : found) all += each + " ";
    return all;
  });
}

// container, name
ROLE(keeper) {
  enter_container(arguments.at(0));
  auto node = Node::create(arguments.at(1));
  answer_orders([&](const std::string&, std::istream&) {
    std::string all;  // of the nodes, as "name:pid in container"
    for (const DomainNode& each : node->domain_state().nodes)
      all += each.name + ":" + std::to_string(each.pid) + " in " + each.container + ";";
    return all;
  });
}

// container, qos: publishes on "topic"
ROLE(writer) {
  enter_container(arguments.at(0));
  auto node = Node::create("writer");
  auto publisher = node->create_publisher<Sample>("topic", qos_of(arguments.at(1)));
  answer_orders([&](const std::string& what, std::istream& more) -> std::string {
    std::uint64_t first = 0, second = 0;
    more >> first >> second;
    if (what == "await") {
      await_subscribers(*publisher, first);
      return "there";
    }
    if (what == "publish") {  // from the first number to the second
      publish_numbers(*publisher, first, second);
      return "published";
    }
    if (what == "big") {  // one with this number, of so many bytes
      require(publish_in_place(*publisher, 1, first, second) == PublishResult::published, "it is not published");
      return "published";
    }
    if (what == "memory") return std::to_string(publisher->statistics().memory_in_use);
    fail("no such order");
  });
}

// container, path, qos: takes from "topic"
ROLE(reader) {
  enter_container(arguments.at(0));
  Taker taker(path_named(arguments.at(1)), "reader", arguments.at(2));
  say("ready");
  for (std::string order; std::getline(std::cin, order);) say(taker.answer(order));
}

// container, "" or "clone": holds what it takes from "topic"
ROLE(holder) {
  enter_container(arguments.at(0));
  auto node = Node::create("holder");
  auto subscriber = node->create_subscriber<Sample>("topic", lossless());
  std::vector<std::pair<std::uint64_t, std::shared_ptr<const Sample>>> held;
  answer_orders([&](const std::string& what, std::istream&) -> std::string {
    if (what == "hold") {
      MessageInfo info;
      auto sample = take_soon(*subscriber, &info);
      require(sample && is_whole(*sample) && info.delivery == Delivery::native, "it does not come in place");
      held.emplace_back(sample->number, std::move(sample));
      // A raw clone runs no fork handlers: it keeps this process's sockets open.
      if (arguments.at(1) == "clone" && ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) {
        for (char byte = 0; ::read(STDIN_FILENO, &byte, 1) > 0;) {
        }
        ::_exit(0);
      }
      return std::to_string(held.back().first);
    }
    if (what == "alone") {
      require(eventually([&] { return subscriber->statistics().publishers == 0; }), "the publisher does not go");
      return "alone";
    }
    if (what == "look") {
      for (const auto& [number, sample] : held) require(is_whole(*sample) && sample->number == number, "what is held has changed");
      return "whole";
    }
    if (what == "drop") {
      held.clear();
      return "dropped";
    }
    fail("no such order");
  });
}

// container, name: provides "work" and "move". It says "NUMBER of CLIENT" for what waits, and "cancelled".
ROLE(provider) {
  enter_container(arguments.at(0));
  const std::string name = arguments.at(1);
  std::counting_semaphore<> passes(0);
  auto node = Node::create(name);
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [&](const Work::Request& request, ServiceCall<Work::Response>& call) {
        if (request.what == "say") {
          say(std::to_string(request.number) + " of " + call.client());
          passes.acquire();
        }
        if (request.what == "wait") {
          say("waits");
          require(eventually([&] { return call.cancelled(); }), "it is not cancelled");
          say("cancelled");
        }
        return result_of(request, name);
      });
  auto server = create_move_server(*node, [&](MoveGoal& goal) { return goal->what == "wait" ? waited(goal) : counted(goal, name); });
  say("ready");
  obey_orders([&] { passes.release(); }, [&] { provider.reset(); });
}

// container: calls "work" and "move"
ROLE(caller) {
  enter_container(arguments.at(0));
  auto node = Node::create("caller");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  auto mover = create_move_client(*node);
  std::map<std::uint64_t, PendingCall<Work::Response>> pending;
  answer_orders([&](const std::string& what, std::istream& more) -> std::string {
    std::uint64_t number = 0;
    more >> number;
    if (what == "await") {
      await_providers(*client, number);
      await_servers(*mover, number);
      return "there";
    }
    if (what == "call") {  // so many, by value and by loan
      for (std::uint64_t each = 1; each <= number; ++each) {
        require(is_right(client->call(addition(each, 1, each * 1000)).get(), each, 1, each * 1000), "a call is answered wrongly");
        require(is_right(client->call(loaned_addition(*client, each, each * 100)).get(), each), "a loaned call is answered wrongly");
      }
      return "answered";
    }
    if (what == "move") {
      Steps steps;
      const MoveHandle goal = mover->send_goal({.number = number, .steps = 50, .what = "count"}, steps.of(number));
      const auto outcome = goal.result().get();
      require(outcome->state == GoalState::succeeded && outcome->result.number == number && outcome->result.all.size() == 50,
              outcome->text);
      require(steps.strange() == 0, "feedback is not as it was published");
      MoveHandle endless = mover->send_goal({.number = number, .what = "wait"});
      require(endless.accepted().get(), "a goal is not accepted");
      endless.cancel();
      return end_of(endless);
    }
    if (what == "say" || what == "wait") {
      pending.emplace(number, client->call({.caller = 1, .number = number, .what = what, .terms = {}}));
      return "called";
    }
    auto call = std::move(pending.extract(number).mapped());
    if (what == "cancel") {
      call.cancel();
      return "told";
    }
    return call.get().provider;
  });
}

}  // namespace
}  // namespace sinew::system
