// Whether storage lies in a region, asked once for what lies side by side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "msg/walk.hpp"

namespace sinew::msg {

class Bounds {
 public:
  explicit Bounds(const Region& region) noexcept : region_(region) {}

  bool contain(const void* address, std::size_t size) noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    return (holds(at) || find(address)) && size <= range_.end - at;
  }

 private:
  bool holds(std::uintptr_t address) const noexcept { return address - range_.begin < range_.end - range_.begin; }
  [[gnu::noinline]] bool find(const void* address) noexcept {
    range_ = region_.around(address);
    return holds(reinterpret_cast<std::uintptr_t>(address));
  }

  const Region& region_;
  Region::Range range_;
};

}  // namespace sinew::msg
