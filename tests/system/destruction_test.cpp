// Everything may be destroyed at any time, by any thread, in any callback; what is gone calls nobody.
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <mutex>
#include <thread>

#include "tests/system/belongings.hpp"
#include "tests/system/destruction.hpp"

namespace sinew::system {
namespace {

using namespace std::chrono_literals;

class Destruction : public Domain {};

/// Nodes that share executors or have their own, and whatever they have made. Callbacks know it; it outlives all of them.
class World {
 public:
  explicit World(std::uint64_t seed) : seed_(seed) {}

  /// What anybody does at any moment; `place`: of the callback that calls.
  void act(Random& random, Place place) {
    const std::uint64_t choice = random() % 256;
    if (choice < 1) return destroy(homes_, random, place);
    if (choice < 8) return destroy(things_, random, place);
    if (choice < 12) return destroy_caller(place);
    if (choice < 24) return make_home(random, place);
    if (choice < 56) return make_thing(random, place);
    use(random, place);
  }

  /// The thread of those that have none.
  void spin() {
    while (!over_) spun_->spin();
  }
  void dispatch() {
    while (!over_) {
      pollfd waiting{dispatched_->fd(), POLLIN, 0};
      ::poll(&waiting, 1, 10);
      dispatched_->dispatch();
    }
  }
  void end_callers() {
    over_ = true;
    spun_->stop();
  }
  bool is_over() const { return over_; }

  void destroy_something(Random& random) {
    destroy(homes_, random, outside);
    destroy(things_, random, outside);
  }
  void destroy_all() {
    for (auto& slot : things_) exchange(slot, {}, outside);
    for (auto& slot : homes_) exchange(slot, {}, outside);
    const std::lock_guard lock(mutex_);
    held_.clear();
  }

 private:
  /// Null when nothing is there that a callback of this place may wait for.
  template <class T>
  std::shared_ptr<T> look(const std::shared_ptr<T>& slot, Place place) {
    const std::lock_guard lock(mutex_);
    return slot && slot->place >= place ? slot : nullptr;
  }
  bool is_taken(const std::shared_ptr<Home>& slot) {
    const std::lock_guard lock(mutex_);
    return slot != nullptr;
  }
  /// What was there is destroyed, if it may be, else what was to take its place: by whoever has it last, and without the lock.
  template <class T>
  void exchange(std::shared_ptr<T>& slot, std::shared_ptr<T> now, Place place) {
    std::shared_ptr<T> goes = std::move(now);
    const std::lock_guard lock(mutex_);
    if (!slot || slot->place >= place) slot.swap(goes);
  }
  template <class Slots>
  void destroy(Slots& slots, Random& random, Place place) {
    exchange(slots[random() % slots.size()], {}, place);
  }

  /// Whose callback this is.
  void destroy_caller(Place place) {
    const auto is_caller = [](const auto& thing) { return thing && Call::is_innermost(thing->cell.get()); };
    std::shared_ptr<Thing>* found = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto it = std::ranges::find_if(things_, is_caller);
      if (it != things_.end()) found = &*it;
    }
    if (found) exchange(*found, {}, place);
  }

  void make_home(Random& random, Place place) {
    auto& slot = homes_[random() % homes_.size()];
    if (is_taken(slot) && random() % 16 != 0) return;
    std::uint64_t number = random() % 4;
    std::shared_ptr<Executor> executor;
    switch (number) {
      case 1:
        executor = spun_;
        break;
      case 2:
        executor = dispatched_;
        break;
      case 3:
        executor = shared_;
        break;
      default:
        number = ++executors_;
    }
    const Place where{number, 0};
    if (where < place) return;
    auto node = Node::create("node" + std::to_string(++nodes_), {.executor = std::move(executor)});
    exchange(slot, std::make_shared<Home>(where, std::move(node)), place);
  }

  void make_thing(Random& random, Place place) {
    const auto home = look(homes_[random() % homes_.size()], place);
    if (!home) return;
    const auto id = static_cast<ThreadId>(random() % 4);
    auto thing = std::make_shared<Thing>(Place{home->place.first, id}, std::make_shared<Cell>(seed_ + ++cells_));
    if (random() % 2 == 0) {
      make_service(*home, thing, random);
      return exchange(things_[random() % things_.size()], std::move(thing), place);
    }
    {
      const std::lock_guard lock(home->mutex);
      home->cells.push_back(thing->cell);
    }
    switch (random() % 8) {
      case 0:
      case 1:
        make_publisher(*home->node, *thing, random);
        break;
      case 2:
        make_watch(*home->node, *thing, random, place);
        break;
      case 3:
        thing->timer = home->node->create_timer(std::chrono::microseconds(100 + random() % 2000), callback(*thing, random, place),
                                                {.execution_thread = id});
        break;
      default:
        make_subscriber(*home->node, *thing, random);
    }
    exchange(things_[random() % things_.size()], std::move(thing), place);
  }

