// A message in a publisher's window, on its way to be published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "shm/window.hpp"

namespace sinew::session {

/// Where there is a root, readers of the same layout read the object where it lies, and pieces are made when somebody needs them. Else the message is what its pieces
/// say, for everybody: so go objects that mean nothing to other processes, and messages of which there is no object.
struct NewFrame {
  void* root = nullptr;    ///< the object
  std::uint64_t size = 0;  ///< of the object and all its storage; without root, of the stream
  void* pieces = nullptr;  ///< its shm::PieceTable, one block with whatever is not referred to elsewhere in the window

  bool is_in_window() const noexcept { return root || pieces; }
};

/// A frame without root, whose only piece is a CDR stream of so many bytes, which write() writes. Not in the window when there is no memory.
NewFrame stream_frame(shm::Window& window, std::uint64_t size, const std::function<void(std::byte* into)>& write) noexcept;

/// Writes the stream that the pieces of a table of this process are.
void join_pieces(const void* table, std::byte* into) noexcept;

}  // namespace sinew::session
