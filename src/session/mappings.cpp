#include "session/mappings.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <map>
#include <mutex>
#include <utility>

#include "base/point.hpp"
#include "shm/layout.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;

struct Entry {
  std::weak_ptr<const os::Mapping> mapping;
  bool is_being_made = false;
};

constexpr std::size_t fewest = 64;

struct Table {
  std::mutex mutex;
  std::condition_variable made;
  std::map<Key, Entry> entries;
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

// Seldom enough that it costs the same however many there are.
void drop_expired(Table& in) {
  if (in.entries.size() <= in.most) return;
  std::erase_if(in.entries, [](const auto& entry) { return !entry.second.is_being_made && entry.second.mapping.expired(); });
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
  all.entries[key].mapping = mapping;
}

namespace {

Attached make_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address, os::Access access) {
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
  return {std::make_shared<const os::Mapping>(std::move(*made)), false, {}};
}

}  // namespace

Attached attach_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address, os::Access access) {
  if (auto complaint = os::complaint_about_peer_memfd(fd, size)) return {nullptr, true, *complaint};
  const Key key = key_of(fd);
  Table& all = table();
  std::unique_lock lock(all.mutex);
  // Two that map one file at its address would be in each other's way.
  all.made.wait(lock, [&] {
    const auto found = all.entries.find(key);
    return found == all.entries.end() || !found->second.is_being_made;
  });
  drop_expired(all);
  Entry& entry = all.entries[key];
  if (SharedMapping existing = entry.mapping.lock()) {
    if (!address || reinterpret_cast<std::uintptr_t>(existing->data()) == *address) return {existing, false, {}};
  }
  entry.is_being_made = true;
  // A large file takes a while, and those who map others do not wait for it.
  lock.unlock();
  Attached attached;
  std::exception_ptr failure;
  try {
    attached = make_mapping(fd, size, address, access);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  entry.is_being_made = false;
  if (attached.mapping) entry.mapping = attached.mapping;
  all.made.notify_all();
  if (failure) std::rethrow_exception(failure);
  return attached;
}

}  // namespace sinew::session
