// A client that a callback destroys while another thread is still calling it.
#include <dirent.h>

#include <atomic>
#include <fstream>
#include <mutex>
#include <thread>

#include "base/point.hpp"
#include "tests/system/service.hpp"

namespace sinew::system {
namespace {

class ServiceDestruction : public Domain {};

/// Of a client's own thread, which keeps what is left of it until it ends.
bool is_there_a_thread(const std::string& name) {
  DIR* const tasks = ::opendir("/proc/self/task");
  require(tasks != nullptr, "there is no /proc/self/task");
  bool found = false;
  while (const dirent* const task = ::readdir(tasks)) {
    std::string named;
    std::getline(std::ifstream(std::string("/proc/self/task/") + task->d_name + "/comm"), named);
    found = found || named == name;
  }
  ::closedir(tasks);
  return found;
}

/// Lets the held call go on when its client is gone and all that kept it with it.
void go_on_without_client(const std::atomic<bool>& destroyed) {
  require(eventually([&] { return destroyed && base::is_held(); }), "no callback destroys the client, or no call is held");
  require(eventually([] { return !is_there_a_thread("sinew-calls"); }), "the client's thread stays");
  base::let_go();
}

ROLE(calls_a_client_that_the_callback_destroys) {
  const auto node = Node::create("node"), other = Node::create("other");
  const auto provider = other->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "provider"); });
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::atomic<bool> destroyed{false}, answered{false};
  std::thread caller([&, called = client.get()] {
    const auto callback = [&](const std::shared_ptr<const Work::Response>& response, const ServiceError*) {
      answered = response && is_right(*response, 1);
      client.reset();
      destroyed = true;
    };
    called->call(addition(1), callback, std::chrono::hours(1));
  });
  go_on_without_client(destroyed);
  caller.join();
  require(answered, "there was no answer");
}

ROLE(waits_for_a_client_that_a_callback_destroys) {
  const auto node = Node::create("node");
  auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::atomic<bool> destroyed{false};
  std::string error;
  std::thread caller([&, called = client.get()] {
    try {
      called->call_and_wait(addition(1));
    } catch (const ServiceError& thrown) {
      error = thrown.what();
    }
  });
  require(eventually([&] { return client->statistics().pending == 1; }), "nobody calls");
  const auto callback = [&](const std::shared_ptr<const Work::Response>&, const ServiceError*) {
    client.reset();
    destroyed = true;
  };
  client->call(addition(2), callback, std::chrono::milliseconds(1));
  go_on_without_client(destroyed);
  caller.join();
  require(error.find("the client was destroyed") != error.npos, "who waited is told: " + error);
}

TEST_F(ServiceDestruction, ACallbackMayDestroyTheClientBeforeTheCallThatItAnswersHasReturned) {
  Child("calls_a_client_that_the_callback_destroys", {}, {{"SINEW_AT", "service.called:1:hold"}}).end();
}

TEST_F(ServiceDestruction, ACallbackMayDestroyTheClientOfWhichAnotherThreadWaitsForAnAnswer) {
  Child("waits_for_a_client_that_a_callback_destroys", {}, {{"SINEW_AT", "service.led:1:hold"}}).end();
}

// --- a provider, by its own handler ----------------------------------------------------------------------------------------------------

ROLE(asks_for_an_addition) {
  const auto node = Node::create("asker");
  const auto client = node->create_service_client<Work::Request, Work::Response>("work");
  const auto response = client->call_and_wait(addition(7));
  require(is_right(*response, 7) && response->provider == "first", "the answer of " + response->provider + " is wrong");
}

// That it is dropped only after it was kept is due to another process, of which the thread sanitizer knows nothing.
class KeptProvider {
 public:
  void keep(std::shared_ptr<WorkProvider> provider) {
    const std::lock_guard lock(mutex_);
    provider_ = std::move(provider);
  }
  void drop() {
    std::shared_ptr<WorkProvider> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(provider_);
  }

