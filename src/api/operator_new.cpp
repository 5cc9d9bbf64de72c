// The replaced operator new and delete: compiled into each executable that uses sinew, not into the library, so that they take hold whatever order
// libraries are linked in, under sanitizers and with a static C++ library.
//
// Inside an allocation scope memory comes from the publisher's window, else from malloc with nothing in front of it: outside of windows these are
// interchangeable with any other replacement and with the C++ library's own. The set is complete, because a single form that is left out would
// send some types past the scope.
#include <cstddef>
#include <cstdlib>
#include <new>

#include "shm/scope.hpp"

namespace {

constexpr std::size_t plain = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

void* heap_allocate(std::size_t size, std::size_t alignment) noexcept {
  if (alignment <= plain) return std::malloc(size);
  void* block = nullptr;
  return posix_memalign(&block, alignment, size) == 0 ? block : nullptr;
}

// Once there was none.
void* allocate_after_all(std::size_t size, std::size_t alignment) {
  for (;;) {
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
    if (void* block = heap_allocate(size, alignment)) return block;
  }
}

void* allocate(std::size_t size, std::size_t alignment) {
  if (void* block = sinew::shm::scope_allocate(size, alignment)) return block;
  if (size == 0) size = 1;
  void* const block = heap_allocate(size, alignment);
  return block ? block : allocate_after_all(size, alignment);
}

// Apart from the other, since a program does hardly anything as often.
void* allocate(std::size_t size) {
  if (sinew::shm::in_allocation_scope()) return allocate(size, plain);
  if (void* block = std::malloc(size)) return block;
  return size == 0 ? allocate(1, plain) : allocate_after_all(size, plain);  // there are mallocs that give nothing for nothing
}

void* allocate_or_null(std::size_t size, std::size_t alignment) noexcept {
  try {
    return allocate(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void deallocate(void* block) noexcept {
  if (!sinew::shm::scope_free(block)) std::free(block);
}

[[maybe_unused]] const bool registered = [] {
  sinew::shm::register_replacement(&::operator delete);
  return true;
}();

std::size_t bytes(std::align_val_t alignment) noexcept {
  return static_cast<std::size_t>(alignment);
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size);
}
void* operator new[](std::size_t size) {
  return allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, plain);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, plain);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, bytes(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, bytes(alignment));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, bytes(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate_or_null(size, bytes(alignment));
}

void operator delete(void* block) noexcept {
  deallocate(block);
}
void operator delete[](void* block) noexcept {
  deallocate(block);
}
void operator delete(void* block, const std::nothrow_t&) noexcept {
  deallocate(block);
}
void operator delete[](void* block, const std::nothrow_t&) noexcept {
  deallocate(block);
}
void operator delete(void* block, std::size_t) noexcept {
  deallocate(block);
}
void operator delete[](void* block, std::size_t) noexcept {
  deallocate(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  deallocate(block);
}
void operator delete[](void* block, std::align_val_t) noexcept {
  deallocate(block);
}
void operator delete(void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(block);
}
void operator delete[](void* block, std::align_val_t, const std::nothrow_t&) noexcept {
  deallocate(block);
}
void operator delete(void* block, std::size_t, std::align_val_t) noexcept {
  deallocate(block);
}
void operator delete[](void* block, std::size_t, std::align_val_t) noexcept {
  deallocate(block);
}
