// Threads that are cancelled (pthread_cancel) while they are in sinew: what they have begun gets done, and no lock is left (M9).
#include <pthread.h>

#include <thread>

#include "os/event.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/sample.hpp"
#include "tests/system/service.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

/// Does `work` on a thread that is to be cancelled at the next point for it, which must not lie in `work`.
template <class Work>
void cancelled(const std::string& what, const Work& work) {
  bool is_done = false;
  std::thread victim([&] {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    ::pthread_cancel(::pthread_self());
    ::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
    work();
    is_done = true;
    ::pthread_testcancel();
    fail("it was not cancelled");
  });
  victim.join();
  require(is_done, what + " was cancelled amid its work");
}

/// A reader that never takes anything, and says that it sleeps.
class Sleeper {
 public:
  Sleeper() : subscriber_(stranger_.meet_publisher<Sample>("topic", {.depth = 8})) {
    require(subscriber_.attach(), "the publisher does not serve it");
    claims_.emplace(subscriber_.acks(), subscriber_.ring_layout(), subscriber_.counts);
  }
  void fall_asleep() { subscriber_.bell.as<shm::BellWord>().epoch.store(epoch_ += 2); }
  /// It was woken, and a message of this number is there.
  void require_woken_for(std::uint64_t number) {
    require(os::wait_and_drain(subscriber_.eventfd.get(), 0), "the reader was not woken");
    const auto claim = claims_->claim_frame(claims_->head());
    require(claim.outcome == shm::Claims::Outcome::claimed, "nothing was published");
    const auto& sample = *reinterpret_cast<const Sample*>(claim.frame.root);
    require(sample.number == number && is_whole(sample), "the message is not whole");
    claims_->release(claim.slot);
  }

 private:
  Stranger stranger_{"sleeper"};
  HandSubscriber subscriber_;
  std::optional<shm::Claims> claims_;
  std::uint64_t epoch_ = 1;
};

// Each message needs more memory than there is yet.
ROLE(cancelled_publisher) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(8));
  Sleeper sleeper;
  std::uint64_t number = 0;
  std::size_t size = 100'000;
  const auto publish = [&](const std::string& way) {
    if (way == "loan") return publish_in_place(*publisher, 1, number, size);
    if (way == "copy") return publisher->publish(sample_of(1, number, size));
    if (way == "owned") return publisher->publish(std::make_unique<Sample>(sample_of(1, number, size)));
    return publisher->publish(std::make_shared<const Sample>(sample_of(1, number, size)));
  };
  for (const std::string way : {"loan", "copy", "owned", "shared"}) {
    ++number;
    size *= 2;
    sleeper.fall_asleep();
    cancelled(way, [&] { require(publish(way) == PublishResult::published, "not published"); });
    sleeper.require_woken_for(number);
  }
}

class Cancelled : public Domain {
 protected:
  static void run(const std::string& role, const Arguments& arguments = {}) {
    Child child(role, arguments, {{"SINEW_LOG", "warn"}});  // what is said may be a point to be cancelled at
    EXPECT_EQ(child.wait(), 0) << child.errors();
  }
};

TEST_F(Cancelled, M9_a_thread_that_publishes_does_so_and_leaves_no_lock) {
  run("cancelled_publisher");
}

// A loan grows where there is no memory for it yet, and gives it back.
ROLE(cancelled_loan) {
  auto node = Node::create("publisher");
  auto publisher = node->create_publisher<Sample>("topic");
  auto reader = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  const std::size_t size = 3'000'000;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    std::optional<Loan<Sample>> loan;
    cancelled("loan()", [&] { loan.emplace(publisher->loan()); });
    cancelled("growing", [&] { loan->build([&](Sample& sample) { fill(sample, 1, number, number * size); }); });
    if (number < 3) {
      cancelled("giving back", [&] { loan.reset(); });
    } else {
      require(publisher->publish(std::move(*loan)) == PublishResult::published, "not published");
    }
  }
  const auto message = take_soon(*reader);
  require(message && message->number == 3 && is_whole(*message), "the message is not whole");
  require(publisher->statistics().bytes_copied == 0, "it was not built in place");
}

