#include "session/publisher/new_frame.hpp"

#include <cstdint>
#include <cstring>
#include <new>
#include <span>

namespace sinew::session {

namespace {

constexpr std::size_t before_stream = stream_behind_table(1);

shm::PieceEntry* only_piece(const NewFrame& frame) noexcept {
  return reinterpret_cast<shm::PieceEntry*>(static_cast<std::byte*>(frame.pieces) + sizeof(shm::PieceTable));
}

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
  return reinterpret_cast<std::byte*>(only_piece(frame)->address);
}

void shorten(NewFrame& frame, std::uint64_t size) noexcept {
  frame.size = only_piece(frame)->size = size;
}

void join_pieces(const void* table, std::byte* into) noexcept {
  const auto& header = *static_cast<const shm::PieceTable*>(table);
  for (const auto& piece : std::span(reinterpret_cast<const shm::PieceEntry*>(&header + 1), header.count)) {
    std::memcpy(into, reinterpret_cast<const void*>(piece.address), piece.size);
    into += piece.size;
  }
}

}  // namespace sinew::session