 private:
  std::mutex mutex_;
  std::shared_ptr<WorkProvider> provider_;
};

// While a second request is received, which no thread is started for any more.
ROLE(destroys_its_provider_while_a_request_is_received) {
  const auto node = Node::create("node");
  const auto client = node->create_service_client<Work::Request, Work::Response>("work");
  KeptProvider provider;
  provider.keep(node->create_service_provider<Work::Request, Work::Response>("work",
                                                                             [&](const Work::Request& request) {
                                                                               require(eventually(base::is_held), "there is no second one");
                                                                               provider.drop();  // which waits for nobody who receives
                                                                               base::let_go();
                                                                               return result_of(request, "first");
                                                                             },
                                                                             {.execution_thread = 1, .parallel = 2}));
  auto first = client->call(addition(1)), second = client->call(addition(2));
  require(is_right(first.get(), 1), "the response is another one");
  const auto next = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "next"); });
  require(second.get().provider == "next", "the second one was not executed by the next provider");
}

TEST_F(ServiceDestruction, AHandlerMayDestroyItsProviderWhileAnotherRequestIsReceivedWhichTheNextOneHas) {
  Child("destroys_its_provider_while_a_request_is_received", {}, {{"SINEW_AT", "service.begun:2:hold"}}).end();
}

TEST_F(ServiceDestruction, AHandlerMayDestroyItsProviderAndItsResponseIsSent) {
  const auto node = Node::create("node");
  const auto client = node->create_service_client<Work::Request, Work::Response>("work");
  for (const std::uint32_t parallel : {1U, 2U}) {
    std::atomic<int> runs{0};
    KeptProvider provider;
    const auto provide = [&] {
      provider.keep(node->create_service_provider<Work::Request, Work::Response>("work",
                                                                                 [&](const Work::Request& request) {
                                                                                   provider.drop();
                                                                                   ++runs;
                                                                                   return result_of(request, "first");
                                                                                 },
                                                                                 {.execution_thread = 1, .parallel = parallel}));
    };
    provide();
    Child("asks_for_an_addition").end();
    EXPECT_EQ(runs, 1);
    provide();
    EXPECT_TRUE(is_right(*client->call_and_wait(addition(1), std::chrono::seconds(10)), 1));
    EXPECT_EQ(runs, 2);
  }
}

TEST_F(ServiceDestruction, AHandlerThatDestroysItsProviderWaitsForTheOthersWhichAnswerToo) {
  const auto node = Node::create("node");
  const auto client = node->create_service_client<Work::Request, Work::Response>("work");
  std::atomic<int> begun{0};
  std::atomic<bool> destroying{false}, destroyed{false};
  std::shared_ptr<WorkProvider> provider;
  provider = node->create_service_provider<Work::Request, Work::Response>(
      "work",
      [&](const Work::Request& request) {
        ++begun;
        if (request.number == 3) return result_of(request, "first");  // between what says that it is destroyed and its destruction
        require(eventually([&] { return begun >= 2; }), "the second one is not begun");
        if (request.number == 1) {
          destroying = true;
          provider.reset();
          destroyed = true;
        } else {
          require(eventually([&] { return destroying.load(); }), "the provider is not destroyed");
          EXPECT_FALSE(destroyed);
        }
        return result_of(request, "first");
      },
      {.execution_thread = 1, .parallel = 2});
  auto first = client->call(addition(1)), second = client->call(addition(2)), third = client->call(addition(3));
  for (auto* const each : {&first, &second}) {
    ASSERT_EQ(each->wait_for(std::chrono::seconds(10)), std::future_status::ready);
    EXPECT_EQ(each->get().provider, "first");
  }
  const auto next = node->create_service_provider<Work::Request, Work::Response>(
      "work", [](const Work::Request& request) { return result_of(request, "next"); });
  const Work::Response last = third.get();
  EXPECT_EQ(last.provider, begun == 3 ? "first" : "next");
}

}  // namespace
}  // namespace sinew::system