// There is no room until a message goes that nobody lets go of.
ROLE(cancelled_waiter) {
  auto node = Node::create("publisher");
  auto publisher =
      node->create_publisher<Sample>("topic", Qos{}, {.memory_budget = 4 << 20, .when_full = WhenFull::wait, .max_blocking = 20ms});
  auto reader = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere());
  await_subscribers(*publisher, 1);
  auto first = publisher->loan(), second = publisher->loan();
  first->data.resize(3'000'000);
  cancelled("waiting for room", [&] { second.build([&](Sample& sample) { fill(sample, 1, 1, 3'000'000); }); });
  first = {};
  require(publisher->publish(std::move(second)) == PublishResult::published, "not published");
  const auto message = take_soon(*reader);
  require(message && message->number == 1 && is_whole(*message), "the message is not whole");
}

TEST_F(Cancelled, M9_a_loan_that_waits_for_room_goes_on_to) {
  run("cancelled_waiter");
}

TEST_F(Cancelled, M9_a_loan_grows_and_is_given_back) {
  run("cancelled_loan");
}

ROLE(cancelled_caller) {
  auto node = Node::create("caller");
  Child provider("cancelled_provider", {}, {{"SINEW_AT", ""}});
  provider.expect("ready");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  await_providers(*client, 1);
  std::size_t terms = 10'000;
  for (std::uint64_t number = 1; number <= 10; ++number, terms += terms / 2) {
    std::optional<PendingCall<std::shared_ptr<const Work::Response>>> pending;
    Work::Request request = addition(number);
    request.terms.resize(terms);
    if (number % 2 == 0) {
      cancelled("calling", [&] { pending.emplace(client->call_shared(request)); });
    } else {
      WorkLoan loan = loaned_addition(*client, number, terms);
      if (number == 1) (*loan).terms.resize(terms * 2);  // outside, which it says
      cancelled("calling with a loan", [&] { pending.emplace(client->call_shared(std::move(loan))); });
    }
    require(is_right(*pending->get(), number, 1, 0), "a wrong answer");
  }
  for (std::uint64_t number = 11; number <= 13; ++number) {
    std::shared_ptr<const Work::Response> response;
    cancelled("waiting for an answer", [&] { response = client->call_and_wait(addition(number), 60s); });
    require(is_right(*response, number, 1, 0), "a wrong answer");
  }
  std::optional<PendingCall<std::shared_ptr<const Work::Response>>> pending;
  cancelled("calling with a deadline", [&] { pending.emplace(client->call_shared(addition(14), 60s)); });
  require(is_right(*pending->get(), 14, 1, 0), "a wrong answer");
  cancelled("destroying a client", [&] { client.reset(); });
  provider.end();
}

ROLE(cancelled_provider) {
  auto node = Node::create("provider");
  auto provider = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); });
  say("ready");
  until_finished();
}

TEST_F(Cancelled, M9_a_call_is_made) {
  run("cancelled_caller");
}

