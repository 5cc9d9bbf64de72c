// Messages live as long as somebody holds them, and nothing lives longer.
#include <unistd.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <mutex>
#include <thread>
#include <utility>

#include "os/memory.hpp"
#include "tests/system/belongings.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"

namespace sinew::system {
namespace {

class Lifetime : public Domain {};

// Publishes, in place, a message of every size that is ordered, until finished.
ROLE(obedient_publisher) {
  auto node = Node::create(arguments.empty() ? "publisher" : arguments[0]);
  auto publisher = node->create_publisher<Sample>("topic");
  std::uint64_t number = 0;
  for (;;) {
    const std::string order = next_order();
    if (order == "end") return;
    if (order == "await") {
      await_subscribers(*publisher, 1);
    } else if (order == "use") {
      say(std::to_string(publisher->statistics().memory_in_use));
      continue;
    } else {
      require(publish_in_place(*publisher, 7, ++number, std::stoul(order)) == PublishResult::published, "not published");
    }
    say("done");
  }
}

void obey(Child& child, const std::string& order) {
  child.order(order);
  child.expect("done");
}

/// Files in which a process counts what its pairs do. They stay, as many as the most pairs needed that it had at once: of a subscriber that was late, also pairs whose publishers had gone.
std::size_t counter_files_of(const Child& child) {
  std::error_code gone;
  std::size_t count = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/" + std::to_string(child.pid()) + "/fd", gone)) {
    count += std::filesystem::read_symlink(each, gone).string().starts_with("/memfd:sinew-counters") ? 1 : 0;
  }
  return count;
}

using Footprint = std::pair<std::size_t, std::size_t>;
/// How many descriptors and mappings a process has when it changes no more, beside those of its files of counters.
Footprint settled_footprint(const Child& child) {
  return settled([&] {
    const std::size_t counters = counter_files_of(child);
    return Footprint(child.descriptors() - counters, child.mappings() - counters);
  });
}

TEST_F(Lifetime, F2_a_message_outlives_its_subscriber_and_its_node_while_the_publisher_goes_on) {
  Child publisher("obedient_publisher");
  std::vector<std::shared_ptr<const Sample>> held;
  {
    auto node = Node::create("node");
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    obey(publisher, "await");
    for (const char* size : {"100", "50000", "2000000"}) {
      obey(publisher, size);
      held.push_back(take_soon(*subscriber));
    }
  }
  auto other = Node::create("other");
  auto reader = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  for (int round = 0; round < 50; ++round) {
    for (const char* size : {"100", "50000", "2000000"}) obey(publisher, size);
    EXPECT_TRUE(are_unchanged(held));
  }
  publisher.order("end");
  publisher.end();
  EXPECT_TRUE(are_unchanged(held));
}

TEST_F(Lifetime, F2_the_memory_of_a_message_is_used_again_when_its_last_handle_goes_after_its_node) {
  Child publisher("obedient_publisher");
  std::shared_ptr<const Sample> held;
  {
    auto node = Node::create("node");
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    obey(publisher, "await");
    obey(publisher, "3000000");
    held = take_soon(*subscriber);
  }
  obey(publisher, "10");
  publisher.order("use");
  EXPECT_GT(std::stoul(publisher.line().value_or("0")), 3'000'000U);
  EXPECT_TRUE(is_whole(*held) && held->number == 1);
  held.reset();
  EXPECT_TRUE(eventually([&] {
    obey(publisher, "40000");  // enough to make it look
    publisher.order("use");
    return std::stoul(publisher.line().value_or("0")) < 1'000'000U;
  }));
  publisher.order("end");
  publisher.end();
}

TEST_F(Lifetime, MessagesStayReadableAfterTheirPublisherHasEndedOrWasKilled) {
  for (const bool gracefully : {true, false}) {
    Child publisher("obedient_publisher");
    auto node = Node::create("node");
    auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
    obey(publisher, "await");
    std::vector<std::shared_ptr<const Sample>> held;
    for (const char* size : {"100", "50000", "2000000"}) obey(publisher, size);
    for (int i = 0; i < 3; ++i) held.push_back(take_soon(*subscriber));
    for (int i = 0; i < 3; ++i) obey(publisher, "200");  // in chunks that are here already: nothing is on its way any more
    if (gracefully) {
      publisher.order("end");
      publisher.end();
    } else {
      publisher.kill();
    }
    for (int i = 0; i < 3; ++i) held.push_back(take_soon(*subscriber));  // published before the end, taken after it
    subscriber.reset();
    node.reset();
    for (std::uint64_t number = 1; number <= 6; ++number) {
      ASSERT_TRUE(held[number - 1]);
      EXPECT_EQ(held[number - 1]->number, number);
      EXPECT_TRUE(is_whole(*held[number - 1]));
    }
  }
}

// --- restarts ------------------------------------------------------------------------------------------------------------------------------

// For each order one publisher after the other, of two messages, until they have been received.
ROLE(restarting_publisher) {
  auto node = Node::create("publisher");
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    for (int left = std::stoi(order); left > 0; --left) {
      auto publisher = node->create_publisher<Sample>("topic");
      await_subscribers(*publisher, 1);
      publish_in_place(*publisher, 1, 1, 1000);
      publish_in_place(*publisher, 1, 2, 300'000);
    }
    say("done");
  }
}

// Keeps the newest message of all, until it is alone: how much of its publisher is there with it depends on how far that had come at its end. Between "hold" and "go on" it is in
// one callback.
ROLE(lasting_subscriber) {
  std::atomic<std::uint64_t> received{0};
  std::mutex mutex, going_on;
  std::shared_ptr<const Sample> kept;
  auto node = Node::create("subscriber");
  auto subscriber = node->create_subscriber<Sample>("topic", [&](std::shared_ptr<const Sample> sample) {
    require(is_whole(*sample), "not whole");
    const std::lock_guard held(going_on);
    const std::lock_guard lock(mutex);
    kept = std::move(sample);
    ++received;
  });
  for (std::string order = next_order(); order != "end"; order = next_order()) {
    if (order == "hold" || order == "go on") {
      order == "hold" ? going_on.lock() : going_on.unlock();
      say("done");
      continue;
    }
    const bool alone = order == "alone";
    // One whose reader does not hear in time where a message is takes that along (Publisher::close): then it is missed.
    const auto have_come = [&] { return received + subscriber->statistics().missed == std::stoul(order); };
    require(eventually([&] { return alone ? subscriber->statistics().publishers == 0 : have_come(); }), "waits for " + order);
    require(alone || subscriber->statistics().missed <= std::stoul(order) / 8, "it misses too many");
    if (alone) {
      const std::lock_guard lock(mutex);
      kept.reset();
    }
    say("done");
  }
}

TEST_F(Lifetime, S12_a_thousand_restarts_of_publishers_leave_a_subscriber_as_it_was) {
  Child subscriber("lasting_subscriber"), publisher("restarting_publisher");
  const int restarts = rounds(1000);
  obey(publisher, "20");
  obey(subscriber, "40");
  obey(subscriber, "alone");
  const Footprint before = settled_footprint(subscriber), own_before = settled_footprint(publisher);
  obey(publisher, std::to_string(restarts));
  obey(subscriber, std::to_string(40 + 2 * restarts));
  obey(subscriber, "alone");
  EXPECT_TRUE(eventually([&] { return settled_footprint(subscriber) == before; }))
      << ::testing::PrintToString(before) << ", now " << ::testing::PrintToString(settled_footprint(subscriber));
  EXPECT_TRUE(eventually([&] { return settled_footprint(publisher) == own_before; }))
      << ::testing::PrintToString(own_before) << ", now " << ::testing::PrintToString(settled_footprint(publisher));
  for (Child* each : {&publisher, &subscriber}) {
    each->order("end");
    each->end();
  }
}

TEST_F(Lifetime, S12_publishers_that_go_while_a_callback_takes_long_leave_nothing_but_room_to_count_so_many) {
  Child subscriber("lasting_subscriber"), publisher("restarting_publisher");
  obey(publisher, "20");
  obey(subscriber, "40");
  obey(subscriber, "alone");
  const Footprint before = settled_footprint(subscriber);
  const std::size_t files = counter_files_of(subscriber);
  for (std::uint64_t received = 200; received <= 600; received += 160) {
    obey(subscriber, "hold");
    obey(publisher, "80");
    obey(subscriber, "go on");
    obey(subscriber, std::to_string(received));
    obey(subscriber, "alone");
    EXPECT_TRUE(eventually([&] { return settled_footprint(subscriber) == before; }))
        << ::testing::PrintToString(before) << ", now " << ::testing::PrintToString(settled_footprint(subscriber));
    // Where pages are large there is room for all of them in the first.
    EXPECT_EQ(counter_files_of(subscriber), os::page_size() > 4096 ? files : files + 1);
  }
  for (Child* each : {&publisher, &subscriber}) {
    each->order("end");
    each->end();
  }
}

TEST_F(Lifetime, S12_restarts_and_deaths_of_publishing_processes_leave_a_subscriber_as_it_was) {
  Child subscriber("lasting_subscriber");
  std::uint64_t received = 0;
  Footprint after_two;
  for (int round = 0; round < rounds(30); ++round) {
    Child publisher("obedient_publisher", {"publisher" + std::to_string(round)});
    for (const char* order : {"await", "1000", "300000"}) obey(publisher, order);
    received += 2;
    obey(subscriber, std::to_string(received));  // a killed publisher may take a new chunk with it before it was told of
    if (round % 2 == 0) {
      publisher.kill();
    } else {
      publisher.order("end");
      publisher.end();
    }
    obey(subscriber, "alone");
    if (round == 1) after_two = settled_footprint(subscriber);
  }
  EXPECT_TRUE(eventually([&] { return settled_footprint(subscriber) == after_two; }));
  subscriber.order("end");
  subscriber.end();
}

TEST_F(Lifetime, ATakerThatNeverTakesDoesNotCollectWhatPublishersLeaveBehind) {
  Child publisher("restarting_publisher");
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  obey(publisher, "40");
  const std::size_t descriptors = descriptors_of(::getpid()), mappings = mappings_of(::getpid());
  obey(publisher, "100");
  EXPECT_LE(descriptors_of(::getpid()), descriptors + 2);  // the last may not have been heard of yet
  EXPECT_LE(mappings_of(::getpid()), mappings + 4);
  publisher.order("end");
  publisher.end();
}

TEST_F(Lifetime, ATakerKeepsWhatTheLastSixteenPublishersOfItsProcessLeftAndCountsTheRest) {
  auto node = Node::create("node");
  auto subscriber = node->create_subscriber<Sample>("topic");
  for (std::uint64_t number = 1; number <= 40; ++number) {
    auto publisher = node->create_publisher<Sample>("topic");
    publisher->publish(std::make_unique<Sample>(sample_of(1, number, 10)));
  }
  std::vector<std::uint64_t> taken;
  while (const auto sample = subscriber->take()) taken.push_back(sample->number);
  EXPECT_GE(taken.size(), 16u);
  EXPECT_LE(taken.size(), 18u);
  EXPECT_EQ(taken.back(), 40u);
  EXPECT_EQ(taken.size() + subscriber->statistics().missed, 40u);
}

TEST_F(Lifetime, ChunksThatComeAndGoDisturbNoReaderInTheirPublishersOwnProcess) {
  auto node = Node::create("node"), other = Node::create("other");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1));
  std::atomic<std::uint64_t> received{0}, broken{0};
  auto steady = other->create_subscriber<Sample>(
      "topic",
      [&](const Sample& sample) {
        broken += !is_whole(sample);
        ++received;
      },
      Qos{}.keep_last(1), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  constexpr std::size_t sizes[] = {10, 3'000'000, 100, 1'000'000, 7'000'000, 30'000};
  std::uint64_t number = 0;
  for (int round = 0; round < rounds(60); ++round) {
    auto passing =
        node->create_subscriber<Sample>("topic", [&](const Sample& sample) { broken += !is_whole(sample); }, Qos{}, as_from_elsewhere());
    for (const std::size_t size : sizes) EXPECT_EQ(publish_in_place(*publisher, 1, ++number, size), PublishResult::published);
  }
  EXPECT_TRUE(eventually([&] { return received + steady->statistics().missed == number; })) << received << " of " << number;
  EXPECT_EQ(steady->statistics().publishers, 1U);
  EXPECT_EQ(broken, 0U);
}

// --- moved-out storage ---------------------------------------------------------------------------------------------------------------------

TEST_F(Lifetime, F5_storage_moved_out_of_a_loan_lives_on_after_its_publisher_and_its_node) {
  std::vector<std::uint8_t> data;
  std::string text;
  {
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    auto loan = publisher->loan();
    loan.build([](Sample& sample) { fill(sample, 1, 1, 500'000); });
    data = std::move((*loan).data);
    text = std::move((*loan).text);
    loan.build([](Sample& sample) { fill(sample, 1, 2, 10); });
    EXPECT_EQ(publisher->publish(std::move(loan)), PublishResult::published);
    for (std::uint64_t number = 3; number < 50; ++number) publish_in_place(*publisher, 1, number, 500'000);
  }
  EXPECT_EQ(text, text_for(1));
  EXPECT_EQ(data, sample_of(1, 1, 500'000).data);
  data.push_back(1);  // grows out of the dead window onto the heap
  EXPECT_EQ(data.size(), 500'001U);
  text.clear();
  text.shrink_to_fit();
}

TEST_F(Lifetime, F5_a_publisher_that_is_gone_unmaps_its_window_with_the_last_block) {
  auto node = Node::create("node");
  (void)node->create_publisher<Sample>("topic");  // where the node counts
  const std::size_t before = mappings_of(::getpid());
  std::vector<std::uint8_t> data;
  {
    auto publisher = node->create_publisher<Sample>("topic");
    auto loan = publisher->loan();
    loan->data.resize(1000);
    data = std::move((*loan).data);
  }
  EXPECT_EQ(mappings_of(::getpid()), before + 1);
  data = std::vector<std::uint8_t>();
  EXPECT_EQ(mappings_of(::getpid()), before);
}

TEST_F(Lifetime, F5_a_loan_may_outlive_its_publisher_and_its_node) {
  std::optional<Loan<Sample>> loan;
  {
    auto node = Node::create("node");
    auto publisher = node->create_publisher<Sample>("topic");
    loan.emplace(publisher->loan());
    (*loan)->data.resize(100'000);
  }
  (**loan).text = "still writable";
  EXPECT_EQ((**loan).data.size(), 100'000U);
}

// --- many held -----------------------------------------------------------------------------------------------------------------------------

TEST_F(Lifetime, MoreHeldMessagesThanClaimsComeAsCopies) {
  auto node = Node::create("node");
  auto publisher = node->create_publisher<Sample>("topic");
  std::mutex mutex;
  std::vector<std::pair<std::shared_ptr<const Sample>, Delivery>> held;
  auto subscriber = node->create_subscriber<Sample>(
      "topic",
      [&](std::shared_ptr<const Sample> sample, const MessageInfo& info) {
        const std::lock_guard lock(mutex);
        held.emplace_back(std::move(sample), info.delivery);
      },
      Qos{}.keep_last(512), as_from_elsewhere());
  await_subscribers(*publisher, 1);
  constexpr std::uint64_t count = 300;
  for (std::uint64_t number = 1; number <= count; ++number) publish_in_place(*publisher, 1, number, 2000);
  const auto all_here = [&] {
    const std::lock_guard lock(mutex);
    return held.size() == count;
  };
  ASSERT_TRUE(eventually(all_here));
  publisher.reset();  // copies and messages in place alike do not care
  const std::lock_guard lock(mutex);
  for (std::uint64_t i = 0; i < count; ++i) {
    EXPECT_TRUE(is_whole(*held[i].first));
    EXPECT_EQ(held[i].first->number, i + 1);
    EXPECT_EQ(held[i].second, i < 119 ? Delivery::native : Delivery::copy) << i;
  }
  EXPECT_GE(subscriber->statistics().bytes_copied, (count - 119) * 2000);
  held.clear();
}

}  // namespace
}  // namespace sinew::system