  void make_service(Home& home, const std::shared_ptr<Thing>& thing, Random& random) {
    {
      const std::lock_guard lock(home.mutex);
      home.cells.push_back(thing->cell);  // first: it may be called while it is made
    }
    if (services_.make(*home.node, *thing, random)) return;
    const std::lock_guard lock(home.mutex);
    std::erase(home.cells, thing->cell);
  }

  /// Some keep something else, which ends with them.
  std::function<void()> callback(const Thing& of, Random& random, Place place) {
    std::shared_ptr<Thing> kept = random() % 4 == 0 ? look(things_[random() % things_.size()], std::max(of.place, place)) : nullptr;
    return [this, cell = of.cell, place = of.place, kept = std::move(kept)] {
      const Call call(*cell);
      act(cell->random, place);
    };
  }

  template <class Events>
  void add_handlers(Events& events, const Thing& thing, Random& random) {
    const auto handler = [this, cell = thing.cell, place = thing.place](const auto&) {
      const Call call(*cell);
      act(cell->random, place);
    };
    if (random() % 2 == 0) events.matched = handler;
    if (random() % 2 == 0) events.deadline_missed = handler;
    if constexpr (requires { events.message_lost; }) {
      if (random() % 2 == 0) events.message_lost = handler;
      if (random() % 2 == 0) events.liveliness_changed = handler;
    }
  }

  void make_watch(Node& node, Thing& thing, Random& random, Place place) {
    const auto told = [call = callback(thing, random, place)](const DomainUpdate&) { call(); };
    try {
      thing.watch = node.watch_domain(told, {.execution_thread = thing.place.second});
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::exhausted) throw;  // there are enough of them
    }
  }

  static Qos some_qos(Random& random, bool of_publisher) {
    Qos qos = Qos{}.keep_last(1 + static_cast<std::uint32_t>(random() % 30));
    if (of_publisher || random() % 2 == 0) qos.deadline(std::chrono::milliseconds(of_publisher ? 2 : 3));
    if (of_publisher || random() % 4 == 0) qos.transient_local();
    return qos;
  }

  void make_publisher(Node& node, Thing& thing, Random& random) {
    PublisherOptions options{.execution_thread = thing.place.second};
    add_handlers(options.events, thing, random);
    thing.publisher = node.create_publisher<Sample>(one_of_the_topics(random), some_qos(random, true), options);
  }

  void make_subscriber(Node& node, Thing& thing, Random& random) {
    constexpr std::optional<Delivery> deliveries[] = {std::nullopt,     Delivery::pointer, Delivery::native,
                                                      Delivery::native, Delivery::view,    Delivery::copy};
    SubscriberOptions options{.execution_thread = thing.place.second, .delivery = deliveries[random() % std::size(deliveries)]};
    add_handlers(options.events, thing, random);
    const Qos qos = some_qos(random, false);
    const std::string topic = one_of_the_topics(random);
    const auto receive = [this, cell = thing.cell, place = thing.place](const Sample& sample) {
      const Call call(*cell);
      not_whole += !is_whole(sample);
      act(cell->random, place);
      not_whole += !is_whole(sample);
    };
    switch (random() % 4) {
      case 0:
        thing.is_asked = true;
        thing.subscriber = node.create_subscriber<Sample>(topic, qos, options);
        return;
      case 1:
        thing.subscriber = node.create_subscriber<Sample>(topic, receive, qos, options);
        return;
      case 2:
        thing.subscriber =
            node.create_subscriber<Sample>(topic, [receive](std::unique_ptr<Sample> sample) { receive(*sample); }, qos, options);
        return;
      default:
        thing.subscriber = node.create_subscriber<Sample>(
            topic,
            [this, receive](std::shared_ptr<const Sample> sample) {
              receive(*sample);
              hold(std::move(sample));
            },
            qos, options);
    }
  }

  /// For some time, whatever becomes of who has published and received it.
  void hold(std::shared_ptr<const Sample> sample) {
    const std::lock_guard lock(mutex_);
    held_.resize(20);
    held_[++holds_ % held_.size()].swap(sample);
  }

  void use(Random& random, Place place) {
    const auto thing = look(things_[random() % things_.size()], place);
    if (!thing) return;
    if (thing->publisher) return publish(*thing->publisher, random);
    if (services_.use(*thing, random, place)) return;
    if (thing->timer && random() % 4 == 0) return random() % 2 == 0 ? thing->timer->cancel() : thing->timer->reset();
    if (!thing->is_asked) return;
    auto sample = place == outside ? thing->subscriber->take(1ms) : thing->subscriber->take();
    if (!sample) return;
    not_whole += !is_whole(*sample);
    hold(std::move(sample));
  }

  static void publish(Publisher<Sample>& publisher, Random& random) {
    const std::uint64_t number = random() % 1000;
    const std::size_t size = random() % 16 == 0 ? 200'000 : random() % 3000;
    switch (random() % 3) {
      case 0:
        publisher.publish(sample_of(1, number, size));
        return;
      case 1:
        publisher.publish(std::make_unique<Sample>(sample_of(1, number, size)));
        return;
      default:
        publish_in_place(publisher, 1, number, size);
    }
  }

