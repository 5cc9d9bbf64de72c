#include "session/mappings.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "base/point.hpp"
#include "session/fork.hpp"
#include "shm/layout.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;

struct Entry {
  std::weak_ptr<const os::Mapping> mapping;
  bool is_being_made = false;
  // The number of `mapping` until it is unmapped, a while after the last who shared it has let go; 0: it is, or somebody else does that.
  std::uint64_t mapped = 0;

  bool is_gone() const noexcept { return !is_being_made && mapped == 0 && mapping.expired(); }
};

constexpr std::size_t fewest = 64;

struct Table {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, Entry> entries;
  std::uint64_t last_mapped = 0;
  std::size_t most = fewest;  // with more than these, those that are gone are dropped
};

// Never destroyed: handles that the program keeps in statics outlive every static of the library.
Table& table() {
  static Table* const instance = new Table;
  return *instance;
}

Key key_of(const os::Fd& fd) {
  const os::FileIdentity identity = os::identity_of(fd);
  return {identity.device, identity.inode};
}

/// A mapping that says when its addresses are free again: unmapping takes a while, and nobody can share it any more then.
class Tracked {
 public:
  Tracked(os::Mapping&& mapping, const Key& key, std::uint64_t number) noexcept
      : mapping_(std::move(mapping)), key_(key), number_(number) {}
  ~Tracked() {
    SINEW_POINT("mappings.unmaps");
    mapping_ = {};
    if (forked()) return;  // whoever had the mutex is not there any more
    Table& all = table();
    const std::lock_guard lock(all.mutex);
    const auto found = all.entries.find(key_);
    if (found == all.entries.end() || found->second.mapped != number_) return;  // another one has taken its place
    found->second.mapped = 0;
    all.changed.notify_all();
  }
  Tracked(const Tracked&) = delete;
  Tracked& operator=(const Tracked&) = delete;

  const os::Mapping& mapping() const noexcept { return mapping_; }

 private:
  os::Mapping mapping_;
  const Key key_;
  const std::uint64_t number_;
};

// Seldom enough that it costs the same however many there are.
void drop_expired(Table& in) {
  if (in.entries.size() <= in.most) return;
  std::erase_if(in.entries, [](const auto& entry) { return entry.second.is_gone(); });
  in.most = std::max(fewest, 2 * in.entries.size());
}

}  // namespace

std::size_t ring_file_size() {
  const std::size_t page = os::page_size();
  return (sizeof(shm::RingLayout) + page - 1) / page * page;
}

void offer_mapping(const os::Fd& fd, const SharedMapping& mapping) {
  const Key key = key_of(fd);
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  drop_expired(all);
  Entry& entry = all.entries[key];
  entry.mapping = mapping;
  entry.mapped = 0;
}

namespace {

Attached make_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address, os::Access access, const Key& key,
                      std::uint64_t number) {
  std::string why;
  std::optional<os::Mapping> made;
  if (address) {
    made = os::Mapping::map_at(fd, *address, size, access, &why);
  } else {
    try {
      made = os::Mapping::map(fd, size, access);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  SINEW_POINT("mappings.made");
  if (!made) return {nullptr, false, why};
  const auto tracked = std::make_shared<const Tracked>(std::move(*made), key, number);
  return {SharedMapping(tracked, &tracked->mapping()), false, {}};
}

}  // namespace

Attached attach_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address, os::Access access) {
  if (auto complaint = os::complaint_about_peer_memfd(fd, size)) return {nullptr, true, *complaint};
  const Key key = key_of(fd);
  Table& all = table();
  SharedMapping existing;  // let go of behind the lock, which the last one of a mapping takes
  std::unique_lock lock(all.mutex);
  // Two that map one file at its address would be in each other's way, and so would one that is still there, though it cannot be shared any more.
  all.changed.wait(lock, [&] {
    const auto found = all.entries.find(key);
    if (found == all.entries.end()) return true;
    if (found->second.is_being_made) return false;
    existing = found->second.mapping.lock();
    return existing || found->second.mapped == 0;
  });
  if (existing && (!address || reinterpret_cast<std::uintptr_t>(existing->data()) == *address)) return {existing, false, {}};
  drop_expired(all);
  Entry& entry = all.entries[key];
  entry.is_being_made = true;
  const std::uint64_t number = ++all.last_mapped;
  // A large file takes a while, and those who map others do not wait for it.
  lock.unlock();
  Attached attached;
  std::exception_ptr failure;
  try {
    attached = make_mapping(fd, size, address, access, key, number);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  entry.is_being_made = false;
  if (attached.mapping) {
    entry.mapping = attached.mapping;
    entry.mapped = number;
  }
  all.changed.notify_all();
  if (failure) std::rethrow_exception(failure);
  return attached;
}

}  // namespace sinew::session
