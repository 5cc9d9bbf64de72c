// Clients that go on cancelling calls when they have said that they leave: nothing of it is remembered, since nobody would ever forget it.
#include <atomic>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "api/service_impl.hpp"
#include "tests/system/foreign.hpp"
#include "tests/system/service.hpp"
#include "tests/system/stranger.hpp"
#include "wire/topic_name.hpp"

namespace sinew::system {
namespace {

using Requests = ServiceRequest<Work::Request>;
using Responses = ServiceResponse<Work::Response>;

/// Enough to overflow nothing, and fewer than a peer is heard at a time.
constexpr std::uint64_t cancelled = 40;
constexpr std::uint64_t its_endpoint = 0x5117'0002;

/// What a provider would note down.
struct Notes final : session::EndpointWatcher {
  void peers_changed() noexcept override {}
  void peer_left(std::uint64_t, std::uint64_t number, bool is_here) noexcept override {
    taken = number;
    is_still_here = is_here;
    has_left = true;
  }
  void call_cancelled(std::uint64_t, std::uint64_t) noexcept override { ++(has_left ? after : before); }
  void messages_lost(std::uint64_t, std::uint64_t) noexcept override {}
  std::atomic<std::uint64_t> taken{0};
  std::atomic<bool> is_still_here{false}, has_left{false};
  std::atomic<int> before{0}, after{0};
};

/// A provider's ends of "work".
struct Ends {
  Ends() : session(session::NodeSession::create("provider", {})) {
    const std::string requests = wire::request_topic("work"), responses = wire::response_topic("work");
    detail::make_ends(ends, {.session = session,
                             .endpoint = detail::new_endpoint(false),
                             .watcher = notes,
                             .out_topic = responses,
                             .out = detail::out_of(msg::message_of<Responses>(), detail::object_type<Responses>),
                             .memory_budget = 1 << 26,
                             .in_topic = requests,
                             .in = detail::in_of(msg::message_of<Requests>()),
                             .handler = {},
                             .on_rejected = {}});
  }
  ~Ends() { session->close(); }

  std::shared_ptr<Notes> notes = std::make_shared<Notes>();
  std::shared_ptr<session::NodeSession> session;
  detail::ServiceEnds ends;
};

/// Reads the responses, cancels calls, and leaves as the order says, before it cancels more of them.
void cancel_and_leave(bool is_foreign) {
  Stranger stranger("leaver");
  Talk pair = stranger.meet_publisher<Responses>(wire::response_topic("work"), {.depth = 0, .reliable = true}, its_endpoint);
  std::optional<HandSubscriber> reader;
  if (is_foreign) {
    pair.send(wire::AttachForeign{});
    pair.expect<wire::Ring>();
  } else {
    reader.emplace(std::move(pair));
    require(reader->attach(), "it is not served");
    pair = std::move(reader->pair);
  }
  pair.send(wire::CancelCall{1});
  say("cancelled");
  require(next_order() == "leave", "another order");
  pair.send(wire::Unsubscribe{});
  for (std::uint64_t id = 1; id <= cancelled; ++id) pair.send(wire::CancelCall{id});
  say("left");
  until_finished();
}

ROLE(leaving_client) {
  cancel_and_leave(false);
}
ROLE(foreign_leaving_client) {
  become_stranger();
  cancel_and_leave(true);
}

void expect_nothing_to_be_noted_of_a_call_of_who_has_left(const std::string& role) {
  Ends provider;
  Child client(role);
  client.expect("cancelled");
  EXPECT_TRUE(eventually([&] { return provider.notes->before == 1; }));
  // All of it is there when the provider hears it.
  std::latch waits(1), said(1);
  provider.session->loop().post([&] {
    waits.count_down();
    said.wait();
  });
  waits.wait();
  client.order("leave");
  client.expect("left");
  said.count_down();
  EXPECT_TRUE(eventually([&] { return provider.notes->has_left.load(); }));
  provider.session->loop().run([] {});
  EXPECT_EQ(provider.notes->after, 0);
  client.end();
  provider.session->loop().run([] {});
  EXPECT_EQ(provider.notes->after, 0);
}

class ServiceLeavers : public Domain {};

TEST_F(ServiceLeavers, WhatAClientCancelsWhenItHasLeftIsNotNoted) {
  expect_nothing_to_be_noted_of_a_call_of_who_has_left("leaving_client");
}

TEST_F(Foreign, WhatAClientOfAnotherUserCancelsWhenItHasLeftIsNotNoted) {
  expect_nothing_to_be_noted_of_a_call_of_who_has_left("foreign_leaving_client");
}

// As one that was cut off for want of memory or descriptors is connected anew.
TEST_F(ServiceLeavers, WhatAReaderHasTakenOverOneConnectionSaysNothingOfWhatItIsSentOverTheNextOne) {
  Ends provider;
  struct Connected {
    explicit Connected(const std::string& name)
        : stranger(name),
          reader(stranger.meet_publisher<Responses>(wire::response_topic("work"), {.depth = 0, .reliable = true}, its_endpoint)) {
      require(reader.attach(), "it is not served");
    }
    void takes_two() { shm::Claims(reader.acks(), reader.ring_layout(), reader.counts).advance_cursor(2); }
    Stranger stranger;
    HandSubscriber reader;
  };
  const auto send = [&] {
    std::uint64_t number = 0;
    EXPECT_EQ(provider.ends.sends->send_shared(its_endpoint, {std::make_shared<const Responses>()}, &number), PublishResult::published);
    return number;
  };
  auto before = std::make_unique<Connected>("before");
  const std::uint64_t first = send(), second = send(), third = send();
  before->takes_two();
  before.reset();
  EXPECT_TRUE(eventually([&] { return provider.notes->has_left.load(); }));
  EXPECT_FALSE(provider.notes->is_still_here);
  Connected after("after");
  for (int at = 0; at < 2; ++at) send();
  const std::uint64_t next = send(), taken = provider.notes->taken;
  EXPECT_TRUE(session::may_be_taken(first, taken) && session::may_be_taken(second, taken));
  EXPECT_FALSE(session::may_be_taken(third, taken));
  EXPECT_TRUE(session::may_be_taken(next, taken)) << "it is the third, too, of another connection";
  EXPECT_TRUE(session::may_be_taken(0, taken)) << "nobody knows";
}

}  // namespace
}  // namespace sinew::system
