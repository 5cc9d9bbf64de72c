// What a forked child may do with what it inherited, and what its parent and their peers notice of it.
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include "base/point.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Fork : public Domain {};

std::size_t open_sockets() {
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    count += std::filesystem::read_symlink(each.path(), gone).string().starts_with("socket:");
  }
  return count;
}

/// One of everything that a process can have of sinew's.
struct Everything {
  std::shared_ptr<Node> node = Node::create("node"), peer = Node::create("peer");
  std::shared_ptr<Publisher<Sample>> publisher = node->create_publisher<Sample>("topic");
  std::atomic<std::uint64_t> received{0};
  std::shared_ptr<Subscriber<Sample>> with_callback = peer->create_subscriber<Sample>(
      "topic", [this](const Sample& sample) { received += is_whole(sample); }, Qos{}.keep_last(100), as_from_elsewhere());
  std::shared_ptr<Subscriber<Sample>> without = peer->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  std::shared_ptr<const Sample> held;
  std::optional<Loan<Sample>> loan;
  std::vector<std::uint8_t> moved_out;
  std::shared_ptr<Executor> executor = Executor::create({.by_caller = true});
  std::shared_ptr<Node> callers = Node::create("callers", {.executor = executor});
  std::atomic<std::uint64_t> ticks{0}, others_ticks{0};
  int descriptor = executor->fd();
  std::shared_ptr<Timer> timer = callers->create_timer(std::chrono::milliseconds(1), [this] { ++ticks; }),
                         others_timer =
                             callers->create_timer(std::chrono::milliseconds(1), [this] { ++others_ticks; }, {.execution_thread = 1});

