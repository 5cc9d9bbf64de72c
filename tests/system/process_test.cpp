// What happens to whole processes: fork, limits of memory, and the statements of users that build messages.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace workshop {

struct Part {
  std::uint32_t id;
  std::string name;
};
struct Assembly {
  Part head;
  std::string text;
  std::vector<std::uint32_t> numbers;
  std::vector<Part> parts;
};

inline bool operator==(const Part& a, const Part& b) {
  return a.id == b.id && a.name == b.name;
}
inline bool operator==(const Assembly& a, const Assembly& b) {
  return a.head == b.head && a.text == b.text && a.numbers == b.numbers && a.parts == b.parts;
}

}  // namespace workshop

namespace sinew::system {
namespace {

using workshop::Assembly;
using workshop::Part;

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
  std::shared_ptr<Subscriber<Sample>> with_callback =
      peer->create_subscriber<Sample>("topic", [this](const Sample& sample) { received += is_whole(sample); });
  std::shared_ptr<Subscriber<Sample>> without = peer->create_subscriber<Sample>("topic");
  std::shared_ptr<const Sample> held;
  std::optional<Loan<Sample>> loan;
  std::vector<std::uint8_t> moved_out;

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
      Node::create("child");
      wrong = 5;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::invalid_argument) wrong = 6;
    }
    all.reset();
    // The sanitizer would report what was given up on purpose; everybody else runs the destructors of all statics as well.
    if (sanitized) ::_exit(wrong);
    std::exit(wrong);
  }
  require(end_of(child) == 0, "the child did not end well");
  require(is_whole(*all->held), "the child disturbed a held message");
  require(all->publisher->publish(std::move(*all->loan)) == PublishResult::published, "the child disturbed the loan");
  for (std::uint64_t number = 3; number <= 20; ++number) publish_in_place(*all->publisher, 1, number, 100'000 * number);
  require(eventually([&] { return all->received == 20; }), "the child disturbed the parent");
}

