// The manager while its own system calls fail: whoever comes is served or told why not, nothing of them stays, and those who are there do not notice.
#include <sys/resource.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "manager/server/server.hpp"
#include "os/clock.hpp"
#include "os/domain.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "tests/faults/walk.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

// The manager as sinewd runs it, in a process that obeys orders, too.
ROLE(manager) {
  const os::Fd stop = os::create_eventfd();
  const os::AddressRange range = os::probe_address_range();
  const manager::WindowRange windows{.base = range.base, .window_size = range.window_size, .count = range.count};
  manager::Server server(manager::Entrance::bind(arguments.at(0)),
                         manager::Domain(windows, os::this_user(), {}, std::nullopt, os::now_ns()), stop);
  std::thread obeying([&] {
    say("ready");
    for (std::string order; std::getline(std::cin, order);) obey_faults(order);
    os::fault::disarm();
    os::ring(stop.get());
  });
  try {
    server.run();
  } catch (const std::exception& error) {
    say(std::string("the manager has ended: ") + error.what());
    ::_exit(5);
  }
  obeying.join();
}

class ManagerFaults : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    manager_ = std::make_unique<Child>("manager", Arguments{socket()});
    manager_->expect("ready");
    // They do not notice anything.
    camera_ = Node::create("camera");
    viewer_ = Node::create("viewer");
    publisher_ = camera_->create_publisher<Sample>("image");
    subscriber_ = viewer_->create_subscriber<Sample>("image", Qos{}, as_from_elsewhere());
    await_subscribers(*publisher_, 1);
  }
  void TearDown() override {
    subscriber_.reset();
    publisher_.reset();
    viewer_.reset();
    camera_.reset();
    manager_->end();
    manager_.reset();
    Domain::TearDown();
  }
  /// The manager's next call of this kind fails.
  void arm(os::fault::Call call, int error) {
    manager_->order("arm " + std::to_string(static_cast<int>(call)) + " 1 " + std::to_string(error));
    manager_->expect("armed");
  }
  /// Nobody but those who are always there is in the domain, and they can still ask for something of it.
  void expect_nobody_noticed() {
    publish_in_place(*publisher_, 1, 1, 1000);
    EXPECT_TRUE(take_soon(*subscriber_));
    EXPECT_TRUE(eventually([&] {
      const DomainState state = camera_->domain_state();
      return state.nodes.size() == 2 && state.topics.size() == 1 && state.endpoints.size() == 2;
    }));
    const auto more = camera_->create_publisher<Sample>("more");
    const auto reader = viewer_->create_subscriber<Sample>("more", Qos{}, as_from_elsewhere());
    await_subscribers(*more, 1);
  }

  std::unique_ptr<Child> manager_;
  std::shared_ptr<Node> camera_, viewer_;
  std::shared_ptr<Publisher<Sample>> publisher_;
  std::shared_ptr<Subscriber<Sample>> subscriber_;
};

TEST_F(ManagerFaults, nodes_come_and_go_or_are_told_why_not) {
  walk_in(*manager_, "the manager: a node comes and goes",
          [&](Fault& fault) {
            fault.during([&] { (void)Node::create("newcomer"); });
            (void)Node::create("newcomer");
            expect_nobody_noticed();
          },
          {manager_.get()});
}

TEST_F(ManagerFaults, introductions_are_made_or_those_who_wait_are_told_why_not) {
  walk_in(*manager_, "the manager: a publisher and a subscriber meet",
          [&](Fault& fault) {
            const auto meet = [](const Fault* bearing) {
              const auto left = Node::create("left"), right = Node::create("right");
              const auto publisher = left->create_publisher<Sample>("topic");
              const auto subscriber = right->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
              const auto has_met = [&] { return publisher->statistics().subscribers == 1; };
              if (bearing) {
                bearing->await(has_met);
              } else {
                EXPECT_TRUE(eventually(has_met));
              }
            };
            fault.during([&] { meet(&fault); });
            meet(nullptr);
            expect_nobody_noticed();
          },
          {manager_.get()});
}

TEST_F(ManagerFaults, the_state_of_the_domain_is_told_or_why_not) {
  walk_in(*manager_, "the manager: it tells what there is",
          [&](Fault& fault) {
            {
              const auto asking = Node::create("asking");
              fault.during([&] { EXPECT_EQ(asking->domain_state().nodes.size(), 3U); });
            }
            expect_nobody_noticed();
          },
          {manager_.get()});
}

TEST_F(ManagerFaults, a_newcomer_that_is_accepted_and_cannot_be_watched_is_told_why) {
  arm(os::fault::Call::epoll_ctl, ENOSPC);
  try {
    (void)Node::create("newcomer");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::exhausted);
    EXPECT_NE(std::string(error.what()).find("epoll/max_user_watches"), std::string::npos) << error.what();
  }
  expect_nobody_noticed();
}

TEST_F(ManagerFaults, newcomers_are_told_when_descriptors_run_out_also_after_there_was_none_for_its_reserve) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  rlimit limit{};
  ASSERT_EQ(::prlimit(manager_->pid(), RLIMIT_NOFILE, nullptr, &limit), 0);
  const rlimit less{manager_->descriptors(), limit.rlim_max};
  ASSERT_EQ(::prlimit(manager_->pid(), RLIMIT_NOFILE, &less, nullptr), 0);
  arm(os::fault::Call::eventfd, ENOMEM);
  std::vector<std::shared_ptr<Node>> newcomers;
  for (int told = 0; told < 3;) {  // the first of them of what is in reserve, which is not there any more then
    try {
      newcomers.push_back(Node::create("newcomer" + std::to_string(newcomers.size())));
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::exhausted) << error.what();
      ++told;
    }
  }
  ASSERT_EQ(::prlimit(manager_->pid(), RLIMIT_NOFILE, &limit, nullptr), 0);
  newcomers.clear();
  expect_nobody_noticed();
}

}  // namespace
}  // namespace sinew::system
