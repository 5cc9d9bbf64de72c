#include "session/node/counter_reader.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <tuple>
#include <utility>

#include "base/log.hpp"
#include "session/counters.hpp"
#include "session/node/node_session.hpp"
#include "shm/counters.hpp"

namespace sinew::session {
namespace {

static_assert(std::tuple_size_v<decltype(DomainPairCounts::latency)> == shm::latency_buckets);

std::uint64_t count(const shm::Word64& word) noexcept {
  return word.load(std::memory_order_relaxed);  // relaxed: nothing is decided by them
}

const shm::CounterHeader& header_of(const os::Mapping& file) noexcept {
  return *std::launder(reinterpret_cast<const shm::CounterHeader*>(file.data()));
}

const shm::CounterSlot* slots_of(const os::Mapping& file) noexcept {
  return std::launder(reinterpret_cast<const shm::CounterSlot*>(file.data() + sizeof(shm::CounterHeader)));
}

// How many slots a peer's file has: what it says, as far as they fit; none where it is of another version.
std::uint32_t slots_of_peer(const os::Mapping& file) noexcept {
  const shm::CounterHeader& header = header_of(file);
  if (header.version.load(std::memory_order_acquire) != shm::layout_version) return 0;  // sync: COUNTERS_READY (with add_file_locked)
  return std::min(header.slots, slots_of_counter_file(file.size()));
}

DomainPublisherCounts counts_of(std::uint64_t publisher, std::uint64_t identity, const shm::PublisherCounts& counted) noexcept {
  return {.publisher = publisher,
          .identity = identity,
          .messages = count(counted.messages),
          .bytes = count(counted.bytes),
          .bytes_copied = count(counted.bytes_copied),
          .bytes_exported = count(counted.bytes_exported),
          .refused = count(counted.refused),
          .withdrawn = count(counted.withdrawn),
          .newest = static_cast<std::int64_t>(count(counted.newest))};
}

DomainPairCounts counts_of(std::uint64_t publisher, std::uint64_t subscriber, const shm::PairCounts& counted) noexcept {
  DomainPairCounts counts{.publisher = publisher,
                          .subscriber = subscriber,
                          .messages = count(counted.messages),
                          .missed = count(counted.missed),
                          .withdrawn = count(counted.withdrawn),
                          .expired = count(counted.expired),
                          .skipped = count(counted.skipped),
                          .over_quota = count(counted.over_quota),
                          .bytes_copied = count(counted.bytes_copied),
                          .held = static_cast<std::uint64_t>(std::popcount(count(counted.held[0])) + std::popcount(count(counted.held[1]))),
                          .latency_total = count(counted.latency_total)};
  // relaxed: likewise
  std::ranges::transform(counted.latency, counts.latency.begin(),
                         [](const shm::Word32& word) { return word.load(std::memory_order_relaxed); });
  return counts;
}

}  // namespace

std::shared_ptr<CounterReader> CounterReader::create(const std::shared_ptr<NodeSession>& session) {
  const std::shared_ptr<CounterReader> reader(new CounterReader(session));
  reader->watch_ = session->watch_counters([weak = std::weak_ptr(reader)](const ToldDomain& told) {
    if (const auto alive = weak.lock()) alive->apply(told);
  });
  return reader;
}

// The handler may be what lets go of this last.
CounterReader::~CounterReader() {
  if (watch_) session_->remove(watch_);
}

void CounterReader::apply(const ToldDomain& told) {
  const std::lock_guard lock(mutex_);
  if (told.update.anew) {
    files_.clear();
    holders_.clear();
    identities_.clear();
  }
  for (const ToldDomain::Identity& each : told.identities) {
    if (each.identity != 0) came_locked(each);
  }
  for (const std::uint64_t id : told.update.gone) {
    files_.erase(id);
    gone_locked(id);
  }
  for (const ToldDomain::CounterFile& told_file : told.counters) {
    if (!told_file.file || told_file.size > counter_file_size(most_counter_files - 1)) continue;
    const Attached attached = attach_mapping(told_file.file, told_file.size);
    const std::uint32_t slots = attached.mapping ? slots_of_peer(*attached.mapping) : 0;
    if (slots > 0) {
      files_[told_file.id] = {told_file.node, attached.mapping, slots};
    } else {
      base::log(base::LogLevel::warn,
                "the counters of a node cannot be read: " + (attached.mapping ? "they are of another version of sinew" : attached.why));
    }
  }
}

// The next one that has an identity stands before the one before it has gone: of an interface that is registered once more (W88), and where a node is back before it is told of as gone (W80).
void CounterReader::came_locked(const ToldDomain::Identity& told) {
  std::vector<Holder>& holders = holders_[told.identity];
  if (const auto holder = std::ranges::find(holders, told.node, &Holder::node); holder != holders.end()) {
    holder->endpoints.insert(told.endpoint);
  } else {
    holders.push_back({told.node, {told.endpoint}});
  }
  identities_[told.endpoint] = told.identity;
}

void CounterReader::gone_locked(std::uint64_t endpoint) {
  const auto known = identities_.extract(endpoint);
  if (!known) return;
  const auto found = holders_.find(known.mapped());
  for (Holder& holder : found->second) holder.endpoints.erase(endpoint);
  std::erase_if(found->second, [](const Holder& holder) { return holder.endpoints.empty(); });
  if (found->second.empty()) holders_.erase(found);
}

// Whoever takes that of another has nothing of it as long as that stands.
std::optional<CounterReader::Endpoint> CounterReader::find_locked(std::uint64_t identity) const {
  const auto found = holders_.find(identity);
  if (found == holders_.end() || found->second.empty()) return std::nullopt;
  const Holder& first = found->second.front();
  return Endpoint{*first.endpoints.begin(), first.node};
}

// A node speaks for its own endpoints alone, whatever its file says.
void CounterReader::read_locked(const File& file, DomainCounts& into) const {
  const shm::CounterSlot* const slots = slots_of(*file.mapping);
  for (std::uint32_t n = 0; n < file.slots; ++n) {
    DomainPublisherCounts published;
    DomainPairCounts taken;
    const bool stands = shm::look(slots[n], [&](shm::Counted what, std::uint64_t identity, std::uint64_t publisher) {
      const std::optional<Endpoint> own = find_locked(identity);
      if (!own || own->node != file.node) return;
      if (what == shm::Counted::publisher) {
        published = counts_of(own->id, identity, slots[n].published);
      } else if (const std::optional<Endpoint> peer = find_locked(publisher)) {
        taken = counts_of(peer->id, own->id, slots[n].taken);
        taken.publisher_identity = publisher;
        taken.subscriber_identity = identity;
      }
    });
    if (stands && published.publisher != 0) into.publishers.push_back(published);
    if (stands && taken.publisher != 0) into.pairs.push_back(taken);
  }
}

DomainCounts CounterReader::read() const {
  DomainCounts counts;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, file] : files_) read_locked(file, counts);
  }
  std::ranges::sort(counts.publishers, {}, &DomainPublisherCounts::publisher);
  std::ranges::sort(counts.pairs, {}, [](const DomainPairCounts& pair) { return std::pair(pair.publisher, pair.subscriber); });
  return counts;
}

}  // namespace sinew::session
