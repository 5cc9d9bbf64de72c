#include "session/publisher/export.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log.hpp"
#include "base/point.hpp"
#include "session/publisher/new_frame.hpp"
#include "shm/fence.hpp"
#include "sinew/error.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t chunk_unit = 64 * 1024;
// Chunks are not mapped at the same address anywhere; their numbers lie so far apart that no chunk reaches the next one.
constexpr std::uint64_t address_step = std::uint64_t{1} << 40;
constexpr std::uint64_t header = stream_behind_table(1);

}  // namespace

Export::Export(std::string topic, std::uint64_t budget, std::uint64_t most)
    : topic_(std::move(topic)), budget_(budget), most_(std::max(most, chunk_unit)), ring_("sinew-export-ring"), writer_(ring_.layout()) {}

void Export::show_alive(std::int64_t now) noexcept {
  ring_.layout().header.alive.store(static_cast<std::uint64_t>(now), std::memory_order_relaxed);
}

// A reader that was attached once may still be about to take what it finds in this ring. What comes next lies where such frames do, and publish() knows only of the one that is export_depth before it.
void Export::skip_to(std::uint64_t sequence) noexcept {
  const std::uint64_t head = writer_.head();
  if (sequence == head) return;
  for (std::uint64_t old = head; old > 0 && old + shm::export_depth > head; --old) writer_.retire(old);
  writer_.skip_to(sequence);
}

void Export::replace(Slot& slot, std::uint64_t size) {
  size = (size + chunk_unit - 1) / chunk_unit * chunk_unit;
  if (size > most_ || mapped_ - slot.size + size > budget_ || os::available_memory() < size) return;
  os::Fd memfd = os::create_memfd("sinew-export", size);
  auto mapping = std::make_shared<const os::Mapping>(os::Mapping::map(memfd, size, os::Access::read_write));
  os::seal_for_readers(memfd);
  mapped_ += size - slot.size;
  const std::uint64_t id = ++last_chunk_;
  slot = {.chunk = id, .address = id * address_step, .size = size, .memfd = std::move(memfd), .mapping = std::move(mapping)};
  is_short_ = false;
}

void Export::log_shortage(const std::exception& error) noexcept {
  if (std::exchange(is_short_, true)) return;
  try {
    base::log(base::LogLevel::warn,
              "topic '" + topic_ + "': messages cannot be copied for subscribers of other users, which miss them: " + error.what());
  } catch (const std::bad_alloc&) {
    base::log(base::LogLevel::warn, "messages cannot be copied for subscribers of other users, which miss them: there is no memory");
  }
}

void Export::prepare(std::uint64_t stream) noexcept {
  Slot& slot = next_slot();
  if (stream == 0 || slot.size >= header + stream) return;
  try {
    replace(slot, header + stream);
  } catch (const std::exception& error) {
    log_shortage(error);
  }
}

bool Export::has_room_for(std::uint64_t stream) const noexcept {
  return stream > 0 && slots_[(writer_.head() + 1) % shm::export_depth].size >= header + stream;
}

std::uint64_t Export::publish(std::uint64_t stream, std::int64_t source_time, const std::function<void(std::byte* into)>& write) noexcept {
  const std::uint64_t sequence = writer_.head() + 1;
  const Slot& slot = next_slot();
  if (sequence > shm::export_depth) writer_.retire(sequence - shm::export_depth);
  shm::fence(std::memory_order_release);  // sync: EXPORT (with Claims::is_still_there; retired before it is written over)
  SINEW_POINT("export.retired");
  shm::Frame frame{.source_time = source_time, .pieces = shm::pieces_impossible};
  if (has_room_for(stream)) {
    std::byte* const at = slot.mapping->data();
    auto* const table = ::new (at) shm::PieceTable{1};
    ::new (table + 1) shm::PieceEntry{slot.address + header, stream};
    write(at + header);
    frame.size = stream;
    frame.newest_chunk = slot.chunk;
    frame.pieces = slot.address;
  }
  SINEW_POINT("export.written");
  writer_.publish(frame);
  return frame.size;
}

}  // namespace sinew::session
