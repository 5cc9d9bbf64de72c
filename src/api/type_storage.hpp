// How session::Publisher and its readers handle messages of a type: in the window, as streams, and as objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "msg/walk.hpp"
#include "session/in_process/objects.hpp"
#include "session/publisher/publisher.hpp"
#include "shm/window.hpp"
#include "sinew/detail/object_type.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::detail {

/// A publisher's window, for what walks messages.
class WindowMemory final : public msg::Memory, public msg::Region {
 public:
  explicit WindowMemory(shm::Window& window) noexcept : window_(window) {}
  void* allocate(std::size_t size, std::size_t alignment) noexcept override { return window_.allocate(size, alignment); }
  void free(void* block, std::size_t) noexcept override { window_.free(block); }
  Range around(const void* address) const noexcept override {
    const shm::Window::Range range = window_.chunk_around(address);
    return {range.begin, range.end};
  }
  std::uint64_t bytes() const noexcept override { return window_.usage().mapped; }

 private:
  shm::Window& window_;
};

/// How session::Publisher gives back the storage of frames of this type.
std::shared_ptr<const session::FrameStorage> storage_of(const msg::Type& type);
/// How it copies messages for subscribers of its own process.
std::shared_ptr<const session::Objects> objects_of(const msg::Type& type, const ObjectType& objects);

}  // namespace sinew::detail
