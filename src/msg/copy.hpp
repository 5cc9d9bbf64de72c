// Copying the storage of one value, shared by copy_value() and audit().
#pragma once

#include <cstdint>

#include "msg/walk.hpp"

namespace sinew::msg {

/// Gives images their own storage. After a refusal it only empties the containers that it still comes to, so that what it leaves can be freed as any value.
class Copier {
 public:
  explicit Copier(Memory& memory) : memory_(memory) {}

  /// `target` has the bytes of `source`; afterwards it shares no storage with it.
  void own_storage(const Type& type, const void* source, void* target) noexcept;

  bool refused() const { return refused_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void* allocate(std::size_t size, std::size_t alignment) noexcept;
  void own_string(const void* source, void* target) noexcept;
  void own_vector(const Type& type, const void* source, void* target) noexcept;
  void own_map(const Type& type, const void* source, void* target) noexcept;
  void own_bits(const Type& type, const void* source, void* target) noexcept;

  Memory& memory_;
  std::uint64_t bytes_ = 0;
  bool refused_ = false;
};

}  // namespace sinew::msg