  Everything() {
    await_subscribers(*publisher, 2);
    publish_in_place(*publisher, 1, 1, 100'000);
    held = take_soon(*without);
    auto emptied = publisher->loan();
    emptied->data.resize(1000);
    moved_out = std::move((*emptied).data);
    loan.emplace(publisher->loan());
    loan->build([](Sample& sample) { fill(sample, 1, 2, 100'000); });
  }
};

/// Waits for a child of this process; its exit status, or -signal.
int end_of(pid_t pid) {
  int status = 0;
  require(::waitpid(pid, &status, 0) == pid, "no such child");
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

ROLE(forker) {
  auto all = std::make_unique<Everything>();
  const pid_t child = ::fork();
  if (child == 0) {
    int wrong = open_sockets() == 0 ? 0 : 2;
    if (all->publisher->publish(sample_of(1, 3, 10)) != PublishResult::closed) wrong = 3;
    if (all->without->take() || all->publisher->statistics().published != 0 || all->without->statistics().received != 0) wrong = 4;
    try {
      (void)Node::create("child");
      wrong = 5;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_argument) wrong = 6;
    }
    const auto is_refused = [](const auto& call) {
      try {
        call();
        return false;
      } catch (const Error& error) {
        return error.kind() == ErrorKind::invalid_argument;
      }
    };
    const std::uint64_t ticks = all->ticks, others_ticks = all->others_ticks;
    all->executor->spin();
    all->executor->dispatch();
    all->executor->stop();
    all->timer->reset();
    all->others_timer->cancel();
    all->others_timer->reset();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    all->callers->dispatch();
    if (all->ticks != ticks || all->others_ticks != others_ticks) wrong = 7;
    if (!is_refused([&] { all->executor->fd(); })) wrong = 8;
    if (!is_refused([&] { (void)all->callers->create_timer(std::chrono::milliseconds(1), [] {}, {.execution_thread = 2}); })) wrong = 9;
    if (!is_refused([&] { (void)all->node->create_publisher<Sample>("topic"); })) wrong = 10;
    if (!is_refused([&] { (void)all->node->create_subscriber<Sample>("topic"); })) wrong = 11;
    all.reset();
    // The sanitizer would report what was given up on purpose; everybody else runs the destructors of all statics as well.
    if (sanitized) ::_exit(wrong);
    std::exit(wrong);
  }
  const int end = end_of(child);
  require(end == 0, "the child did not end well: " + std::to_string(end));
  require(is_whole(*all->held), "the child disturbed a held message");
  const auto tick = [&] {
    all->executor->dispatch();
    return all->ticks > 0;
  };
  require(eventually(tick), "the child disturbed the timer that its parent dispatches");
  const std::uint64_t then = all->others_ticks;
  require(eventually([&] { return all->others_ticks > then + 2; }), "the child disturbed the timer of another thread");
  require(all->publisher->publish(std::move(*all->loan)) == PublishResult::published, "the child disturbed the loan");
  for (std::uint64_t number = 3; number <= 20; ++number) publish_in_place(*all->publisher, 1, number, 100'000 * number);
  require(eventually([&] { return all->received == 20; }), "the child disturbed the parent");
}

TEST_F(Fork, S8_a_child_may_destroy_all_it_inherited_and_its_parent_goes_on) {
  Child("forker").end();
}

/// A callback of a subscriber between processes, a timer or an event, in which the process forks; the child goes on where its parent does.
ROLE(forks_in_callback) {
  const bool spins = arguments[0] == "spin", is_timer = arguments[1] == "timer";
  auto node = Node::create("node", {.executor = Executor::create({.by_caller = spins})});
  auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<pid_t> child{-1};
  std::atomic<int> calls{0};
  const pid_t parent = ::getpid();
  const auto callback = [&] {
    if (++calls == 1) child = ::fork();
    if (::getpid() == parent) return node->executor()->stop();
    if (calls > 1) ::_exit(2);
  };
  std::shared_ptr<Timer> timer;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  if (is_timer) {
    timer = node->create_timer(std::chrono::milliseconds(1), callback);
  } else {
    subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { callback(); }, Qos{}, as_from_elsewhere());
    await_subscribers(*publisher, 1);
    for (std::uint64_t number = 1; number <= 3; ++number) publish_in_place(*publisher, 1, number, 1000);
  }
  if (spins) node->spin();
  if (::getpid() != parent) ::_exit(0);  // spin() returned
  require(eventually([&] { return child != -1; }), "no callback");
  const int end = end_of(child);
  require(end == 0, "the child did not end well: " + std::to_string(end));
  const int then = calls;
  if (is_timer && !spins) require(eventually([&] { return calls > then; }), "the child disturbed its parent");
}

TEST_F(Fork, AChildThatReturnsFromTheCallbackInWhichItWasForkedRunsNoOthers) {
  for (const char* how : {"spin", "thread"}) {
    if (sanitized && how != std::string("spin")) continue;  // the child's last thread ends: leaks on purpose would be reported
    for (const char* what : {"timer", "message"}) {
      SCOPED_TRACE(std::string(how) + ", " + what);
      Child("forks_in_callback", {how, what}).end();
    }
  }
}

/// Starts a program in a callback, and asks it to end.
ROLE(starts_a_program_in_a_callback) {
  auto node = Node::create("node");
  std::atomic<pid_t> child{0};
  const auto timer = node->create_timer(std::chrono::milliseconds(1), [&] {
    if (child != 0) return;
    child = ::fork();
    if (child != 0) return;
    ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(1);
  });
  require(eventually([&] { return child > 0; }), "no callback");
  ::kill(child, SIGTERM);
  int status = 0;
  const bool has_ended = eventually([&] { return ::waitpid(child, &status, WNOHANG) == child; });
  if (!has_ended) ::kill(child, SIGKILL);
  require(has_ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM, "the program does not hear of SIGTERM");
}

TEST_F(Fork, AProgramThatIsStartedInACallbackEndsWhenItIsAskedTo) {
  Child("starts_a_program_in_a_callback").end();
}

ROLE(forked_writer) {
  auto all = std::make_unique<Everything>();
  const auto* const held = all->held.get();
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    *const_cast<volatile std::uint64_t*>(&(**all->loan).number) = 99;  // not there: shared memory is not inherited
    ::_exit(0);
  }
  const int end = end_of(child);
  require(end != 0, "the child could write into the message that its parent builds");
  require((**all->loan).number == 2 && is_whole(**all->loan) && is_whole(*held), "the child wrote into its parent's memory");
}

TEST_F(Fork, S8_a_child_cannot_write_into_the_messages_of_its_parent) {
  Child("forked_writer").end();
}

// fork or clone
ROLE(subscriber_with_child) {
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  next_order();
  const auto held = take_soon(*subscriber);
  require(held != nullptr, "nothing comes");
  // A raw clone runs no fork handlers: the child keeps the sockets of its parent open.
  const pid_t child = arguments[0] == "fork" ? ::fork() : static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  if (child == 0) {
    for (;;) ::pause();
  }
  say(std::to_string(child));
  until_finished();
}

TEST_F(Fork, S8_a_child_that_lives_on_does_not_pin_the_claims_of_its_dead_parent) {
  for (const char* how : {"fork", "clone"}) {
    auto node = Node::create("publisher");
    auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1));
    Child subscriber("subscriber_with_child", {how}, {{"SINEW_NODE", how}});
    await_subscribers(*publisher, 1);
    publish_in_place(*publisher, 1, 1, 3'000'000);
    subscriber.order("take");
    const pid_t grandchild = std::stoi(subscriber.line().value_or("0"));
    publish_in_place(*publisher, 1, 2, 40'000);
    EXPECT_GT(publisher->statistics().memory_in_use, 3'000'000U);
    subscriber.kill();
    await_subscribers(*publisher, 0);
    publish_in_place(*publisher, 1, 3, 40'000);
    EXPECT_LT(publisher->statistics().memory_in_use, 1'000'000U);
    EXPECT_EQ(::kill(grandchild, SIGKILL), 0) << "it lived all the time";
    await_end(grandchild);
  }
}

ROLE(forks_while_it_starts_the_manager) {
  std::shared_ptr<Node> node;
  std::thread creating([&] { node = Node::create("node"); });
  require(eventually(base::is_held), "it starts no manager");
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  base::let_go();
  creating.join();
  say(std::to_string(child));
  until_finished();
}

TEST_F(Fork, S8_a_child_keeps_neither_the_socket_nor_the_lock_of_a_manager_that_is_being_started) {
  Child starter("forks_while_it_starts_the_manager", {}, {{"SINEW_AT", "reach_manager.listening:1:hold"}});
  const pid_t grandchild = std::stoi(starter.line().value_or("0"));
  starter.end();
  const pid_t first = manager().value_or(0);
  ::kill(first, SIGKILL);
  await_end(first);
  EXPECT_NO_THROW((void)Node::create("next"));
  EXPECT_EQ(::kill(grandchild, SIGKILL), 0) << "it lived all the time";
  await_end(grandchild);
}

}  // namespace
}  // namespace sinew::system
