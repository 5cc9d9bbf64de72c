#include "session/publisher/kept_frames.hpp"

namespace sinew::session {

KeptFrames::KeptFrames(const char* name, std::size_t room) : ring_(name), writer_(ring_.layout()), frames_(room), mask_(room - 1) {
  ring_.offer();
}

const KeptFrame* KeptFrames::find(std::uint64_t sequence) const noexcept {
  if (sequence > head()) return nullptr;
  if (sequence >= oldest_ && slot(sequence).is_in_window()) return &slot(sequence);
  const auto found = std::ranges::lower_bound(retired_, sequence, {}, &KeptFrame::sequence);
  return found != retired_.end() && found->sequence == sequence ? &*found : nullptr;
}

void KeptFrames::move_to(std::size_t room) {
  std::vector<KeptFrame> more(room);
  for (std::uint64_t sequence = oldest_; sequence <= head(); ++sequence) more[sequence & (more.size() - 1)] = std::move(slot(sequence));
  frames_ = std::move(more);
  mask_ = frames_.size() - 1;
}

shm::Frame KeptFrames::entry_of(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept {
  return {.root = reinterpret_cast<std::uint64_t>(frame.root),
          .size = frame.size,
          .source_time = frame.source_time,
          .newest_chunk = newest_chunk,
          .pieces = frame.tells_pieces ? frame.pieces_word() : shm::pieces_unknown};
}

KeptFrame& KeptFrames::place(const KeptFrame& next) noexcept {
  const std::uint64_t sequence = head() + 1;
  KeptFrame& frame = slot(sequence);
  frame = next;
  frame.sequence = sequence;
  return frame;
}

void KeptFrames::publish(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept {
  writer_.publish(entry_of(place(frame), newest_chunk));
}

void KeptFrames::skip(const KeptFrame& frame) noexcept {
  writer_.skip_to(place(frame).sequence);
}

void KeptFrames::fill(const KeptFrame& frame, std::uint64_t newest_chunk) noexcept {
  writer_.fill(frame.sequence, entry_of(frame, newest_chunk));
}

}  // namespace sinew::session