TEST_F(Fork, S8_a_child_may_destroy_all_it_inherited_and_its_parent_goes_on) {
  Child("forker").end();
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
  auto subscriber = node->create_subscriber<Sample>("topic");
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

// --- limits --------------------------------------------------------------------------------------------------------------------------------

class Limits : public Domain {};

ROLE(cramped_subscriber) {
  std::atomic<std::uint64_t> received{0};
  auto node = Node::create("cramped");
  auto subscriber = node->create_subscriber<Sample>("topic", [&](const Sample&) { ++received; });
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlimit limit{pages * 4096 + (16 << 20), RLIM_INFINITY};
  require(::setrlimit(RLIMIT_AS, &limit) == 0, "no limit");
  say("ready");
  require(eventually([&] { return received == 1; }), "the small message does not come");
  say("small");
  require(eventually([&] { return subscriber->statistics().publishers == 0; }), "it goes on without the chunk");
  say("ended");
  until_finished();
}

TEST_F(Limits, S12_a_subscriber_that_cannot_map_a_chunk_ends_its_connection_and_says_why) {
  if (sanitized) GTEST_SKIP() << "a sanitizer's shadow does not fit into a limited address space";
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  std::atomic<std::uint64_t> received{0};
  auto roomy = node->create_subscriber<Sample>("topic", [&](const Sample& sample) { received += is_whole(sample); });
  Child cramped("cramped_subscriber", {}, {{"SINEW_LOG", "warn"}});
  cramped.expect("ready");
  await_subscribers(*publisher, 2);
  publish_in_place(*publisher, 1, 1, 100'000);
  cramped.expect("small");
  publish_in_place(*publisher, 1, 2, 64 << 20);
  cramped.expect("ended");
  EXPECT_NE(cramped.errors().find("cannot be mapped"), std::string::npos) << cramped.errors();
  await_subscribers(*publisher, 1);
  publish_in_place(*publisher, 1, 3, 100'000);
  EXPECT_TRUE(eventually([&] { return received == 3; }));
  cramped.end();
}

// --- statements ----------------------------------------------------------------------------------------------------------------------------

const char* const long_text = "a text that is longer than any small string holds";
std::vector<std::uint32_t> make_numbers() {
  return std::vector<std::uint32_t>(100, 7);
}
void grow(std::vector<std::uint32_t>& numbers) {
  numbers.resize(100, 7);
}
void grow_all(Assembly& assembly) {
  assembly.numbers.resize(100, 7);
}

struct Statement {
  const char* text;
  bool in_place;
  void (*run)(Loan<Assembly>& l);
  Assembly expected;
};

const std::string another = long_text;
const Assembly numbers{.head = {}, .text = {}, .numbers = std::vector<std::uint32_t>(100, 7), .parts = {}};
const Assembly text{.head = {}, .text = long_text, .numbers = {}, .parts = {}};
const Assembly head{.head = {1, long_text}, .text = {}, .numbers = {}, .parts = {}};

const std::vector<Statement>& statements() {
  static const std::vector<Statement> all = {
      {"l->numbers.resize(n)", true, [](Loan<Assembly>& l) { l->numbers.resize(100, 7); }, numbers},
      {"l->numbers.assign({..})", true, [](Loan<Assembly>& l) { l->numbers.assign({1, 2, 3}); }, {{}, {}, {1, 2, 3}, {}}},
      {"l->numbers = {1, 2, 3}", true, [](Loan<Assembly>& l) { l->numbers = {1, 2, 3}; }, {{}, {}, {1, 2, 3}, {}}},
      {"l->text = \"long\"", true, [](Loan<Assembly>& l) { l->text = long_text; }, text},
      {"l->text = other", true, [](Loan<Assembly>& l) { l->text = another; }, text},
      {"l->text = {p}", true, [](Loan<Assembly>& l) { l->text = {long_text}; }, text},
      {"l->text.append(..)", true, [](Loan<Assembly>& l) { l->text.append(long_text); }, text},
      {"l->parts.push_back({1, \"long\"})",
       true,
       [](Loan<Assembly>& l) { l->parts.push_back({1, long_text}); },
       {{}, {}, {}, {{1, long_text}}}},
      {"f(l->numbers)", true, [](Loan<Assembly>& l) { grow(l->numbers); }, numbers},
      {"while (l->..) l->numbers.push_back(..)", true,
       [](Loan<Assembly>& l) {
         while (l->numbers.size() < 100) l->numbers.push_back(7);
       },
       numbers},
      {"l.build(..)", true, [](Loan<Assembly>& l) { l.build([](Assembly& assembly) { assembly = Assembly{{1, long_text}, {}, {}, {}}; }); },
       head},
      {"l->head = {1, \"long\"}", false, [](Loan<Assembly>& l) { l->head = {1, long_text}; }, head},
      {"l->head = Part{..}", false, [](Loan<Assembly>& l) { l->head = Part{1, long_text}; }, head},
      {"l->text = std::string(..)", false, [](Loan<Assembly>& l) { l->text = std::string(long_text); }, text},
      {"l->text = a + b", false, [](Loan<Assembly>& l) { l->text = another + another; }, {{}, another + another, {}, {}}},
      {"l->numbers = make_numbers()", false, [](Loan<Assembly>& l) { l->numbers = make_numbers(); }, numbers},
      {"(*l).numbers.resize(n)", false, [](Loan<Assembly>& l) { (*l).numbers.resize(100, 7); }, numbers},
      {"f(*l)", false, [](Loan<Assembly>& l) { grow_all(*l); }, numbers},
      {"auto& d = l->numbers; d.resize(n)", false,
       [](Loan<Assembly>& l) {
         auto& d = l->numbers;
         d.resize(100, 7);
       },
       numbers},
      {"if (auto n = l->numbers.size(); ..) ..", false,
       [](Loan<Assembly>& l) {
         if (auto n = l->numbers.size(); n == 0) (*l).numbers.resize(100, 7);
       },
       numbers},
      {"for (auto& part : l->parts) ..",
       false,
       [](Loan<Assembly>& l) {
         l->parts.resize(2);
         for (auto& part : l->parts) part.name = long_text;
       },
       {{}, {}, {}, {{0, long_text}, {0, long_text}}}},
  };
  return all;
}

class Statements : public Domain {};

TEST_F(Statements, S13_every_way_to_fill_a_loan_arrives_right_and_is_counted_as_documented) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Assembly>("topic");
  auto subscriber = node->create_subscriber<Assembly>("topic");
  await_subscribers(*publisher, 1);
  for (const Statement& statement : statements()) {
    const PublisherStatistics before = publisher->statistics();
    auto loan = publisher->loan();
    statement.run(loan);
    ASSERT_EQ(publisher->publish(std::move(loan)), PublishResult::published) << statement.text;
    const auto message = take_soon(*subscriber);
    ASSERT_TRUE(message) << statement.text;
    EXPECT_TRUE(*message == statement.expected) << statement.text;
    const PublisherStatistics after = publisher->statistics();
    EXPECT_EQ(after.bytes_copied == before.bytes_copied, statement.in_place) << statement.text;
    EXPECT_EQ(after.messages_repaired - before.messages_repaired, statement.in_place ? 0U : 1U) << statement.text;
  }
}

ROLE(careless_publisher) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Assembly>("topic");
  for (int i = 0; i < 3; ++i) {
    auto loan = publisher->loan();
    loan->numbers = make_numbers();
    publisher->publish(std::move(loan));
  }
}

TEST_F(Statements, S13_the_first_field_that_was_built_outside_is_named_once) {
  Child child("careless_publisher", {}, {{"SINEW_LOG", "warn"}});
  child.end();
  const std::string said = child.errors();
  EXPECT_NE(said.find("field 'numbers'"), std::string::npos) << said;
  EXPECT_EQ(said.find("field", said.find("field") + 1), std::string::npos) << said;
}

TEST_F(Statements, S13_scopes_nest_and_end_where_they_began) {
  auto node = Node::create("node");
  auto one = node->create_publisher<Assembly>("one"), two = node->create_publisher<Assembly>("two");
  auto first = one->loan();
  auto second = two->loan();
  first.build([&](Assembly& outer) {
    outer.text = long_text;
    second.build([&](Assembly& inner) {
      inner.text = long_text;
      outer.numbers.resize(100);  // in the window of the other publisher
    });
    outer.parts.resize(3);
  });
  try {
    first.build([](Assembly&) { throw std::runtime_error("in the middle"); });
  } catch (const std::runtime_error&) {
  }
  std::string outside(1000, 'x');  // on the heap again: else freeing it after the publishers would count as theirs
  EXPECT_EQ(one->publish(std::move(first)), PublishResult::published);
  EXPECT_EQ(two->publish(std::move(second)), PublishResult::published);
  EXPECT_EQ(two->statistics().bytes_copied, 0U);
  EXPECT_EQ(one->statistics().bytes_copied, 100 * sizeof(std::uint32_t)) << "only what lies in the other window";
  const std::uint64_t in_use = one->statistics().memory_in_use;
  outside.append(10'000, 'y');
  EXPECT_EQ(one->statistics().memory_in_use, in_use);
}

}  // namespace
}  // namespace sinew::system
