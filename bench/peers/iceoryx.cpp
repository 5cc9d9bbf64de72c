// iceoryx: a chunk that the publisher loans, received by a thread that waits in a WaitSet, or spins. RouDi runs beside.
#include <unistd.h>

#include <cstring>
#include <iceoryx_hoofs/log/logmanager.hpp>
#include <iceoryx_posh/popo/untyped_publisher.hpp>
#include <iceoryx_posh/popo/untyped_subscriber.hpp>
#include <iceoryx_posh/popo/wait_set.hpp>
#include <iceoryx_posh/runtime/posh_runtime.hpp>
#include <new>
#include <stdexcept>
#include <string>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

// A header in a cache line of its own, then the payload, which so is aligned as memset likes it.
constexpr std::uint32_t line = 64;
constexpr std::uint64_t depth = 8;

iox::capro::ServiceDescription service_of(const Run& run) {
  return {"sinew", "peers", iox::capro::IdString_t(iox::cxx::TruncateToCapacity, run.topic)};
}

void join() {
  iox::log::LogManager::GetLogManager().SetDefaultLogLevel(iox::log::LogLevel::kError, iox::log::LogLevelOutput::kHideLogLevel);
  iox::runtime::PoshRuntime::initRuntime(iox::RuntimeName_t(iox::cxx::TruncateToCapacity, "sinew-peer-" + std::to_string(getpid())));
}

void publish(const Run& run) {
  join();
  iox::popo::UntypedPublisher publisher(service_of(run));
  connect([&] { return publisher.hasSubscribers(); });  // subscribers say themselves that they are all there
  publish_all(run, [&](Header& header, Work& work) {
    auto loan = publisher.loan(static_cast<std::uint32_t>(line + header.size), line);
    if (loan.has_error()) throw std::runtime_error("RouDi has no chunk for the next message");
    void* const chunk = loan.value();
    work.fill(header, {static_cast<std::uint8_t*>(chunk) + line, header.size});
    header.sent = now_ns();
    new (chunk) Header(header);
    publisher.publish(chunk);
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  join();
  iox::popo::SubscriberOptions options;
  options.queueCapacity = depth * run.publishers;
  iox::popo::UntypedSubscriber subscriber(service_of(run), options);
  const auto take_all = [&] {
    for (auto taken = subscriber.take(); !taken.has_error(); taken = subscriber.take()) {
      const void* const chunk = taken.value();
      const Header& header = *static_cast<const Header*>(chunk);
      arrivals.add(header, {static_cast<const std::uint8_t*>(chunk) + line, header.size});
      subscriber.release(chunk);
    }
  };
  connect([&] { return subscriber.getSubscriptionState() == iox::SubscribeState::SUBSCRIBED; });
  if (run.spins) {
    for (; arrivals.more(); spin_hint()) take_all();
    return;
  }
  iox::popo::WaitSet<> waitset;
  if (waitset.attachState(subscriber, iox::popo::SubscriberState::HAS_DATA).has_error())
    throw std::runtime_error("the WaitSet takes no subscriber");
  while (arrivals.more()) {
    waitset.wait();
    take_all();
  }
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe});
}
