// A message in a publisher's window, on its way to be published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "shm/layout.hpp"
#include "shm/window.hpp"

namespace sinew::session {

/// Where there is a root, readers of the same layout read the object where it lies, and pieces are made when somebody needs them. Else the message is what its pieces
/// say, for everybody: so go objects that mean nothing to other processes, and messages of which there is no object.
struct NewFrame {
  void* root = nullptr;    ///< the object
  std::uint64_t size = 0;  ///< of the object and all its storage; without root, of the stream
  void* pieces = nullptr;  ///< its shm::PieceTable, one block with whatever is not referred to elsewhere in the window
  void* beside = nullptr;  ///< a block without an object that pieces refer to, and that goes with them

  bool is_in_window() const noexcept { return root || pieces; }
};

inline constexpr std::size_t encapsulation = 4;    ///< of a stream (C1.1); its body stands behind
inline constexpr std::size_t body_alignment = 16;  ///< in memory (M39); of blocks, too

/// Where in a block the stream begins whose table of so many pieces stands at the beginning: so that its body is aligned.
constexpr std::size_t stream_behind_table(std::uint64_t pieces) {
  const std::size_t table = sizeof(shm::PieceTable) + pieces * sizeof(shm::PieceEntry);
  return (table + encapsulation + body_alignment - 1) / body_alignment * body_alignment - encapsulation;
}

/// A frame without root, whose only piece is a CDR stream of so many bytes, which is to be written to stream_of(frame). What stands aligned in the stream's body does so in memory, to 16. Not in the window when
/// there is no memory.
NewFrame stream_frame(shm::Window& window, std::uint64_t size) noexcept;
/// The room for the stream. REQUIRES: stream_frame() made it, in the window.
std::byte* stream_of(const NewFrame& frame) noexcept;
/// The stream has turned out to have fewer bytes.
void shorten(NewFrame& frame, std::uint64_t size) noexcept;

/// A frame without root whose stream is what the extents are, one behind the other: those that lie in the room of `loan`, a stream_frame() of which the frame then consists, too, are pieces where they are, the others are copied beside
/// it, and so is what would come first and not have its body aligned. Not in the window when there is no memory; then the loan is as before. `copied`: how many bytes were. REQUIRES: there is something in them.
NewFrame gathered_frame(shm::Window& window, const NewFrame& loan, std::span<const std::span<const std::byte>> extents,
                        std::uint64_t& copied) noexcept;

/// Writes the stream that the pieces of a table of this process are.
void join_pieces(const void* table, std::byte* into) noexcept;

}  // namespace sinew::session
