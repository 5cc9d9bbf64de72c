// Blocks of a window that somebody still looks at when whoever has them gives them back.
#pragma once

#include <cstdint>
#include <map>

namespace sinew::shm {

/// Not thread-safe: the window's mutex guards it. Invariant: a block that is kept is neither free nor abandoned, so that its chunk stays mapped and nothing else comes to lie there; what was to become of it meanwhile does when
/// the last one lets go.
class KeptBlocks {
 public:
  /// Once more. Throws std::bad_alloc.
  void keep(std::uintptr_t block) { ++kept_[block].times; }
  /// It is given back. False when nobody keeps it: then it is free now.
  bool gives_back_later(std::uintptr_t block) noexcept {
    if (kept_.empty()) return false;
    const auto found = kept_.find(block);
    if (found == kept_.end()) return false;
    found->second.is_given_back = true;
    return true;
  }
  /// Once less. True when it is free from now on.
  bool let_go(std::uintptr_t block) noexcept {
    const auto found = kept_.find(block);
    if (found == kept_.end() || --found->second.times > 0) return false;
    const bool is_free = found->second.is_given_back;
    kept_.erase(found);
    return is_free;
  }

 private:
  struct Kept {
    std::uint64_t times = 0;
    bool is_given_back = false;
  };
  std::map<std::uintptr_t, Kept> kept_;
};

}  // namespace sinew::shm