// What waits for others, who are in the user's code meanwhile.
ROLE(cancelled_beside_others) {
  auto node = Node::create("node");
  std::atomic<std::uint64_t> begun{0};
  const auto take_long = [&begun](const Work::Request& request) {
    begun = request.number;
    std::this_thread::sleep_for(100ms);
    return result_of(request, "node");
  };
  auto provider = node->create_service_provider<Work::Request, Work::Response>("slow", take_long, {.parallel = 2});
  auto client = node->create_service_client<Work::Request, Work::Response>("slow");
  const auto await_begun = [&](std::uint64_t number) { require(eventually([&] { return begun == number; }), "the call is not served"); };
  std::thread leader([&] { require(is_right(*client->call_and_wait(addition(1)), 1, 1, 0), "a wrong answer"); });
  await_begun(1);
  std::shared_ptr<const Work::Response> response;
  cancelled("waiting while another receives", [&] { response = client->call_and_wait(addition(2), 60s); });
  leader.join();
  require(is_right(*response, 2, 1, 0), "a wrong answer");
  std::atomic<bool> is_called{false};
  client->call(addition(3), [&](const std::shared_ptr<const Work::Response>&, const ServiceError*) {
    is_called = true;
    std::this_thread::sleep_for(100ms);
  });
  require(eventually([&] { return is_called.load(); }), "no answer");
  cancelled("destroying a client whose callback runs", [&] { client.reset(); });
  auto other = node->create_service_client<Work::Request, Work::Response>("slow");
  auto pending = other->call_shared(addition(4));
  await_begun(4);
  cancelled("destroying a provider that serves", [&] { provider.reset(); });
}

TEST_F(Cancelled, M9_what_waits_for_others_does) {
  run("cancelled_beside_others");
}

ROLE(cancelled_user) {
  std::shared_ptr<Node> node;
  std::shared_ptr<Publisher<Sample>> publisher;
  std::shared_ptr<Subscriber<Sample>> subscriber;
  std::shared_ptr<const Sample> taken;
  cancelled("creating a node", [&] { node = Node::create("node"); });
  cancelled("creating a publisher", [&] { publisher = node->create_publisher<Sample>("topic", Qos{}.keep_last(1)); });
  cancelled("creating a subscriber", [&] { subscriber = node->create_subscriber<Sample>("topic", Qos{}, as_from_elsewhere()); });
  std::shared_ptr<Timer> timer;
  std::shared_ptr<DomainWatch> watch;
  std::shared_ptr<WorkProvider> provider;
  std::shared_ptr<WorkClient> client;
  cancelled("creating a timer", [&] { timer = node->create_timer(1h, [] {}); });
  cancelled("asking for the state of the domain", [&] { require(node->domain_state().nodes.size() == 1, "a wrong state"); });
  cancelled("watching the domain", [&] { watch = node->watch_domain([](const DomainUpdate&) {}); });
  const auto answer = [](const Work::Request& request) { return result_of(request, "node"); };
  cancelled("creating a provider", [&] { provider = node->create_service_provider<Work::Request, Work::Response>("work", answer); });
  cancelled("creating a client", [&] { client = node->create_service_client<Work::Request, Work::Response>("work"); });
  await_subscribers(*publisher, 1);
  cancelled("waiting in vain", [&] { taken = subscriber->take(1ms); });
  // The chunks of the messages come and go, which taking has to answer for.
  for (std::uint64_t number = 1; number <= 20; ++number) {
    publish_in_place(*publisher, 1, number, number % 2 == 0 ? 10 : number * 1'000'000);
    if (number % 4 < 2) {
      cancelled("taking", [&] { taken = subscriber->take(60s); });
    } else {
      require(eventually([&] {
                cancelled("taking what is there", [&] { taken = subscriber->take(); });
                return taken != nullptr;
              }),
              "no message comes");
    }
    require(taken && taken->number == number && is_whole(*taken), "the message is not whole");
    if (number < 20) cancelled("letting go", [&] { taken.reset(); });
  }
  cancelled("destroying a timer", [&] { timer.reset(); });
  cancelled("destroying a watch", [&] { watch.reset(); });
  cancelled("destroying a provider", [&] { provider.reset(); });
  cancelled("destroying a client", [&] { client.reset(); });
  cancelled("destroying a subscriber", [&] { subscriber.reset(); });
  cancelled("letting go of the last", [&] { taken.reset(); });
  cancelled("destroying a publisher", [&] { publisher.reset(); });
  cancelled("destroying a node", [&] { node.reset(); });
}

TEST_F(Cancelled, M9_what_is_created_taken_or_destroyed_is_so_as_a_whole) {
  run("cancelled_user");
}

}  // namespace
}  // namespace sinew::system
