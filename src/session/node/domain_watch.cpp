#include "session/node/domain_watch.hpp"

#include <utility>
#include <variant>

#include "base/call_back.hpp"
#include "session/fork.hpp"
#include "session/node/node_session.hpp"
#include "session/reading.hpp"

namespace sinew::session {
namespace {

DomainQos qos_of(const wire::Qos& qos) {
  return {.depth = qos.depth,
          .reliable = qos.reliable,
          .transient_local = qos.durability == wire::Durability::transient_local,
          .deadline = qos.deadline,
          .lifespan = qos.lifespan,
          .manual_by_topic = qos.liveliness == wire::Liveliness::manual_by_topic,
          .lease = qos.lease};
}

Ghost ghost_of(wire::Ghost ghost) {
  switch (ghost) {
    case wire::Ghost::carrier:
      return Ghost::carrier;
    case wire::Ghost::observer:
      return Ghost::observer;
    case wire::Ghost::no:
      break;
  }
  return Ghost::no;
}

// What one message adds to an update.
void add(ToldDomain& to, const wire::DomainNode& m) {
  to.update.nodes.push_back({m.number, m.name, m.pid, m.uid, m.gid, m.container});
}
void add(ToldDomain& to, const wire::DomainTopic& m) {
  to.update.topics.push_back({m.number, m.name, m.type.name, m.type.signature, m.type.hash});
}
void add(ToldDomain& to, const wire::DomainInterface& m) {
  to.update.endpoints.push_back({m.number, m.node, m.topic, m.publishes, ghost_of(m.ghost), qos_of(m.qos), m.memory});
  to.identities.push_back({m.number, m.node, m.identity});
}
void add(ToldDomain& to, const wire::DomainPair& m) {
  to.update.pairs.push_back({m.publisher, m.subscriber, m.path != wire::Path::none, delivery_of(m.path), m.why});
}
void add(ToldDomain& to, const wire::DomainGone& m) {
  to.update.gone.push_back(m.number);
  if (m.lost) to.update.lost.push_back(m.number);
}
void add(ToldDomain& to, const wire::DomainCounters& m) {
  to.counters.push_back({m.number, m.node, m.size, {}});
}
void add(ToldDomain& to, const wire::DomainBatch& m) {
  to.update.complete = m.complete;
}

template <class M>
concept OfTheState = requires(ToldDomain& told, const M& message) { add(told, message); };

}  // namespace

std::optional<std::uint64_t> DomainWatch::addressee(const wire::Message& message) noexcept {
  return std::visit(
      []<class M>(const M& m) -> std::optional<std::uint64_t> {
        if constexpr (OfTheState<M>) {
          return m.id;
        } else {
          return std::nullopt;
        }
      },
      message);
}

bool DomainWatch::take(Channel::Input& input) {
  const wire::Message& message = input.message;
  if (raised_.load(std::memory_order_seq_cst))  // sync: WATCH_RAISED (with run_some)
    throw Violation("the next batch of the domain's state came before the answer to the one before");
  std::visit(
      [this]<class M>(const M& m) {
        if constexpr (OfTheState<M>) add(collected_, m);
      },
      message);
  // Without room for the file nothing in it is shown.
  if (!input.descriptors.empty()) collected_.counters.back().file = std::move(input.descriptors[0]);
  if (!std::holds_alternative<wire::DomainBatch>(message)) return false;
  if (thread_) {
    raised_.store(true, std::memory_order_seq_cst);  // sync: WATCH_RAISED (with has_news)
    thread_->doorbell().ring();
    return false;
  }
  const ToldDomain told = std::exchange(collected_, {});
  // Without a thread it is the library's own. What that throws ends as all that goes wrong with the manager's messages does.
  if (!handler_.run([&](const Handler& handler) { handler(told); })) return false;
  answer(id());
  return told.update.complete;
}

void DomainWatch::answer(std::uint64_t id) noexcept {
  if (lost_.load(std::memory_order_seq_cst)) {  // sync: WATCH_LOST (with lose)
    // The next batch, of another manager, may be there already: then whoever answers that begins anew.
    if (!raised_.load(std::memory_order_seq_cst)) renew();  // sync: WATCH_RAISED (with run_some)
    return;
  }
  if (const auto session = session_.lock()) session->answer_watch(id);
}

// While a batch waits for the handler, what is lost can only be what came before it.
void DomainWatch::lose() noexcept {
  lost_.store(true, std::memory_order_seq_cst);           // sync: WATCH_LOST (with answer)
  if (!raised_.load(std::memory_order_seq_cst)) renew();  // sync: WATCH_RAISED (with run_some)
}

void DomainWatch::renew() noexcept {
  if (!lost_.exchange(false, std::memory_order_seq_cst)) return;  // sync: WATCH_LOST (with lose)
  if (const auto session = session_.lock()) session->renew(*this);
}

void DomainWatch::begin(std::uint64_t id) noexcept {
  id_.store(id, std::memory_order_relaxed);
  collected_ = {.update = {.anew = true}};
}

bool DomainWatch::run_some(const Turn&) {
  if (!has_news()) return false;
  std::uint64_t id = 0;
  const bool goes_on = handler_.run([&](const Handler& handler) {
    const ToldDomain told = std::exchange(collected_, {});
    id = this->id();                                  // it may begin anew meanwhile, which is not what is answered
    raised_.store(false, std::memory_order_seq_cst);  // sync: WATCH_RAISED (with lose, take)
    base::call_back(handler, told);
  });
  if (goes_on) answer(id);
  return false;
}

}  // namespace sinew::session
