// Memory that a process shares with those it forks.
#pragma once

#include <cstddef>

namespace sinew::bench {

/// Zeroed, without a name, gone with the last process. Freed when it is destroyed; the forked processes keep theirs.
class SharedMemory {
 public:
  /// Throws std::system_error when there is not enough.
  explicit SharedMemory(std::size_t size);
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory();

  std::byte* data() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::byte* data_;
  std::size_t size_;
};

}  // namespace sinew::bench
