// What the tests of windows share: a place for a window, and an observer that takes note.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "os/memory.hpp"
#include "shm/window.hpp"

namespace sinew::shm {

inline constexpr std::size_t mib = 1024 * 1024;

// A place where no window was before: one that was closed while blocks lived stays where it is (F5).
inline std::uintptr_t new_base() {
  static const std::uintptr_t first = os::probe_address_range().base;
  static std::uintptr_t used = 0;
  return first + used++ * Window::granule;
}

struct Notes : Window::Observer {
  std::vector<std::pair<std::uint64_t, std::size_t>> added;  // id and size
  std::vector<std::uint64_t> dropped;

  void chunk_added(const Chunk& chunk) override { added.emplace_back(chunk.id, chunk.size); }
  void chunk_dropped(std::uint64_t id) override { dropped.push_back(id); }
};

inline std::shared_ptr<Window> new_window(Window::Limits limits = {}, Window::Observer* observer = nullptr,
                                          std::uintptr_t base = new_base()) {
  if (limits.budget == 0) limits.budget = 512 * mib;
  return Window::create(base, Window::granule, std::move(limits), observer);
}

}  // namespace sinew::shm
