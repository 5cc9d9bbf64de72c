#include "session/publisher/new_frame.hpp"

#include <cstdint>
#include <cstring>
#include <iterator>
#include <new>
#include <span>

namespace sinew::session {

namespace {

constexpr std::size_t before_stream = stream_behind_table(1);

shm::PieceEntry* first_piece(void* table) noexcept {
  return reinterpret_cast<shm::PieceEntry*>(static_cast<std::byte*>(table) + sizeof(shm::PieceTable));
}

/// What extents become: one piece for each that stays, and one for all that are copied between two that do.
class Gathering {
 public:
  explicit Gathering(std::span<const std::byte> room) noexcept : room_(room) {}

  /// Calls stays(extent) or copies(extent, whether it goes on with the one before) for each that has something in it.
  template <class Stays, class Copies>
  void each(std::span<const std::span<const std::byte>> extents, Stays stays, Copies copies) const noexcept {
    bool is_first = true, goes_on = false;
    for (const auto& extent : extents) {
      if (extent.empty()) continue;
      if (lies_in_room(extent) && !(is_first && !is_aligned(extent))) {
        stays(extent);
        goes_on = false;
      } else {
        copies(extent, goes_on);
        goes_on = true;
      }
      is_first = false;
    }
  }

 private:
  bool lies_in_room(std::span<const std::byte> extent) const noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(extent.data()), room = reinterpret_cast<std::uintptr_t>(room_.data());
    return begin >= room && begin - room <= room_.size() && extent.size() <= room_.size() - (begin - room);
  }
  static bool is_aligned(std::span<const std::byte> stream) noexcept {
    return (reinterpret_cast<std::uintptr_t>(stream.data()) + encapsulation) % body_alignment == 0;
  }

  std::span<const std::byte> room_;
};

}  // namespace

NewFrame stream_frame(shm::Window& window, std::uint64_t size) noexcept {
  if (size > SIZE_MAX - before_stream) return {};
  void* const block = window.allocate(before_stream + size, alignof(shm::PieceTable));
  if (!block) return {};
  auto* const table = ::new (block) shm::PieceTable{1};
  ::new (table + 1) shm::PieceEntry{reinterpret_cast<std::uint64_t>(block) + before_stream, size};
  return {.root = nullptr, .size = size, .pieces = block};
}

std::byte* stream_of(const NewFrame& frame) noexcept {
  return reinterpret_cast<std::byte*>(first_piece(frame.pieces)->address);
}

void shorten(NewFrame& frame, std::uint64_t size) noexcept {
  frame.size = first_piece(frame.pieces)->size = size;
}

NewFrame gathered_frame(shm::Window& window, const NewFrame& loan, std::span<const std::span<const std::byte>> extents,
                        std::uint64_t& copied) noexcept {
  const Gathering gathering({stream_of(loan), loan.size});
  std::uint64_t count = 0, size = 0;
  copied = 0;
  gathering.each(
      extents,
      [&](std::span<const std::byte> extent) {
        ++count;
        size += extent.size();
      },
      [&](std::span<const std::byte> extent, bool goes_on) {
        if (!goes_on) ++count;
        copied += extent.size();
      });
  size += copied;
  const std::size_t control = stream_behind_table(count);
  void* const block = window.allocate(control + copied, alignof(shm::PieceTable));
  if (!block) return {};
  ::new (block) shm::PieceTable{count};
  shm::PieceEntry* next = first_piece(block);
  std::byte* into = static_cast<std::byte*>(block) + control;
  const auto piece = [&](const std::byte* at, std::uint64_t bytes) {
    ::new (next++) shm::PieceEntry{reinterpret_cast<std::uint64_t>(at), bytes};
  };
  gathering.each(
      extents, [&](std::span<const std::byte> extent) { piece(extent.data(), extent.size()); },
      [&](std::span<const std::byte> extent, bool goes_on) {
        std::memcpy(into, extent.data(), extent.size());
        if (goes_on) {
          std::prev(next)->size += extent.size();
        } else {
          piece(into, extent.size());
        }
        into += extent.size();
      });
  return {.root = nullptr, .size = size, .pieces = block, .beside = loan.pieces};
}

void join_pieces(const void* table, std::byte* into) noexcept {
  const auto& header = *static_cast<const shm::PieceTable*>(table);
  for (const auto& piece : std::span(reinterpret_cast<const shm::PieceEntry*>(&header + 1), header.count)) {
    std::memcpy(into, reinterpret_cast<const void*>(piece.address), piece.size);
    into += piece.size;
  }
}

}  // namespace sinew::session
