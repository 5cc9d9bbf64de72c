// The shared memory of a ring.
#pragma once

#include <utility>

#include "os/fd.hpp"
#include "session/mappings.hpp"
#include "shm/layout.hpp"

namespace sinew::session {

/// An empty ring that this process may write, and readers that are sent its file may map. Moves with its pages where they are.
class RingMemory {
 public:
  /// `name` shows up in /proc/PID/maps. Throws Error(exhausted).
  explicit RingMemory(const char* name);

  const os::Fd& file() const noexcept { return file_; }
  /// Readers of this process that are sent the file use this mapping, as offer_mapping().
  void offer() const;
  /// For the only reader that is ever sent it; or for none.
  os::Fd take_file() noexcept { return std::move(file_); }
  shm::RingLayout& layout() const noexcept;

 private:
  os::Fd file_;
  SharedMapping mapping_;
};

}  // namespace sinew::session
