// The domain's state, as the manager tells it to a node.
#include <algorithm>
#include <memory>
#include <utility>

#include "os/process.hpp"
#include "session/io/trust.hpp"
#include "session/node/node_session.hpp"

namespace sinew::session {

std::shared_ptr<DomainWatch> NodeSession::add_watch(DomainWatch::Handler handler, std::shared_ptr<ExecutionThread> thread,
                                                    bool wants_counters) {
  std::shared_ptr<DomainWatch> watch;  // goes without the locks, with what the user keeps in its handler
  const std::lock_guard one_at_a_time(watching_);
  const std::lock_guard lock(mutex_);
  if (closed_) throw destroyed();
  if (watches_.size() >= most_watches) {
    throw Error(ErrorKind::exhausted, "node '" + name() + "' watches the domain, or asks for its state, " + std::to_string(most_watches) +
                                          " times already: destroy a DomainWatch, or share one");
  }
  watch =
      std::make_shared<DomainWatch>(weak_from_this(), link_.next_id(Kind::watch), std::move(thread), wants_counters, std::move(handler));
  if (watch->thread()) callbacks_.add(watch);
  watches_[watch->id()] = watch;
  return watch;
}

void NodeSession::begin_watch(DomainWatch& watch) {
  const std::lock_guard one_at_a_time(watching_);
  watch.is_wanted = true;
  watch.is_known = link_.send(wire::WatchDomain{watch.id(), watch.wants_counters()});
}

std::shared_ptr<DomainWatch> NodeSession::watch_domain(std::function<void(const DomainUpdate&)> handler, unsigned execution_thread) {
  const auto watch =
      add_watch([handler = std::move(handler)](const ToldDomain& told) { handler(told.update); }, thread(execution_thread), false);
  try {
    watch->thread()->add(watch);
    begin_watch(*watch);
  } catch (...) {
    remove(watch);
    throw;
  }
  return watch;
}

std::shared_ptr<DomainWatch> NodeSession::watch_counters(DomainWatch::Handler handler) {
  const auto watch = add_watch(std::move(handler), nullptr, true);
  try {
    ask({Kind::watch, watch->first_id()}, "WatchDomain", [&] { begin_watch(*watch); }, [](const wire::Message&) {});
  } catch (...) {
    remove(watch);
    throw;
  }
  return watch;
}

DomainState NodeSession::domain_state() {
  // On the loop's thread, which may be in the middle of it when nobody waits any more.
  const auto state = std::make_shared<DomainState>();
  const auto watch = add_watch([state](const ToldDomain& told) { apply(told.update, *state); }, nullptr, false);
  const struct Removal {
    NodeSession& session;
    const std::shared_ptr<DomainWatch>& watch;
    ~Removal() { session.remove(watch); }
  } removal{*this, watch};
  ask({Kind::watch, watch->first_id()}, "WatchDomain", [&] { begin_watch(*watch); }, [](const wire::Message&) {});
  watch->close();  // else it is told of changes
  return std::move(*state);
}

void NodeSession::disconnect(const std::string& other) {
  const DomainState state = domain_state();
  const auto node = std::ranges::find(state.nodes, other, &DomainNode::name);
  if (node == state.nodes.end()) throw Error(ErrorKind::invalid_argument, "there is no node '" + other + "' in the domain");
  if (os::this_user() != 0 && !is_own_user(node->uid) && !link_.is_own()) {
    throw Error(ErrorKind::denied, "node '" + other + "' is user " + std::to_string(node->uid) +
                                       "'s: only that user, the manager's and root may end its connection");
  }
  if (!link_.send(wire::DisconnectNode{other})) {
    throw Error(ErrorKind::disconnected, "node '" + name() + "' has no manager at the moment, and seeks one: try again");
  }
}

void NodeSession::remove(const std::shared_ptr<DomainWatch>& watch) {
  {
    const std::lock_guard one_at_a_time(watching_);
    watch->is_wanted = false;
    if (std::exchange(watch->is_known, false)) link_.tell(wire::UnwatchDomain{watch->id()});
    const std::lock_guard lock(mutex_);
    watches_.erase(watch->id());
  }
  if (watch->thread()) {
    watch->thread()->remove(watch);
  } else {
    answered({Kind::watch, watch->first_id()}, wire::UnwatchDomain{}, refusal_of(ErrorKind::disconnected, [this] {
               return std::string(destroyed().what());
             }));  // where the node is closed meanwhile
  }
  watch->close();
}

void NodeSession::renew(DomainWatch& watch) noexcept {
  const std::lock_guard one_at_a_time(watching_);
  if (!watch.is_wanted) return;  // it is removed
  const std::uint64_t before = watch.id();
  {
    const std::lock_guard lock(mutex_);
    auto known = watches_.extract(before);
    if (known.empty()) return;
    known.key() = link_.next_id(Kind::watch);
    watch.begin(known.key());
    watches_.insert(std::move(known));
  }
  if (watch.is_known) link_.tell(wire::UnwatchDomain{before});
  watch.is_known = link_.tell(wire::WatchDomain{watch.id(), watch.wants_counters()});
}

void NodeSession::watch_anew() noexcept {
  for_each_watch([](DomainWatch& watch) { watch.lose(); });
}

// Without the mutex, which its use may take.
void NodeSession::for_each_watch(void (*use)(DomainWatch&)) noexcept {
  std::uint64_t id = 0, end = 0;  // those that begin anew have ids from here on
  for (;;) {
    std::shared_ptr<DomainWatch> watch;
    {
      const std::lock_guard lock(mutex_);
      if (end == 0) end = link_.last_id(Kind::watch) + 1;
      const auto next = watches_.upper_bound(id);
      if (next == watches_.end() || next->first >= end) return;
      id = next->first;
      watch = next->second.lock();
    }
    if (watch) use(*watch);
  }
}

void NodeSession::on_domain_state(std::uint64_t id, Channel::Input& input) {
  std::shared_ptr<DomainWatch> watch;
  {
    const std::lock_guard lock(mutex_);
    const auto found = watches_.find(id);
    if (found != watches_.end()) watch = found->second.lock();
  }
  if (watch && watch->take(input)) answered({Kind::watch, watch->first_id()}, input.message);
}

void NodeSession::tell_path(std::uint64_t connection, wire::Path path, const char* why) noexcept {
  try {
    link_.send(wire::PathChosen{connection, path, why});
  } catch (const std::exception&) {
    return;  // it is shown as it was
  }
}

}  // namespace sinew::session
