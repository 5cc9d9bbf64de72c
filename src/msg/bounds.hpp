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
    if (at < range_.begin || at >= range_.end) {
      range_ = region_.around(address);
      if (at < range_.begin || at >= range_.end) return false;
    }
    return size <= range_.end - at;
  }

 private:
  const Region& region_;
  Region::Range range_;
};

}  // namespace sinew::msg
