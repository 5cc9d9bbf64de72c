// The heap, for the functions that make messages.
#pragma once

#include <cstddef>
#include <new>

#include "msg/walk.hpp"

namespace sinew::msg {

class HeapMemory final : public Memory {
 public:
  void* allocate(std::size_t size, std::size_t alignment) noexcept override {
    return alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(size, std::align_val_t(alignment), std::nothrow)
                                                        : ::operator new(size, std::nothrow);
  }
  void free(void* block, std::size_t alignment) noexcept override {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(block, std::align_val_t(alignment));
    } else {
      ::operator delete(block);
    }
  }
};

}  // namespace sinew::msg
