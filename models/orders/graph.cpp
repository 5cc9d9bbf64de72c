#include "graph.hpp"

#include <algorithm>
#include <stdexcept>

namespace checked {

namespace {

constexpr auto acquire = std::memory_order_acquire, release = std::memory_order_release, acq_rel = std::memory_order_acq_rel,
               seq_cst = std::memory_order_seq_cst;

using Events = Graph::Events;
/// Of each event those to which it is related.
using Relation = std::vector<Events>;

template <class Visit>
void for_each(const Events& events, Visit visit) {
  for (std::size_t i = events._Find_first(); i < events.size(); i = events._Find_next(i)) visit(i);
}

Events image(const Events& of, const Relation& relation) {
  Events all;
  for_each(of, [&](std::size_t i) { all |= relation[i]; });
  return all;
}

bool has_cycle(const Relation& relation, const Events& among) {
  Relation reached = relation;
  for_each(among, [&](std::size_t over) {
    for_each(among, [&](std::size_t from) {
      if (reached[from][over]) reached[from] |= reached[over];
    });
  });
  bool found = false;
  for_each(among, [&](std::size_t i) { found = found || reached[i][i]; });
  return found;
}

}  // namespace

std::uint64_t Step::changed(std::uint64_t value) const {
  switch (change) {
    case Change::add:
      return value + operand;
    case Change::clear:
      return value & operand;
    case Change::set:
      return value | operand;
    default:
      return operand;
  }
}

bool Step::acquires() const {
  return !is_plain() && kind != Kind::store && (order == acquire || order == acq_rel || order == seq_cst);
}

bool Step::releases() const {
  return !is_plain() && kind != Kind::load && (order == release || order == acq_rel || order == seq_cst);
}

std::vector<Graph> Graph::after(std::size_t thread, const Step& step) const {
  std::vector<Graph> all;
  const auto add = [&](int from, std::size_t place_in_order) {
    if (auto next = with(thread, step, from, place_in_order)) all.push_back(std::move(*next));
  };
  if (!step.reads_word() && !step.writes_word()) {
    add(initial, 0);
    return all;
  }
  const auto found = orders_.find(step.place);
  const Order order = found == orders_.end() ? Order{} : found->second;
  const auto is_change = [&](std::size_t i) {
    return i < order.size() && events_[static_cast<std::size_t>(order[i])].step.kind == Step::Kind::change;
  };
  // `i` stores come before it; what it reads is the last of them. Between a change and the store that it has changed nothing comes.
  for (std::size_t i = earliest(order, step.place, threads_[thread].before); i <= order.size(); ++i) {
    if (step.writes_word() && is_change(i)) continue;
    const int last = i == 0 ? initial : order[i - 1];
    const std::uint64_t value = last == initial ? step.initial : events_[static_cast<std::size_t>(last)].value;
    if (step.waits && value == 0) continue;
    add(step.reads_word() ? last : initial, i);
  }
  return all;
}

// How many of a word's stores come before whatever happens after `before`: coherence.
std::size_t Graph::earliest(const Order& order, const void* place, const Events& before) const {
  const auto position = [&](int event) { return static_cast<std::size_t>(std::ranges::find(order, event) - order.begin()) + 1; };
  std::size_t count = 0;
  for_each(before, [&](std::size_t i) {
    const Event& event = events_[i];
    if (event.step.place != place) return;
    if (event.step.writes_word()) count = std::max(count, position(static_cast<int>(i)));
    if (event.step.reads_word() && event.from != initial) count = std::max(count, position(event.from));
  });
  return count;
}

std::optional<Graph> Graph::with(std::size_t thread, const Step& step, int from, std::size_t place_in_order) const {
  if (events_.size() == most_events) throw std::length_error("a trial has more steps than a graph has room for");
  Graph next = *this;
  const std::size_t number = events_.size();
  Thread& own = next.threads_[thread];
  Event event{.step = step, .thread = thread, .index = own.events.size(), .from = from, .before = own.before};

  std::uint64_t result = 0;
  if (step.reads_word()) {
    result = from == initial ? step.initial : events_[static_cast<std::size_t>(from)].value;
    if (from != initial) {
      const Events& carried = events_[static_cast<std::size_t>(from)].carried;
      if (step.acquires()) event.before |= carried;
      own.pending |= carried;
      if (step.kind == Step::Kind::change) event.carried = carried;
    }
  }
  if (step.kind == Step::Kind::fence && step.acquires()) event.before |= own.pending;
  Events up_to_it = event.before;
  up_to_it.set(number);
  if (step.kind == Step::Kind::fence && step.releases()) own.fenced = up_to_it;
  if (step.writes_word()) {
    event.value = step.kind == Step::Kind::change ? step.changed(result) : step.operand;
    event.carried |= step.releases() ? up_to_it : own.fenced;
    Order& order = next.orders_[step.place];
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place_in_order), static_cast<int>(number));
  }
  if (step.kind == Step::Kind::write) event.value = step.operand;
  if (step.is_plain()) {
    next.look_for_races(event);
    if (step.kind == Step::Kind::read) {  // without a race the last one is the only one that it can see
      const auto last = std::ranges::find_if(events_.rbegin(), events_.rend(), [&](const Event& other) {
        return other.step.place == step.place && other.step.kind == Step::Kind::write;
      });
      result = last == events_.rend() ? step.initial : last->value;
    }
  }
  own.before = up_to_it;
  own.results.push_back(result);
  own.events.push_back(static_cast<int>(number));
  next.events_.push_back(event);
  if (step.is_plain() || next.is_consistent()) return next;
  return std::nullopt;
}

