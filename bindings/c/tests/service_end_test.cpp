// Services in C when something goes wrong: peers that go away or run wild, calls that nobody waits for any more, memory that there is not.
#include <algorithm>
#include <new>
#include <thread>

#include "api/node_impl.hpp"
#include "api/service_client_core.hpp"
#include "api/service_impl.hpp"
#include "api/service_provider_core.hpp"
#include "base/point.hpp"
#include "base/sanitized.hpp"
#include "base/tests/heap.hpp"
#include "bindings/c/tests/service_in_c.hpp"
#include "session/publisher/new_frame.hpp"

namespace sinew::system {
namespace {

class EndsInC : public InC {};

// --- who goes away -------------------------------------------------------------------------------------------------------------------

TEST_F(EndsInC, TheCallsOfAProviderThatIsKilledGoToAnother) {
  Child killed("worker_in_c", {"keep"});
  killed.expect("ready");
  PendingInC call(stream_of(addition(7)));
  const ClientInC client(node);
  call.start(client);
  killed.expect("has it");
  killed.kill();
  const ProviderInC other(node);
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_OK) << call.error;
  EXPECT_TRUE(is_right(value_in<Work::Response>(call.response), 7));
  EXPECT_EQ(client.statistics().resent, 1U);
}

TEST_F(EndsInC, TheCallsOfAProviderThatIsKilledAreLostWhereItExecutesNoneTwice) {
  Child killed("worker_in_c", {"keep once"});
  killed.expect("ready");
  PendingInC call(stream_of(addition(7)));
  const ClientInC client(node);
  call.start(client);
  killed.expect("has it");
  killed.kill();
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_LOST) << call.error;
}

TEST_F(EndsInC, ARequestStaysReadableWhenItsClientIsKilled) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  Child client("client_in_c");
  ASSERT_TRUE(eventually([&] { return kept.count() == 1; }));
  client.kill();
  sinew_call* const call = kept.take().front();
  EXPECT_TRUE(eventually([&] { return sinew_call_is_cancelled(call); }));
  EXPECT_EQ(ProviderInC::request_of(call).terms, addition(7).terms);
  EXPECT_EQ(ProviderInC::answer(call, stream_of(Work::Response())), SINEW_CLOSED);
  EXPECT_EQ(provider.statistics().running, 0U);
}

ROLE(client_in_c) {
  sinew_node* node = nullptr;
  require(sinew_node_create("client_in_c", nullptr, &node) == SINEW_OK, sinew_last_error());
  const ClientInC client(node);
  client.call(stream_of(addition(7)));
}

TEST_F(EndsInC, TheCallsOfAProviderThatIsDestroyedGoToAnotherAndStayToBeEnded) {
  Kept kept;
  ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  PendingInC call(stream_of(addition(7)));
  const ClientInC client(node);
  call.start(client);
  ASSERT_TRUE(eventually([&] { return kept.count() == 1; }));
  provider.destroy();
  EXPECT_EQ(provider.released, 1) << "though a call is open";
  const ProviderInC other(node);
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_OK) << call.error;
  sinew_call* const open = kept.take().front();
  EXPECT_EQ(ProviderInC::request_of(open).number, 7U);
  EXPECT_EQ(ProviderInC::answer(open, stream_of(Work::Response())), SINEW_CLOSED);
  EXPECT_STREQ(sinew_last_error(), "not answered: the client has gone, or the provider was destroyed, or its node");
}

// Who answers, or the loop, may be the last who looks at the provider: the end of its node is nothing for them, and the context may have the last handle of that.
ROLE(destroys_its_provider_as_a_call_is_answered) {
  sinew_node* node = nullptr;
  require(sinew_node_create("child", nullptr, &node) == SINEW_OK, sinew_last_error());
  {
    Kept kept;
    ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
    PendingInC call(stream_of(addition(7)));
    ClientInC client(node);
    call.start(client);
    require(eventually([&] { return kept.count() == 1; }), "the request does not come");
    std::thread answers([&] { ProviderInC::answer_rightly(kept.take().front()); });
    require(eventually(base::is_held), "nobody answers");
    provider.destroy();
    const int released = provider.released;
    base::let_go();
    answers.join();
    require(released == 1, "the context is not released by destroy");
  }
  sinew_node_destroy(node);
}

TEST_F(EndsInC, AProviderThatIsDestroyedReleasesItsContextThoughAnotherThreadIsAnswering) {
  Child("destroys_its_provider_as_a_call_is_answered", {}, {{"SINEW_AT", "service.executed:1:hold"}}).end();
}

