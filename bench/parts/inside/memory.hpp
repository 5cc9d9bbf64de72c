// Memory of a window, for the functions that walk messages.
#pragma once

#include <cstddef>
#include <memory>

#include "msg/walk.hpp"
#include "os/memory.hpp"
#include "shm/window.hpp"

namespace sinew::bench {

/// A window as a publisher has one, without a publisher.
class WindowMemory final : public msg::Memory, public msg::Region {
 public:
  void* allocate(std::size_t size, std::size_t alignment) noexcept override { return window_->allocate(size, alignment); }
  void free(void* block, std::size_t) noexcept override { window_->free(block); }
  Range around(const void* address) const noexcept override {
    const shm::Window::Range range = window_->chunk_around(address);
    return {range.begin, range.end};
  }
  std::uint64_t bytes() const noexcept override { return budget; }

 private:
  static constexpr std::size_t budget = std::size_t{512} << 20;
  const std::shared_ptr<shm::Window> window_ =
      shm::Window::create(os::probe_address_range().base, shm::Window::granule, {.budget = budget, .lock = false}, nullptr);
};

}  // namespace sinew::bench
