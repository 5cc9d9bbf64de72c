// sinew-bench-graph-floor: nodes of a graph in one process, on one thread, whose messages go by pointer, with the least that this takes.
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "clock.hpp"
#include "messages.hpp"
#include "reactor.hpp"
#include "worker.hpp"

namespace sinew::bench::graphs {

namespace {

/// Receives the messages of one subscription.
class Inlet {
 public:
  virtual ~Inlet() = default;
  virtual void take(const std::shared_ptr<void>& message) = 0;
};

/// A message on its way to one subscription.
struct Letter {
  std::shared_ptr<void> message;
  Inlet* inlet = nullptr;
};

/// What has yet to be called. All of it is the one thread's.
class Mailbox {
 public:
  void post(Letter letter) { letters_.push_back(std::move(letter)); }
  void deliver() {
    for (std::size_t i = 0; i < letters_.size(); ++i) {  // more may be posted meanwhile
      const Letter letter = std::move(letters_[i]);
      letter.inlet->take(letter.message);
    }
    letters_.clear();
  }

 private:
  std::vector<Letter> letters_;
};

/// Of all subscriptions of the process, complete before the first publisher is made.
using Addresses = std::map<unsigned, Inlet*>;

template <class T>
class FloorOutlet final : public Outlet {
 public:
  FloorOutlet(Mailbox& mailbox, const Publication& publication, const Addresses& addresses) : mailbox_(mailbox), publication_(publication) {
    for (const unsigned index : publication.subscriptions) addresses_.push_back(addresses.at(index));
  }
  std::int64_t publish(std::uint32_t number) override {
    auto message = std::make_unique_for_overwrite<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    post(std::shared_ptr<void>(std::move(message)));
    return stamp;
  }
  void post(const std::shared_ptr<void>& message) {
    for (Inlet* const each : addresses_) mailbox_.post({message, each});
  }

 private:
  Mailbox& mailbox_;
  const Publication& publication_;
  std::vector<Inlet*> addresses_;
};

template <class T>
class FloorInlet final : public Inlet {
 public:
  explicit FloorInlet(Tally& tally) : tally_(tally) {}
  void take(const std::shared_ptr<void>& message) override { take_down(*static_cast<const T*>(message.get()), tally_); }

 private:
  Tally& tally_;
};

/// Changes an image, which nobody else has, where it is.
class FloorRelay final : public Inlet {
 public:
  FloorRelay(Mailbox& mailbox, const Publication& publication, const Addresses& addresses, Tally& tally)
      : mailbox_(mailbox), publication_(publication), addresses_(addresses), tally_(tally) {}
  void take(const std::shared_ptr<void>& message) override {
    Image& image = *static_cast<Image*>(message.get());
    take_down(image, tally_);
    draw_mark(image);
    if (!outlet_) outlet_.emplace(mailbox_, publication_, addresses_);
    outlet_->post(message);
  }

 private:
  Mailbox& mailbox_;
  const Publication& publication_;
  const Addresses& addresses_;
  Tally& tally_;
  std::optional<FloorOutlet<Image>> outlet_;  // made when all addresses are there
};

class FloorEngine final : public Engine {
 public:
  std::unique_ptr<Member> add(const GraphNode&, const Board&) override { return std::make_unique<FloorMember>(*this); }

 private:
  class FloorMember final : public Member {
   public:
    explicit FloorMember(FloorEngine& engine) : engine_(engine) {}
    void subscribe(const Subscription& subscription, Tally& tally) override {
      with_type(subscription.type, [&]<class T>() { add(subscription, std::make_unique<FloorInlet<T>>(tally)); });
    }
    void relay(const Subscription& subscription, const Publication& publication, Tally& tally) override {
      add(subscription, std::make_unique<FloorRelay>(engine_.mailbox_, publication, engine_.addresses_, tally));
    }
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
    void add(const Subscription& subscription, std::unique_ptr<Inlet> inlet) {
      engine_.addresses_[subscription.index] = inlets_.emplace_back(std::move(inlet)).get();
    }

    FloorEngine& engine_;
    std::vector<std::unique_ptr<Inlet>> inlets_;
  };

  Addresses addresses_;
  Mailbox mailbox_;
  Reactor reactor_{[this] { mailbox_.deliver(); }};
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](Nodes) -> std::unique_ptr<Engine> { return std::make_unique<FloorEngine>(); });
}