TEST_F(EndsInC, ACallbackMayDestroyItsProvider) {
  std::unique_ptr<ProviderInC> provider;
  std::atomic<bool> made{false};
  provider = std::make_unique<ProviderInC>(node, [&](sinew_call* call) {
    eventually([&] { return made.load(); });
    ProviderInC::answer_rightly(call);
    provider->destroy();
  });
  made = true;
  const ClientInC client(node);
  EXPECT_EQ(client.add(7), "");
  EXPECT_TRUE(eventually([&] { return provider->released == 1; }));
}

TEST_F(EndsInC, CallsOfAClientThatIsDestroyedAreCancelled) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  PendingInC sent(stream_of(addition(7)));
  {
    const ClientInC client(node);
    sent.start(client);
    ASSERT_TRUE(eventually([&] { return kept.count() == 1; }));
  }
  EXPECT_EQ(sent.called, 1) << "before it returned";
  EXPECT_EQ(sent.status, SINEW_CANCELLED);
  sinew_call* const call = kept.take().front();
  EXPECT_TRUE(eventually([&] { return sinew_call_is_cancelled(call); }));
  sinew_call_release(call);
}

TEST_F(EndsInC, WhenTheNodeIsDestroyedCallsEndAndOthersCannotBeMade) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  PendingInC call(stream_of(addition(7)));
  const ClientInC client(node);
  call.start(client);
  ASSERT_TRUE(eventually([&] { return kept.count() == 1; }));
  sinew_node_destroy(std::exchange(node, nullptr));
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_CLOSED) << call.error;
  EXPECT_EQ(client.call(stream_of(addition(8))), SINEW_CLOSED);
  EXPECT_EQ(sinew_call_fail(kept.take().front(), "too late"), SINEW_OK) << "as long as the provider is there nobody minds";
}

// --- who waits no longer -------------------------------------------------------------------------------------------------------------

TEST_F(EndsInC, ACallThatTakesTooLongEndsAndItsProviderSeesIt) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  const ClientInC client(node);
  client.await_providers(1);
  // A call that ends before its provider looks is handed to nobody, so they take longer and longer.
  std::int64_t timeout_ns = 1'000'000;
  for (; kept.count() == 0; timeout_ns *= 2) {
    EXPECT_EQ(client.call(stream_of(addition(1)), nullptr, timeout_ns), SINEW_TIMEOUT);
    EXPECT_STREQ(sinew_last_error(), "service 'work' gave no answer in time: its provider has not answered yet");
  }
  for (; kept.count() == 1; timeout_ns *= 2) {
    PendingInC call(stream_of(addition(2)));
    call.start(client, timeout_ns);
    ASSERT_TRUE(call.ends());
    EXPECT_EQ(call.status, SINEW_TIMEOUT);
  }
  for (sinew_call* const each : kept.take()) {
    EXPECT_TRUE(eventually([&] { return sinew_call_is_cancelled(each); }));
    EXPECT_EQ(ProviderInC::answer(each, stream_of(Work::Response())), SINEW_OK);
  }
  EXPECT_GE(provider.statistics().cancelled, 2U);
}

TEST_F(EndsInC, ACallMayBeCancelledOnceAndEndsOnce) {
  Kept kept;
  const ProviderInC provider(node, [&](sinew_call* call) { kept.keep(call); });
  PendingInC call(stream_of(addition(1)));
  const ClientInC client(node);
  call.start(client);
  ASSERT_TRUE(eventually([&] { return kept.count() == 1; }));
  sinew_client_cancel(client.get(), call.number);
  sinew_client_cancel(client.get(), call.number);
  ASSERT_TRUE(call.ends());
  EXPECT_EQ(call.status, SINEW_CANCELLED);
  sinew_call* const open = kept.take().front();
  EXPECT_TRUE(eventually([&] { return sinew_call_is_cancelled(open); }));
  ProviderInC::answer_rightly(open);
  EXPECT_EQ(call.called, 1);
  EXPECT_TRUE(eventually([&] { return client.statistics().pending == 0; }));
}

TEST_F(EndsInC, WithoutAProviderACallWaitsAndSaysSo) {
  const ClientInC client(node);
  EXPECT_EQ(client.call(stream_of(addition(1)), nullptr, 0), SINEW_TIMEOUT);
  EXPECT_STREQ(sinew_last_error(), "service 'work' gave no answer in time: no provider of it is connected");
}

// --- who runs wild -------------------------------------------------------------------------------------------------------------------

/// Sends any bytes as messages of a service.
class Bytes final : public session::FrameStorage {
 public:
  using Object = std::vector<std::byte>;
  session::NewFrame copy_in(const void* object, shm::Window& window) const noexcept override {
    const session::NewFrame frame = session::stream_frame(window, stream_size(object));
    if (frame.is_in_window()) write_stream(object, session::stream_of(frame));
    return frame;
  }
  std::uint64_t stream_size(const void* object) const noexcept override { return static_cast<const Object*>(object)->size(); }
  void write_stream(const void* object, std::byte* into) const noexcept override {
    std::ranges::copy(*static_cast<const Object*>(object), into);
  }
  void release(const void*, shm::Window::Freeing&) const noexcept override {}
  void* write_pieces(const void*, shm::Window&, bool) const noexcept override { return nullptr; }
  void list(const void*, std::vector<const void*>&) const override {}
};

