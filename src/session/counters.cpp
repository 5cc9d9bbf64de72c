#include "session/counters.hpp"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "os/memory.hpp"
#include "session/fork.hpp"

namespace sinew::session {
namespace {

constexpr std::size_t fewest_bytes = std::size_t{16} * 1024;  // enough for most nodes: each file stays open, for managers to come

shm::CounterHeader& header_of(const os::Mapping& file) noexcept {
  return *std::launder(reinterpret_cast<shm::CounterHeader*>(file.data()));
}

shm::CounterSlot* slots_of(const os::Mapping& file) noexcept {
  return std::launder(reinterpret_cast<shm::CounterSlot*>(file.data() + sizeof(shm::CounterHeader)));
}

}  // namespace

std::size_t counter_file_size(std::size_t index) noexcept {
  return std::max(os::page_size(), fewest_bytes) << index;
}

std::uint32_t slots_of_counter_file(std::size_t size) noexcept {
  return static_cast<std::uint32_t>((std::max(size, sizeof(shm::CounterHeader)) - sizeof(shm::CounterHeader)) / sizeof(shm::CounterSlot));
}

Counters::Slot::Slot(Slot&& other) noexcept
    : owner_(std::move(other.owner_)), own_(std::move(other.own_)), slot_(std::exchange(other.slot_, nullptr)) {}

Counters::Slot::~Slot() {
  if (owner_ && slot_ && !forked()) owner_->give_back(*slot_);
}

Counters::Slot Counters::take(shm::Counted what, std::uint64_t identity, std::uint64_t publisher) {
  if (shm::CounterSlot* const slot = take_free()) {
    shm::take(*slot, what, identity, publisher);
    return {shared_from_this(), slot};
  }
  return Slot(std::make_unique<shm::CounterSlot>());
}

shm::CounterSlot* Counters::take_free() {
  File made;
  shm::CounterSlot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) made = add_file_locked();
    if (free_.empty()) return nullptr;
    slot = free_.back();
    free_.pop_back();
  }
  if (made.fd) tell_(made.fd, made.size);
  return slot;
}

Counters::File Counters::add_file_locked() {
  if (files_.size() == most_counter_files) return {};
  const std::size_t size = counter_file_size(files_.size());
  const std::uint32_t slots = slots_of_counter_file(size);
  try {
    files_.reserve(most_counter_files);
    // More than those of all files so far, of which each has twice as many as the one before, or a little more.
    free_.reserve(2 * std::size_t{slots});
    const auto file = std::make_shared<const os::Fd>(os::create_memfd("sinew-counters", size));
    auto mapping = std::make_shared<const os::Mapping>(os::Mapping::map(*file, size, os::Access::read_write));
    os::seal_for_readers(*file);
    offer_mapping(*file, mapping);
    shm::CounterHeader& header = header_of(*mapping);
    header.slots = slots;
    header.version.store(shm::layout_version, std::memory_order_release);  // sync: COUNTERS_READY (with slots_of_peer)
    for (std::uint32_t slot = slots; slot > 0; --slot) free_.push_back(slots_of(*mapping) + (slot - 1));
    files_.push_back(std::move(mapping));
    is_short_ = false;
    return {file, static_cast<std::uint32_t>(size)};
  } catch (const std::exception& error) {  // Error, or no memory for the books
    if (std::exchange(is_short_, true)) return {};
    base::log(base::LogLevel::warn, "some of what this process counts is not shown:");
    base::log(base::LogLevel::warn, error.what());
    return {};
  }
}

void Counters::give_back(shm::CounterSlot& slot) noexcept {
  shm::give_back(slot);
  const std::lock_guard lock(mutex_);
  free_.push_back(&slot);  // there is room
}

}  // namespace sinew::session
