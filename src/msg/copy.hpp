// Copying the storage of one value, shared by copy_value(), copy_checked() and audit().
#pragma once

#include <cstdint>

#include "msg/inspector.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {

/// Gives images their own storage. Whatever it decides by it reads from the images that it was given, never again from where they were copied. After a refusal it only empties
/// the containers that it still comes to, so that what it leaves can be freed as any value.
class Copier {
 public:
  explicit Copier(Memory& memory) : memory_(memory) {}
  /// Of a value that nobody has checked, and that may take `budget` bytes.
  Copier(Memory& memory, Inspector& inspector, std::uint64_t budget) : memory_(memory), inspector_(&inspector), budget_(budget) {}

  /// `target` has the bytes that stood at `source`; afterwards it shares no storage with what is there.
  void own_storage(const Type& type, const void* source, void* target) noexcept;

  bool refused() const { return refused_; }
  /// Why, when it was not for want of memory; else null.
  const char* fault() const { return fault_; }
  std::uint64_t bytes() const { return bytes_; }

 private:
  void* allocate(std::size_t size, std::size_t alignment) noexcept;
  /// True, and from now on refused, when there is a fault.
  bool stop(const char* fault) noexcept;
  void own_string(const void* source, void* target) noexcept;
  void own_vector(const Type& type, void* target) noexcept;
  void own_bits(void* target) noexcept;
  void own_map(const Type& type, const void* source, void* target) noexcept;
  void check_flag(void* flag, const char* fault) noexcept;

  Memory& memory_;
  Inspector* const inspector_ = nullptr;
  const std::uint64_t budget_ = UINT64_MAX;
  std::uint64_t bytes_ = 0;
  bool refused_ = false;
  const char* fault_ = nullptr;
};

}  // namespace sinew::msg