template <class T>
wire::TypeDescription type_of() {
  const msg::Message& type = msg::message_of<T>();
  return {type.name, type.signature, type.hash, 0};
}

std::shared_ptr<const Bytes::Object> bytes_of(const Stream& stream) {
  const auto bytes = std::as_bytes(std::span(stream));
  return std::make_shared<const Bytes::Object>(bytes.begin(), bytes.end());
}

/// All that a stream cut short may be, and some whose lengths are wrong. `length`: of its first string.
std::vector<Stream> wrong(const Stream& right, std::size_t length) {
  std::vector<Stream> all;
  for (std::size_t size = 1; size < right.size(); ++size)
    all.emplace_back(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(size));
  for (const std::uint8_t byte : Stream{0x40, 0xff}) {
    all.push_back(right);
    std::fill_n(all.back().begin() + static_cast<std::ptrdiff_t>(length), 4, byte);
  }
  all.push_back(right);
  all.back()[1] = 2;
  all.push_back(right);
  all.back().resize(right.size() + 4);
  return all;
}

TEST_F(EndsInC, RequestsThatAreNoneAreRejectedAndCountedAndTheirClientsTold) {
  const ProviderInC provider(node);
  auto wild = Node::create("wild");
  const detail::ServiceOut out{type_of<ServiceRequest<Work::Request>>(), {nullptr, std::make_shared<Bytes>(), nullptr}};
  const detail::ServiceIn in = detail::in_of(msg::message_of<ServiceResponse<Work::Response>>());
  const auto client =
      detail::make_client({detail::NodeAccess::session(*wild), "work", out, in, 1 << 20, Ghost::no}, detail::error_of<Work::Response>);
  std::size_t sent = 0;
  for (std::size_t count = 1; sent < count; ++sent) {
    const std::uint64_t id = client->next_id();
    const std::vector<Stream> streams = wrong(stream_of(ServiceRequest<Work::Request>{id, addition(7)}), 4 + 4 * 8);
    count = streams.size();
    try {
      client->call_and_wait(id, {bytes_of(streams[sent])}, detail::ServiceClientCore::for_ever);
      ADD_FAILURE() << "it is answered";
    } catch (const ServiceError& error) {
      EXPECT_TRUE(error.kind() == ServiceError::Kind::invalid || error.kind() == ServiceError::Kind::lost) << error.what();
    }
  }
  EXPECT_TRUE(eventually([&] { return provider.statistics().rejected == sent; })) << "the clients are told first";
  const ClientInC other(node);
  EXPECT_EQ(other.add(7), "");
}

TEST_F(EndsInC, ResponsesThatAreNoneAreRejectedAndCountedAndTheirCallsFail) {
  auto wild = Node::create("wild");
  const detail::ServiceOut out{type_of<ServiceResponse<Work::Response>>(), {nullptr, std::make_shared<Bytes>(), nullptr}};
  const detail::ServiceIn in = detail::in_of(msg::message_of<ServiceRequest<Work::Request>>());
  std::size_t next = 0, count = 1;
  const auto serve = [&](const void*, const std::shared_ptr<detail::RunningCall>& call, detail::ServiceProviderCore::Impl& provider) {
    const std::vector<Stream> streams =
        wrong(stream_of(ServiceResponse<Work::Response>{call->id, next % 2, {.provider = "x", .data = {}}, "y"}), 4 + 5 * 8);
    count = streams.size();
    provider.reply(*call, bytes_of(streams.at(next++)));
  };
  const auto provider = detail::make_provider({detail::NodeAccess::session(*wild), "work", out, in, 1 << 20, Ghost::no}, serve,
                                              detail::make_error<Work::Response>, {});
  const ClientInC client(node);
  while (next < count) {
    const sinew_status status = client.call(stream_of(addition(7)));
    EXPECT_TRUE(status == SINEW_INVALID_MESSAGE || status == SINEW_LOST) << next << ": " << sinew_status_name(status);
  }
  EXPECT_TRUE(eventually([&] { return client.statistics().rejected == count; }));
}

// --- memory that there is not --------------------------------------------------------------------------------------------------------