  const std::uint64_t seed_;
  const std::shared_ptr<Executor> spun_ = Executor::create({.by_caller = true}), dispatched_ = Executor::create({.by_caller = true}),
                                  shared_ = Executor::create();
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> executors_{3}, nodes_{0}, cells_{0};

  RandomServices services_{[this](Random& random, Place place) { act(random, place); }, [this] { return Place{++executors_, 0}; }};

  std::mutex mutex_;
  std::array<std::shared_ptr<Home>, 4> homes_;
  std::array<std::shared_ptr<Thing>, 24> things_;
  std::vector<std::shared_ptr<const Sample>> held_;
  std::size_t holds_ = 0;
};

/// One thread that does something again and again, known to have ended.
class Worker {
 public:
  template <class Work>
  explicit Worker(Work work)
      : thread_([this, work] {
          work();
          ended_ = true;
        }) {}
  ~Worker() { thread_.join(); }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  bool has_ended() const { return ended_; }

 private:
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

/// Who hangs cannot be joined.
void await_or_abort(const std::string& what, const std::function<bool()>& condition) {
  if (eventually(condition)) return;
  std::cerr << what << '\n';
  std::abort();
}

void run_round(std::uint64_t seed, std::chrono::milliseconds duration) {
  const std::string trace = "seed " + std::to_string(seed);
  SCOPED_TRACE(trace);
  Random random(seed);
  const bool callers_go_first = random() % 2 == 0;  // nobody dispatches what is destroyed later
  {
    World world(seed);
    std::atomic<bool> over{false};
    std::vector<std::unique_ptr<Worker>> callers, workers;
    callers.push_back(std::make_unique<Worker>([&] { world.spin(); }));
    callers.push_back(std::make_unique<Worker>([&] { world.dispatch(); }));
    for (std::uint64_t i = 0; i < 3; ++i) {
      workers.push_back(std::make_unique<Worker>([&, seed, i] {
        Random own(seed * 10 + i);
        while (!over) world.act(own, outside);
        for (int n = 0; n < 20; ++n) world.destroy_something(own);
      }));
    }
    std::this_thread::sleep_for(duration);
    const auto have_ended = [](const auto& all) { return std::ranges::all_of(all, [](const auto& each) { return each->has_ended(); }); };
    if (callers_go_first) world.end_callers();
    over = true;
    await_or_abort("threads hang, " + trace, [&] { return have_ended(workers); });
    world.end_callers();
    await_or_abort("callers hang, " + trace, [&] { return have_ended(callers); });
    const auto is_still = [&] {
      world.destroy_all();  // callbacks have made more
      return inside == 0;
    };
    for (int still = 0; still < 3; still += is_still() ? 1 : 0) std::this_thread::sleep_for(1ms);
  }
  EXPECT_EQ(called_when_gone, 0) << "a callback ran after the destructor had returned";
  EXPECT_EQ(running_when_gone, 0) << "a callback was running when the destructor returned";
  EXPECT_EQ(not_whole, 0);
}

ROLE(ceaseless_publisher) {
  auto node = Node::create("elsewhere");
  auto one = node->create_publisher<Sample>("topic"), two = node->create_publisher<Sample>("other");
  std::atomic<bool> over{false};
  std::thread publishing([&] {
    for (std::uint64_t number = 0; !over; ++number) {
      publish_in_place(number % 2 == 0 ? *one : *two, 2, number, number % 100 == 0 ? 200'000 : 1000);
      std::this_thread::sleep_for(100us);
    }
  });
  until_finished();
  over = true;
  publishing.join();
}

TEST_F(Destruction, AnythingMayBeDestroyedAtAnyTimeByAnyThreadAndCallsNobodyAfterwards) {
  Child elsewhere("ceaseless_publisher");
  run_round(1, 100ms);
  std::thread([] {}).join();  // with the first one, the thread sanitizer starts one of its own
  const Belongings before = settled(Belongings::now);
  const auto end = std::chrono::steady_clock::now() + soak();
  const auto goes_on = [&, now = [] { return std::chrono::steady_clock::now(); }] {
    return now() < end ||
           ((answers == 0 || results == 0) && now() < end + 60s);  // which is not often enough on a machine that stands still
  };
  for (std::uint64_t seed = 2; !HasFailure() && goes_on(); ++seed) {
    run_round(seed, 200ms);
    const auto nothing_is_left = [&] { return Belongings::now() == before; };
    EXPECT_TRUE(eventually(nothing_is_left)) << "seed " << seed << ": left of " << before << ": " << Belongings::now();
  }
  elsewhere.end();
  EXPECT_GT(ended_by_themselves, 0U);
  EXPECT_GT(ended_by_others, 0U);
  EXPECT_GT(answers, 0U);
  EXPECT_GT(results, 0U);
  std::cout << callbacks << " callbacks, " << answers << " answers, " << results << " results of goals, " << nodes_ended << " nodes, "
            << ended_by_themselves << " and " << ended_by_others << " interfaces ended by themselves and by others\n";
}

}  // namespace
}  // namespace sinew::system
