#include "shared_memory.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace sinew::bench {

SharedMemory::SharedMemory(std::size_t size) : size_(size) {
  void* const data = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap of " + std::to_string(size) + " shared bytes");
  data_ = static_cast<std::byte*>(data);
}

SharedMemory::SharedMemory(SharedMemory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(other.size_) {}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) munmap(data_, size_);
}

}  // namespace sinew::bench
