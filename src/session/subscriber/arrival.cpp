// Finding a claimed frame's memory as it lies here.
#include <algorithm>
#include <cstring>
#include <new>

#include "session/subscriber/subscriber_end.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t usual_pieces = 1024;  // room for more is made as they turn out to be right

}  // namespace

const ChunkTable::Entry* ChunkTable::around(std::uintptr_t address) const noexcept {
  auto next = std::upper_bound(entries.begin(), entries.end(), address,
                               [](std::uintptr_t value, const Entry& entry) { return value < entry.address; });
  if (next == entries.begin()) return nullptr;
  const Entry& entry = *std::prev(next);
  return address - entry.address < entry.size ? &entry : nullptr;
}

const std::byte* ChunkTable::find(std::uint64_t address, std::uint64_t size) const noexcept {
  const Entry* const entry = around(address);
  if (!entry || size > entry->size - (address - entry->address)) return nullptr;
  return entry->mapping->data() + (address - entry->address);
}

bool ChunkTable::gather(std::uint64_t table, std::uint64_t most, std::vector<std::span<const std::byte>>& into) const {
  into.clear();
  const std::byte* const here = find(table, sizeof(shm::PieceTable));
  if (!here || table % alignof(shm::PieceTable) != 0) return false;
  shm::PieceTable header;
  std::memcpy(&header, here, sizeof header);
  if (header.count == 0 || header.count > most) return false;
  const std::byte* const listed = find(table + sizeof header, header.count * sizeof(shm::PieceEntry));
  if (!listed) return false;
  into.reserve(std::min(header.count, usual_pieces));
  std::uint64_t left = bytes;  // no message is larger than all the memory it can lie in
  for (std::uint64_t i = 0; i < header.count; ++i) {
    shm::PieceEntry entry;
    std::memcpy(&entry, listed + i * sizeof entry, sizeof entry);
    const std::byte* const data = entry.size == 0 || entry.size > left ? nullptr : find(entry.address, entry.size);
    if (!data) return false;
    left -= entry.size;
    into.emplace_back(data, entry.size);
  }
  return true;
}

bool Arrival::gather_pieces(std::vector<std::span<const std::byte>>& into) const {
  try {
    return chunks->gather(frame.pieces, end->most_pieces(), into);
  } catch (const std::bad_alloc&) {
    return false;  // so many that they cannot even be counted up
  }
}

}  // namespace sinew::session
