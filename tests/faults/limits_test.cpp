// Processes that reach a limit, and go on when there is room again.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tests/system/foreign.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

/// Reports what its test has tried. Something was left behind when that turns out at the end.
template <class Base>
class AtALimit : public Base {
 protected:
  /// "the limit of ..."
  void tries(const std::string& limit, int times = 1) {
    limit_ = limit;
    times_ = times;
  }
  void TearDown() override {
    const bool had_failed = this->HasFailure();
    Base::TearDown();
    if (!limit_.empty()) report({limit_, times_, had_failed ? 1 : 0, this->HasFailure() && !had_failed ? 1 : 0});
  }

 private:
  std::string limit_;
  int times_ = 0;
};

class RealLimits : public AtALimit<Domain> {};

/// A soft limit, for the scope.
class Limit {
 public:
  Limit(__rlimit_resource what, rlim_t value) : what_(what) {
    require(::getrlimit(what, &before_) == 0, "no limit");
    set(value);
  }
  ~Limit() { set(before_.rlim_cur); }
  Limit(const Limit&) = delete;
  Limit& operator=(const Limit&) = delete;

 private:
  void set(rlim_t value) {
    const rlimit limit{value, before_.rlim_max};
    require(::setrlimit(what_, &limit) == 0, "no limit");
  }
  const __rlimit_resource what_;
  rlimit before_{};
};

/// Lets this process have so many descriptors more.
Limit descriptors_left(int count) {
  std::vector<int> taken;
  for (int i = 0; i <= count; ++i) taken.push_back(::dup(0));
  const auto first_refused = static_cast<rlim_t>(taken.back());
  for (const int each : taken) ::close(each);
  return {RLIMIT_NOFILE, first_refused};
}

constexpr int descriptors_tried = 40;

// Everything that it tries with few descriptors comes to be, or is an Error that names the limit.
ROLE(short_of_descriptors) {
  auto node = Node::create("short");
  auto kept = node->create_publisher<Sample>("kept");
  await_subscribers(*kept, 1);
  say("ready");
  next_order();
  int refused = 0;
  for (int left = 0; left < descriptors_tried; ++left) {
    const Limit limit = descriptors_left(left);
    try {
      const auto publisher = node->create_publisher<Sample>("one");
      const auto subscriber = node->create_subscriber<Sample>("other", [](const Sample&) {});
      const auto client = node->create_service_client<Sample, Sample>("service");
      publish_in_place(*kept, 1, 1, 100'000 * static_cast<std::size_t>(left));
      publish_in_place(*publisher, 1, 1, 1000);
      const auto second = Node::create("second");
    } catch (const Error& error) {
      require(error.kind() == ErrorKind::exhausted || error.kind() == ErrorKind::unavailable, error.what());
      require(std::string(error.what()).find("ulimit -n") != std::string::npos, std::string("it does not name the limit: ") + error.what());
      ++refused;
    }
  }
  require(refused > 5, "there were enough descriptors");
  const auto publisher = node->create_publisher<Sample>("one");
  const auto subscriber = node->create_subscriber<Sample>("other");
  say("there is room again");
  require(eventually([&] { return publisher->statistics().subscribers == 1; }), "no subscriber");
  require(publish_in_place(*publisher, 1, 2, 1000) == PublishResult::published, "not published");
  require(take_soon(*subscriber) != nullptr, "nothing comes");
  require(node->domain_state().nodes.size() == 2, "not the domain that there is");
  say("works");
  until_finished();
}

TEST_F(RealLimits, a_node_without_descriptors_says_so_and_works_when_there_are_some_again) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  tries("the limit of descriptors (RLIMIT_NOFILE), while nodes and all they have are made and messages sent", descriptors_tried);
  auto node = Node::create("node");
  auto kept = node->create_subscriber<Sample>("kept");
  auto one = node->create_subscriber<Sample>("one");
  auto other = node->create_publisher<Sample>("other");
  Child cramped("short_of_descriptors");
  cramped.expect("ready");
  cramped.order("go");
  cramped.expect("there is room again");
  await_subscribers(*other, 1);
  publish_in_place(*other, 1, 1, 1000);
  cramped.expect("works");
  EXPECT_TRUE(eventually([&] {
    const auto sample = one->take();
    return sample && sample->number == 2;
  }));
  cramped.end();
}

