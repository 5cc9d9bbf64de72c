#include "shm/window_table.hpp"

#include <array>
#include <atomic>

#include "shm/window.hpp"

namespace sinew::shm {

namespace {

// Zeroed pages of the program's own: of the MiB that this spans only the page or two that hold this process's windows become memory.
constexpr std::size_t granules = (std::uint64_t{1} << 47) / Window::granule;
// pair OWNER: who finds a window finds it whole; who enters one finds its addresses left by the one before.
constinit std::array<std::atomic<Window*>, granules> windows{};

bool is_covered(std::uintptr_t base, std::size_t size) noexcept {
  const std::size_t first = base / Window::granule;
  return first < granules && size / Window::granule <= granules - first;
}

}  // namespace

bool enter_window(Window& window, std::uintptr_t base, std::size_t size) noexcept {
  if (!is_covered(base, size)) return false;
  const std::size_t first = base / Window::granule;
  for (std::size_t i = 0; i < size / Window::granule; ++i) {
    Window* nobody = nullptr;
    if (windows[first + i].compare_exchange_strong(nobody, &window, std::memory_order_acq_rel)) continue;  // sync: OWNER (with window_at)
    remove_window(window, base, i * Window::granule);
    return false;
  }
  return true;
}

void remove_window(Window& window, std::uintptr_t base, std::size_t size) noexcept {
  if (!is_covered(base, size)) return;
  for (std::size_t i = base / Window::granule; i < (base + size) / Window::granule; ++i) {
    Window* mine = &window;
    windows[i].compare_exchange_strong(mine, nullptr, std::memory_order_release);  // sync: OWNER (with enter_window)
  }
}

Window* window_at(const void* address) noexcept {
  const std::size_t index = reinterpret_cast<std::uintptr_t>(address) / Window::granule;
  return index < granules ? windows[index].load(std::memory_order_acquire) : nullptr;  // sync: OWNER (with enter_window)
}

}  // namespace sinew::shm
