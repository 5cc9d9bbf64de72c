// Where a node counts what tools read (shm/counters.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "os/fd.hpp"
#include "session/mappings.hpp"
#include "shm/counters.hpp"

namespace sinew::session {

/// The files of a node are so many at most, each twice as large as the one before: slots beyond them are private.
inline constexpr std::size_t most_counter_files = 12;
/// Bytes of the file of this index (from 0).
std::size_t counter_file_size(std::size_t index) noexcept;
/// Its slots; none where a file is too small for any.
std::uint32_t slots_of_counter_file(std::size_t size) noexcept;

/// Thread-safe.
class Counters : public std::enable_shared_from_this<Counters> {
 public:
  /// Told of each file, once, by whoever needed it. It is sealed, and may be sent to anybody.
  using Tell = std::function<void(const std::shared_ptr<const os::Fd>& file, std::uint32_t size)>;
  explicit Counters(Tell tell) : tell_(std::move(tell)) {}
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// A slot, all zeros, until this is destroyed. In private memory where there is none to be shared: it counts as well, and nobody sees it.
  class Slot {
   public:
    Slot(Slot&& other) noexcept;
    Slot& operator=(Slot&&) = delete;
    ~Slot();
    shm::PublisherCounts& published() const noexcept { return slot_->published; }
    shm::PairCounts& taken() const noexcept { return slot_->taken; }

   private:
    friend Counters;
    Slot(std::shared_ptr<Counters> owner, shm::CounterSlot* slot) noexcept : owner_(std::move(owner)), slot_(slot) {}
    explicit Slot(std::unique_ptr<shm::CounterSlot> own) noexcept : own_(std::move(own)), slot_(own_.get()) {}

    std::shared_ptr<Counters> owner_;  // null: it is its own
    std::unique_ptr<shm::CounterSlot> own_;
    shm::CounterSlot* slot_;
  };
  /// For a publisher. Throws std::bad_alloc.
  Slot of_publisher(std::uint64_t identity) { return take(shm::Counted::publisher, identity, 0); }
  /// For what subscriber `identity` has from `publisher`. Throws std::bad_alloc.
  Slot of_pair(std::uint64_t identity, std::uint64_t publisher) { return take(shm::Counted::pair, identity, publisher); }

 private:
  Slot take(shm::Counted what, std::uint64_t identity, std::uint64_t publisher);
  shm::CounterSlot* take_free();
  struct File {
    std::shared_ptr<const os::Fd> fd;
    std::uint32_t size = 0;
  };
  File add_file_locked();
  void give_back(shm::CounterSlot& slot) noexcept;

  const Tell tell_;
  std::mutex mutex_;  // guards what follows
  std::vector<SharedMapping> files_;
  std::vector<shm::CounterSlot*> free_;  // with room for all that there are
  bool is_short_ = false;                // and that was said
};

}  // namespace sinew::session
