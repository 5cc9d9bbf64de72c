// sinew-bench-graph-floor: nodes of a graph in one process whose messages go from thread to thread by pointer, with the least that this takes.
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "messages.hpp"
#include "worker.hpp"

namespace sinew::bench::graphs {

namespace {

/// A message on its way to one subscription; without one, the last of all.
struct Letter {
  std::shared_ptr<const void> message;
  void (*call_back)(const void* message, Tally& tally) = nullptr;
  Tally* tally = nullptr;
};

/// What a node has yet to be called with, and the thread that calls. It is woken once for all letters that have come before it looks.
class Mailbox {
 public:
  Mailbox() : thread_([this] { run(); }) {}
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  ~Mailbox() {
    post({});
    thread_.join();
    close(event_);
  }

  void post(Letter letter) {
    bool wake;
    {
      const std::lock_guard lock(mutex_);
      wake = letters_.empty();
      letters_.push_back(std::move(letter));
    }
    const std::uint64_t one = 1;
    if (wake && write(event_, &one, sizeof one) != sizeof one) std::abort();
  }

 private:
  static int make_event() {
    const int event = eventfd(0, EFD_CLOEXEC);
    if (event < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
    return event;
  }

  void run() {
    std::vector<Letter> taken;
    for (;;) {
      std::uint64_t rung = 0;
      if (read(event_, &rung, sizeof rung) < 0) continue;
      {
        const std::lock_guard lock(mutex_);
        taken.swap(letters_);
      }
      for (const Letter& letter : taken) {
        if (!letter.message) return;
        letter.call_back(letter.message.get(), *letter.tally);
      }
      taken.clear();
    }
  }

  const int event_ = make_event();
  std::mutex mutex_;
  std::vector<Letter> letters_;
  std::thread thread_;  // last: it uses all of the above
};

struct Address {
  Mailbox* mailbox;
  Tally* tally;
};

/// Of all subscriptions of the process. Complete before the first publisher is made.
std::map<unsigned, Address>& addresses() {
  static std::map<unsigned, Address> all;
  return all;
}

template <class T>
class FloorOutlet final : public Outlet {
 public:
  explicit FloorOutlet(const Publication& publication) : publication_(publication) {
    for (const unsigned index : publication.subscriptions) addresses_.push_back(addresses().at(index));
  }
  std::int64_t publish(std::uint32_t number) override {
    auto message = std::make_unique_for_overwrite<T>();
    const std::int64_t stamp = fill(*message, publication_, number);
    const std::shared_ptr<const T> shared(std::move(message));
    for (const Address& each : addresses_) each.mailbox->post({shared, call_back, each.tally});
    return stamp;
  }

 private:
  static void call_back(const void* object, Tally& tally) {
    const std::int64_t now = now_ns();
    const T& message = *static_cast<const T*>(object);
    tally.add(now, stamp_of(message.header), is_whole(message));
  }

  const Publication& publication_;
  std::vector<Address> addresses_;
};

class FloorMember final : public Member {
 public:
  void subscribe(const Subscription& subscription, Tally& tally) override { addresses()[subscription.index] = {&mailbox_, &tally}; }
  std::unique_ptr<Outlet> advertise(const Publication& publication) override {
    std::unique_ptr<Outlet> outlet;
    with_type(publication.type, [&]<class T>() { outlet = std::make_unique<FloorOutlet<T>>(publication); });
    return outlet;
  }
  bool connected() const override { return true; }

 private:
  Mailbox mailbox_;
};

}  // namespace
}  // namespace sinew::bench::graphs

int main(int argc, char** argv) {
  using namespace sinew::bench::graphs;
  return run_worker(argc, argv, [](const GraphNode&, const Board&) -> std::unique_ptr<Member> { return std::make_unique<FloorMember>(); });
}
