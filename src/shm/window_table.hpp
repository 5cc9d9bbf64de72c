// Which window of this process an address belongs to: a table with one word per GiB of address space.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinew::shm {

class Window;

/// False, with nothing entered, when another window is entered for one of these addresses, or they are beyond 47 bits.
/// REQUIRES: multiples of Window::granule. Thread-safe, as all of these.
bool enter_window(Window& window, std::uintptr_t base, std::size_t size) noexcept;
/// Leaves entries of other windows as they are.
void remove_window(Window& window, std::uintptr_t base, std::size_t size) noexcept;
/// One load.
Window* window_at(const void* address) noexcept;

}  // namespace sinew::shm
