#include "session/publisher/new_frame.hpp"

#include <cstring>
#include <new>
#include <span>

#include "shm/layout.hpp"

namespace sinew::session {

NewFrame stream_frame(shm::Window& window, std::uint64_t size, const std::function<void(std::byte* into)>& write) noexcept {
  constexpr std::size_t header = sizeof(shm::PieceTable) + sizeof(shm::PieceEntry);
  void* const block = window.allocate(header + size, alignof(shm::PieceTable));
  if (!block) return {};
  std::byte* const stream = static_cast<std::byte*>(block) + header;
  auto* const table = ::new (block) shm::PieceTable{1};
  ::new (table + 1) shm::PieceEntry{reinterpret_cast<std::uint64_t>(stream), size};
  write(stream);
  return {.root = nullptr, .size = size, .pieces = block};
}

void join_pieces(const void* table, std::byte* into) noexcept {
  const auto& header = *static_cast<const shm::PieceTable*>(table);
  for (const auto& piece : std::span(reinterpret_cast<const shm::PieceEntry*>(&header + 1), header.count)) {
    std::memcpy(into, reinterpret_cast<const void*>(piece.address), piece.size);
    into += piece.size;
  }
}

}  // namespace sinew::session
