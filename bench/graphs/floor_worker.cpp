// sinew-bench-graph-floor: nodes of a graph in one process, on one thread, whose messages go by pointer, with the least that this takes.
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "messages.hpp"
#include "reactor.hpp"
#include "worker.hpp"

namespace sinew::bench::graphs {

namespace {

/// A message on its way to one subscription.
struct Letter {
  std::shared_ptr<const void> message;
  void (*call_back)(const void* message, Tally& tally) = nullptr;
  Tally* tally = nullptr;
};

/// What has yet to be called. All of it is the one thread's.
class Mailbox {
 public:
  void post(Letter letter) { letters_.push_back(std::move(letter)); }
  void deliver() {
    for (const Letter& letter : letters_) letter.call_back(letter.message.get(), *letter.tally);
    letters_.clear();
  }

 private:
  std::vector<Letter> letters_;
};

/// Of all subscriptions of the process, complete before the first publisher is made.
using Addresses = std::map<unsigned, Tally*>;

template <class T>
class FloorOutlet final : public Outlet {
 public:
  FloorOutlet(Mailbox& mailbox, const Publication& publication, const Addresses& addresses) : mailbox_(mailbox), publication_(publication) {
    for (const unsigned index : publication.subscriptions) addresses_.push_back(addresses.at(index));
  }
  std::int64_t publish(std::uint32_t number) override {
    auto message = std::make_unique_for_overwrite<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    const std::shared_ptr<const T> shared(std::move(message));
    for (Tally* const each : addresses_) mailbox_.post({shared, call_back, each});
    return stamp;
  }

 private:
  static void call_back(const void* object, Tally& tally) {
    const std::int64_t now = now_ns();
    const T& message = *static_cast<const T*>(object);
    tally.add(now, stamp_of(message.header), is_whole(message));
  }

  Mailbox& mailbox_;
  const Publication& publication_;
  std::vector<Tally*> addresses_;
};

class FloorEngine final : public Engine {
 public:
  std::unique_ptr<Member> add(const GraphNode&, const Board&) override { return std::make_unique<FloorMember>(*this); }

 private:
  class FloorMember final : public Member {
   public:
    explicit FloorMember(FloorEngine& engine) : engine_(engine) {}
    void subscribe(const Subscription& subscription, Tally& tally) override { engine_.addresses_[subscription.index] = &tally; }
    std::unique_ptr<Outlet> advertise(const Publication& publication) override {
      std::unique_ptr<Outlet> outlet;
      with_type(publication.type,
                [&]<class T>() { outlet = std::make_unique<FloorOutlet<T>>(engine_.mailbox_, publication, engine_.addresses_); });
      return outlet;
    }
    bool connected() const override { return true; }
    void every(std::int64_t period, std::function<void()> tick) override {
      engine_.reactor_.every(now_ns() + period, period, std::move(tick));
    }

   private:
    FloorEngine& engine_;
  };

  Addresses addresses_;
  Mailbox mailbox_;
  Reactor reactor_{[this] { mailbox_.deliver(); }};
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](bool) -> std::unique_ptr<Engine> { return std::make_unique<FloorEngine>(); });
}
