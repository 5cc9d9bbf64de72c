// Chunks that come and go while readers are told of others.
#include <chrono>
#include <optional>
#include <thread>

#include "base/point.hpp"
#include "os/memory.hpp"
#include "session/mappings.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

class Announcements : public Domain {};

constexpr std::size_t mib = 1 << 20;

void expect_whole(Subscriber<Sample>& subscriber, std::uint64_t number) {
  const auto message = take_soon(subscriber);
  require(message && message->number == number && is_whole(*message), "message " + std::to_string(number) + " does not come");
}

ROLE(publisher_with_a_newcomer) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  auto loan = publisher->loan();
  auto other = Node::create("viewer");
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  require(eventually(base::is_held), "the newcomer is not told");
  loan.build([](Sample& sample) { fill(sample, 1, 1, mib); });
  base::let_go();
  await_subscribers(*publisher, 1);
  require(publisher->publish(std::move(loan)) == PublishResult::published, "not published");
  expect_whole(*subscriber, 1);
}

TEST_F(Announcements, AChunkThatIsMadeWhileANewcomerIsToldReachesIt) {
  Child("publisher_with_a_newcomer", {}, {{"SINEW_AT", "publisher.newcomer_told:1:hold"}}).end();
}

ROLE(publisher_that_drops) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic");
  auto other = Node::create("viewer");
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  auto first = publisher->loan(), second = publisher->loan(), third = publisher->loan(), fourth = publisher->loan();
  first.build([](Sample& sample) { fill(sample, 1, 1, 10); });
  std::thread thread([&] { publisher->publish(std::move(first)); });
  require(eventually(base::is_held), "nobody is told");
  // Each in a chunk of its own; of two that are empty the larger one stays.
  second.build([](Sample& sample) { fill(sample, 1, 2, mib); });
  third.build([](Sample& sample) { fill(sample, 1, 3, 2 * mib); });
  fourth.build([](Sample& sample) { fill(sample, 1, 4, 4 * mib); });
  for (auto* loan : {&third, &fourth}) std::vector<std::uint8_t>().swap((*loan)->data);
  base::let_go();
  thread.join();
  expect_whole(*subscriber, 1);
  require(publisher->publish(std::move(second)) == PublishResult::published, "not published");
  expect_whole(*subscriber, 2);
}

TEST_F(Announcements, AChunkThatIsMadeBeforeOneThatIsDroppedReachesEveryReader) {
  Child("publisher_that_drops", {}, {{"SINEW_AT", "publisher.all_told:1:hold"}}).end();
}

ROLE(publisher_whose_newest_chunk_goes) {
  auto node = Node::create("camera");
  auto publisher = node->create_publisher<Sample>("topic", {}, {.memory_budget = 12 * mib});
  auto other = Node::create("viewer");
  auto subscriber = other->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  auto first = publisher->loan(), second = publisher->loan(), third = publisher->loan();
  first.build([](Sample& sample) { fill(sample, 1, 1, 10); });
  second.build([](Sample& sample) { fill(sample, 1, 2, 8 * mib); });
  third.build([](Sample& sample) { fill(sample, 1, 3, mib); });
  std::thread thread([&] { publisher->publish(std::move(first)); });
  require(eventually(base::is_held), "nobody is told");
  // The newest chunk got what was left of the budget. Of two that are empty the larger one stays, so the newest goes before anybody is told of it.
  for (auto* loan : {&third, &second}) std::vector<std::uint8_t>().swap((*loan)->data);
  base::let_go();
  thread.join();
  expect_whole(*subscriber, 1);
}

TEST_F(Announcements, AMessageThatNamesAChunkThatIsDroppedBeforeReadersAreToldOfItDoesNotWaitForIt) {
  Child("publisher_whose_newest_chunk_goes", {}, {{"SINEW_AT", "publisher.telling:1:hold"}}).end();
}

ROLE(mapper) {
  const Page first, second;
  std::optional<session::Attached> by_one, by_other;
  std::thread one([&] { by_one = session::attach_mapping(first.file, first.mapping.size()); });
  require(eventually(base::is_held), "nothing is mapped");
  std::thread other([&] { by_other = session::attach_mapping(first.file, first.mapping.size()); });
  require(session::attach_mapping(second.file, second.mapping.size()).mapping != nullptr, "another file waits for the first");
  base::let_go();
  one.join();
  other.join();
  require(by_one->mapping && by_one->mapping == by_other->mapping, "one file is mapped twice");
}

TEST_F(Announcements, AFileThatTakesLongToMapIsWaitedForByThoseOnlyWhoMapItToo) {
  Child("mapper", {}, {{"SINEW_AT", "mappings.made:1:hold"}}).end();
}

ROLE(mapper_of_what_is_being_unmapped) {
  const std::uintptr_t address = os::probe_address_range().base;
  const Page page;
  const auto map = [&] { return session::attach_mapping(page.file, page.mapping.size(), address); };
  session::SharedMapping last = map().mapping;
  require(last != nullptr, "there is no room");
  std::thread goes([&] { last.reset(); });
  require(eventually(base::is_held), "nothing is unmapped");
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // so that it is waited for; else nothing is shown
    base::let_go();
  });
  const session::Attached again = map();
  goes.join();
  later.join();
  require(again.mapping && again.mapping == map().mapping, again.why);
}

TEST_F(Announcements, AFileThatIsStillBeingUnmappedIsMappedAgainAtTheSameAddress) {
  Child("mapper_of_what_is_being_unmapped", {}, {{"SINEW_AT", "mappings.unmaps:1:hold"}}).end();
}

TEST_F(Announcements, AFileThatIsMappedElsewhereIsMappedAtItsAddressToo) {
  const std::uintptr_t address = os::probe_address_range().base;
  const Page page;
  const auto map = [&](std::optional<std::uintptr_t> at) { return session::attach_mapping(page.file, page.mapping.size(), at).mapping; };
  session::SharedMapping elsewhere = map(std::nullopt), there = map(address);
  ASSERT_TRUE(elsewhere && there);
  EXPECT_NE(elsewhere, there);
  elsewhere.reset();
  EXPECT_EQ(map(address), there);
  there.reset();
  EXPECT_NE(map(address), nullptr);
}

}  // namespace
}  // namespace sinew::system