void Graph::look_for_races(const Event& event) {
  for (std::size_t i = 0; i < events_.size(); ++i) {
    const Step& other = events_[i].step;
    if (other.place != event.step.place || event.before[i]) continue;
    if (event.step.kind == Step::Kind::write || other.kind == Step::Kind::write) {
      race_ = "threads " + std::to_string(events_[i].thread) + " and " + std::to_string(event.thread) + " race for the same memory";
    }
  }
}

// Whether there can be one order of all sequentially consistent events (psc in the paper has no cycle). All else holds by how events are added.
bool Graph::is_consistent() const {
  const std::size_t count = events_.size();
  Events sc, fences;
  for (std::size_t i = 0; i < count; ++i) {
    if (!events_[i].step.is_sc()) continue;
    sc.set(i);
    if (events_[i].step.kind == Step::Kind::fence) fences.set(i);
  }
  if (sc.count() < 2) return true;

  Relation elsewhere(count), happens(count), same(count), order(count), reads_before(count), read_by(count);
  for (std::size_t b = 0; b < count; ++b) {
    const Event& later = events_[b];
    for_each(later.before, [&](std::size_t a) {
      const Event& earlier = events_[a];
      happens[a].set(b);
      const bool is_same = earlier.step.place != nullptr && earlier.step.place == later.step.place;
      if (is_same) same[a].set(b);
      if (earlier.thread == later.thread && !is_same) elsewhere[a].set(b);
    });
    if (later.step.reads_word() && later.from != initial) read_by[static_cast<std::size_t>(later.from)].set(b);
  }
  for (const auto& [place, stores] : orders_) {
    Events rest;
    for (auto store = stores.rbegin(); store != stores.rend(); ++store) {
      const auto i = static_cast<std::size_t>(*store);
      order[i] = rest;
      for_each(read_by[i], [&](std::size_t reader) { reads_before[reader] |= rest; });
      rest.set(i);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Event& event = events_[i];
      if (event.step.place == place && event.step.reads_word() && event.from == initial) reads_before[i] |= rest;
    }
  }
  for (std::size_t i = 0; i < count; ++i) reads_before[i].reset(i);  // a change does not come before its own store

  Relation scb(count);
  for (std::size_t a = 0; a < count; ++a) {
    scb[a] = same[a] | order[a] | reads_before[a] | image(image(elsewhere[a], happens), elsewhere);
    for_each(happens[a], [&](std::size_t b) {
      if (events_[a].thread == events_[b].thread) scb[a].set(b);
    });
  }
  Relation psc(count);
  for_each(sc, [&](std::size_t a) {
    Events start;
    start.set(a);
    if (fences[a]) start |= happens[a];
    const Events reached = image(start, scb);
    psc[a] = reached & sc;
    Events over_fences;
    if (fences[a]) {
      const Events one = image(happens[a], read_by) | image(happens[a], order) | image(happens[a], reads_before);
      over_fences = one | image(one, read_by);  // (rf, mo, rb)+ is one of them, and perhaps a read of what it leads to
    }
    for_each(fences, [&](std::size_t b) {
      const Events& before = events_[b].before;
      if ((reached & before).any() || (over_fences & before).any() || (fences[a] && before[a])) psc[a].set(b);
    });
  });
  return !has_cycle(psc, sc);
}

std::string Graph::key() const {
  std::string key;
  const auto add = [&](int event) {
    if (event == initial) {
      key += '\xff';
    } else {
      key += static_cast<char>(events_[static_cast<std::size_t>(event)].thread);
      key += static_cast<char>(events_[static_cast<std::size_t>(event)].index);
    }
  };
  for (const Thread& thread : threads_) {
    for (const int event : thread.events) {
      if (events_[static_cast<std::size_t>(event)].step.reads_word()) add(events_[static_cast<std::size_t>(event)].from);
    }
    key += '|';
    key += static_cast<char>(thread.events.size());
  }
  for (const auto& [place, order] : orders_) {
    for (const int event : order) add(event);
    key += '/';
  }
  return key;
}

}  // namespace checked