ROLE(without_a_descriptor) {
  auto node = Node::create("cramped");
  auto in = node->create_subscriber<Sample>("in");
  auto out = node->create_publisher<Sample>("out");
  {
    const Limit limit = descriptors_left(0);
    say("ready");
    next_order();
  }
  const auto later = node->create_subscriber<Sample>("in");
  const auto later_out = node->create_publisher<Sample>("out");
  require(node->domain_state().nodes.size() == 2, "not the domain that there is");
  require(eventually([&] { return later->statistics().publishers == 1 && later_out->statistics().subscribers == 1; }), "no peers");
  say("connected");
  require(take_soon(*later) != nullptr, "nothing comes");
  say("works");
  until_finished();
}

TEST_F(RealLimits, a_node_that_has_no_descriptor_for_a_peer_keeps_its_manager) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  tries("the limit of descriptors (RLIMIT_NOFILE), while peers are introduced");
  Child cramped("without_a_descriptor", {}, {{"SINEW_LOG", "warn"}});
  cramped.expect("ready");
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("in");
  auto subscriber = node->create_subscriber<Sample>("out");
  const auto refusals = [&] {
    const std::string errors = cramped.errors();
    std::size_t count = 0;
    for (std::size_t at = 0; (at = errors.find("ulimit -n", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_TRUE(eventually([&] { return refusals() == 2; })) << cramped.errors();
  cramped.order("there is room again");
  cramped.expect("connected");
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 1, 1000);
  cramped.expect("works");
  EXPECT_EQ(cramped.errors().find("lost its manager"), std::string::npos) << cramped.errors();
  cramped.end();
}

ROLE(short_of_file_size) {
  auto node = Node::create("short");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  {
    const Limit limit(RLIMIT_FSIZE, 4096);
    require(publish_in_place(*publisher, 1, 1, 8 << 20) == PublishResult::no_memory, "a file beyond the limit");
    try {
      (void)node->create_publisher<Sample>("other");
      fail("a ring beyond the limit");
    } catch (const Error& error) {
      require(error.kind() == ErrorKind::exhausted, error.what());
      require(std::string(error.what()).find("ulimit -f") != std::string::npos, error.what());
    }
  }
  require(publish_in_place(*publisher, 1, 2, 8 << 20) == PublishResult::published, "not published");
  say("published");
  until_finished();
}

TEST_F(RealLimits, memory_that_a_file_may_not_have_is_refused_and_ends_no_process) {
  tries("the limit of the size of files (RLIMIT_FSIZE), while a publisher or a message is made", 2);
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child cramped("short_of_file_size");
  cramped.expect("published");
  const auto sample = take_soon(*subscriber);
  EXPECT_TRUE(sample && sample->number == 2 && is_whole(*sample));
  cramped.end();
}

ROLE(short_of_addresses) {
  auto node = Node::create("short");
  auto publisher = node->create_publisher<Sample>("topic");
  await_subscribers(*publisher, 1);
  require(publish_in_place(*publisher, 1, 1, 1000) == PublishResult::published, "not published");
  {
    std::uint64_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const Limit limit(RLIMIT_AS, pages * 4096 + (8 << 20));
    try {
      require(publish_in_place(*publisher, 1, 2, 16 << 20) == PublishResult::no_memory, "addresses beyond the limit");
    } catch (const std::bad_alloc&) {
      // The heap, where the message was then built, has none either.
    }
  }
  require(publish_in_place(*publisher, 1, 3, 32 << 20) == PublishResult::published, "not published");
  say("published");
  until_finished();
}

TEST_F(RealLimits, a_publisher_without_addresses_refuses_messages_until_there_are_some_again) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's shadow does not fit into a limited address space";
  tries("the limit of addresses (RLIMIT_AS), while a message is made");
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic");
  Child cramped("short_of_addresses");
  cramped.expect("published");
  EXPECT_TRUE(eventually([&] {
    const auto sample = subscriber->take();
    return sample && sample->number == 3 && is_whole(*sample);
  }));
  cramped.end();
}

class RealLimitsOfAUser : public AtALimit<Foreign> {};

ROLE(short_of_threads) {
  become_stranger();
  auto node = Node::create("short");
  {
    const Limit limit(RLIMIT_NPROC, 0);
    const auto refused = [](const auto& what) {
      try {
        what();
        fail("a thread beyond the limit");
      } catch (const Error& error) {
        require(error.kind() == ErrorKind::exhausted, error.what());
      }
    };
    refused([&] { (void)node->create_timer(std::chrono::milliseconds(1), [] {}); });
    refused([&] { (void)node->create_subscriber<Sample>("topic", [](const Sample&) {}); });
    refused([&] { (void)Node::create("another"); });
    const auto client = node->create_service_client<Sample, Sample>("service");
    refused([&] { client->call(Sample{}); });
  }
  std::atomic<int> called{0};
  const auto timer = node->create_timer(std::chrono::milliseconds(1), [&] { ++called; });
  const auto another = Node::create("another");
  require(eventually([&] { return called > 0; }), "the timer does not run");
  say("runs");
  until_finished();
}

TEST_F(RealLimitsOfAUser, a_node_without_threads_says_so_and_works_when_there_are_some_again) {
  tries("the limit of threads (RLIMIT_NPROC), while what needs one is made", 4);
  auto node = Node::create("node");
  Child cramped("short_of_threads");
  cramped.expect("runs");
  cramped.end();
}

// --- a cgroup ----------------------------------------------------------------------------------------------------------------------

/// A memory cgroup with a limit; what it is asked is "why not" when none can be made here.
class MemoryGroup {
 public:
  explicit MemoryGroup(std::size_t limit) {
    const std::string name = "/sinew-test-" + std::to_string(::getpid());
    for (const auto& [root, file] :
         {std::pair{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, std::pair{"/sys/fs/cgroup", "memory.max"}}) {
      std::error_code refused;
      if (!std::filesystem::is_directory(root) || !std::filesystem::create_directory(root + name, refused)) continue;
      path_ = root + name;
      std::ofstream(path_ + "/" + file) << limit << std::flush;
      std::string now;
      std::ifstream(path_ + "/" + file) >> now;
      if (now == std::to_string(limit)) return;
      leave();
    }
  }
  ~MemoryGroup() { leave(); }
  MemoryGroup(const MemoryGroup&) = delete;
  MemoryGroup& operator=(const MemoryGroup&) = delete;
  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

 private:
  void leave() {
    if (path_.empty()) return;
    EXPECT_TRUE(eventually([&] { return ::rmdir(path_.c_str()) == 0; })) << "a process is still in it";
    path_.clear();
  }
  std::string path_;
};

ROLE(short_of_memory) {
  std::ofstream(arguments.at(0) + "/cgroup.procs") << ::getpid() << std::flush;
  auto node = Node::create("short");
  PublisherOptions options;
  options.when_full = WhenFull::refuse;
  auto publisher = node->create_publisher<Sample>("topic", lossless(), options);
  await_subscribers(*publisher, 1);
  // All of it stays: the subscriber holds what it can, and has yet to take the rest.
  std::uint64_t published = 0;
  while (publish_in_place(*publisher, 1, published + 1, 4 << 20) == PublishResult::published) {
    require(++published < 64, "there is no limit");
  }
  require(published > 2, "there is no memory at all");
  say(std::to_string(published));
  next_order();
  require(eventually([&] { return publish_in_place(*publisher, 1, 1, 4 << 20) == PublishResult::published; }), "there is no room again");
  say("published");
  until_finished();
}

TEST_F(RealLimits, a_publisher_at_the_memory_limit_of_its_cgroup_refuses_messages_and_is_not_killed) {
  if (sanitized) GTEST_SKIP() << "a sanitizer needs memory of its own";
  const MemoryGroup group(96 << 20);
  if (!group) GTEST_SKIP() << "no memory cgroup can be made here";
  tries("the limit of memory of a cgroup, while messages are made");
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic", lossless());
  Child cramped("short_of_memory", {group.path()});
  const std::uint64_t published = std::stoull(cramped.line().value_or("0"));
  EXPECT_LT(published, 24U);
  for (std::uint64_t number = 1; number <= published; ++number) {
    const auto sample = take_soon(*subscriber);
    EXPECT_TRUE(sample && sample->number == number && is_whole(*sample));
  }
  cramped.order("there is room again");
  cramped.expect("published");
  cramped.end();
}

}  // namespace
}  // namespace sinew::system
