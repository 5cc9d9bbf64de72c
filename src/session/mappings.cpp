#include "session/mappings.hpp"

#include <map>
#include <mutex>

#include "shm/layout.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

using Key = std::pair<std::uint64_t, std::uint64_t>;

struct Table {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<const os::Mapping>> entries;
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

void drop_expired(Table& in) {
  std::erase_if(in.entries, [](const auto& entry) { return entry.second.expired(); });
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
  all.entries[key] = mapping;
}

Attached attach_mapping(const os::Fd& fd, std::size_t size, std::optional<std::uintptr_t> address) {
  if (auto complaint = os::complaint_about_peer_memfd(fd, size)) return {nullptr, true, *complaint};
  const Key key = key_of(fd);
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  if (const auto found = all.entries.find(key); found != all.entries.end()) {
    if (SharedMapping existing = found->second.lock()) {
      if (!address || reinterpret_cast<std::uintptr_t>(existing->data()) == *address) return {existing, false, {}};
    }
  }
  drop_expired(all);
  std::string why;
  std::optional<os::Mapping> made;
  if (address) {
    made = os::Mapping::map_at(fd, *address, size, os::Access::read, &why);
  } else {
    try {
      made = os::Mapping::map(fd, size, os::Access::read);
    } catch (const Error& error) {
      why = error.what();
    }
  }
  if (!made) return {nullptr, false, why};
  auto mapping = std::make_shared<const os::Mapping>(std::move(*made));
  all.entries[key] = mapping;
  return {mapping, false, {}};
}

}  // namespace sinew::session
