#include "session/publisher/lane.hpp"

#include <memory>
#include <new>

#include "os/memory.hpp"

namespace sinew::session {

Lane::Lane()
    : ring_fd_(os::create_memfd("sinew-lane", ring_file_size())),
      ring_mapping_(std::make_shared<const os::Mapping>(os::Mapping::map(ring_fd_, ring_file_size(), os::Access::read_write))) {
  os::seal_for_readers(ring_fd_);
  auto& ring = *std::launder(reinterpret_cast<shm::RingLayout*>(ring_mapping_->data()));
  shm::initialise(ring);
  offer_mapping(ring_fd_, ring_mapping_);
  writer_.emplace(ring);
}

std::uint64_t Lane::publish(Frame frame, std::uint64_t newest_chunk) {
  frame.sequence = head() + 1;
  frames_.push_back(frame);
  // Whose slot it takes was decided about, and is retired.
  if (frame.sequence > shm::ring_capacity) retire_up_to(frame.sequence - shm::ring_capacity);
  return writer_->publish({.root = reinterpret_cast<std::uint64_t>(frame.root),
                           .size = frame.size,
                           .source_time = frame.source_time,
                           .newest_chunk = newest_chunk,
                           .pieces = frame.tells_pieces ? frame.pieces_word() : shm::pieces_unknown});
}

void Lane::retire_up_to(std::uint64_t decided) noexcept {
  for (decided = std::min(decided, head()); retired_ < decided;) writer_->retire(++retired_);
}

}  // namespace sinew::session