TEST_F(EndsInC, WhereTheMemoryOfAProviderDoesNotHoldTheResponseTheClientIsToldAndBoth) {
  auto options = sized<sinew_provider_options>();
  options.memory_budget = 4 << 20;
  std::atomic<sinew_status> answered{SINEW_OK};
  options.context = &answered;
  options.on_request = [](void* context, sinew_call* call) {
    *static_cast<std::atomic<sinew_status>*>(context) = ProviderInC::answer(call, stream_of(result_of(ProviderInC::request_of(call), "")));
  };
  sinew_provider* provider = nullptr;
  ASSERT_EQ(sinew_provider_create(node, "work", request_type(), response_type(), &options, &provider), SINEW_OK) << sinew_last_error();
  const ClientInC client(node);
  EXPECT_EQ(client.call(stream_of(addition(7, 1, ten_megabytes))), SINEW_NO_MEMORY);
  sinew_provider_destroy(provider);
  EXPECT_EQ(answered, SINEW_NO_MEMORY);
}

#if !SINEW_SANITIZED

bool is_of_shortage(sinew_status status) {
  return status == SINEW_EXHAUSTED || status == SINEW_NO_MEMORY || status == SINEW_LOST || status == SINEW_INVALID_MESSAGE;
}

TEST_F(EndsInC, WhateverAllocationOfACallerFailsTheCallEndsAndTheNextIsAnswered) {
  const ProviderInC provider(node);
  const ClientInC client(node);
  const Stream request = stream_of(addition(7));
  EXPECT_EQ(client.add(7), "");
  int nth = 0;
  for (bool reached = true; reached; ++nth) {
    fail_allocation(nth);
    const auto extents = std::array{sinew_extent{request.data(), request.size()}};
    sinew_frame* frame = nullptr;
    const sinew_status status = sinew_client_call(client.get(), extents.data(), extents.size(), -1, &frame);
    reached = allocation_has_failed();
    fail_no_allocation();
    sinew_frame_release(frame);
    EXPECT_TRUE(status == SINEW_OK || is_of_shortage(status)) << nth << ": " << sinew_status_name(status) << ": " << sinew_last_error();
    EXPECT_EQ(client.add(7), "") << nth;
  }
  EXPECT_GT(nth, 5);
  EXPECT_EQ(client.statistics().strays, 0U);
}

TEST_F(EndsInC, WhateverAllocationOfACallThatDoesNotWaitFailsItEndsOnceOrWasNotMade) {
  const ProviderInC provider(node);
  const ClientInC client(node);
  const Stream request = stream_of(addition(7));
  EXPECT_EQ(client.add(7), "");
  int nth = 0;
  for (bool reached = true; reached; ++nth) {
    std::atomic<int> called{0};
    const auto count = [](void* context, sinew_status, sinew_frame* frame, const char*) {
      sinew_frame_release(frame);
      ++*static_cast<std::atomic<int>*>(context);
    };
    const sinew_extent extent{request.data(), request.size()};
    fail_allocation(nth);
    const sinew_status status = sinew_client_call_async(client.get(), &extent, 1, -1, count, &called, nullptr);
    reached = allocation_has_failed();
    fail_no_allocation();
    EXPECT_TRUE(eventually([&] { return called == (status == SINEW_OK ? 1 : 0); })) << nth;
    EXPECT_EQ(client.add(7), "") << nth;
    EXPECT_EQ(called, status == SINEW_OK ? 1 : 0) << nth;
  }
  EXPECT_GT(nth, 5);
}

TEST_F(EndsInC, WhateverAllocationOfOtherThreadsFailsACallHasAnEndOrItsClientNoProvider) {
  const Stream request = stream_of(addition(7));
  const sinew_extent extent{request.data(), request.size()};
  int nth = 0;
  for (bool reached = true; reached; ++nth) {
    std::atomic<sinew_status> ended{-1};
    const ProviderInC provider(node);
    ClientInC client(node);
    ASSERT_EQ(client.add(7), "") << nth;
    const auto on_response = [](void* context, sinew_status status, sinew_frame* frame, const char*) {
      sinew_frame_release(frame);
      *static_cast<std::atomic<sinew_status>*>(context) = status;
    };
    fail_allocations_of_other_threads(nth, 1);
    ASSERT_EQ(sinew_client_call_async(client.get(), &extent, 1, -1, on_response, &ended, nullptr), SINEW_OK) << sinew_last_error();
    // A connection may end for want of memory, and then there is nobody to answer.
    EXPECT_TRUE(eventually([&] { return ended >= 0 || client.statistics().providers == 0; })) << nth;
    EXPECT_TRUE(eventually([&] { return provider.statistics().running == 0; })) << nth;
    reached = allocation_of_other_threads_has_failed();
    fail_no_allocation();
    client.destroy();
    EXPECT_TRUE(ended == SINEW_OK || ended == SINEW_FAILED || ended == SINEW_CANCELLED || is_of_shortage(ended))
        << nth << ": " << sinew_status_name(ended);
  }
  EXPECT_GT(nth, 10);
}

#endif

}  // namespace
}  // namespace sinew::system
