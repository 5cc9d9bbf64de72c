// Walking a message by its table: audit, validation, copying, listing its storage. No OS, no shared memory: bytes and addresses only.
//
// These functions know how this standard library lays out string, vector and optional; that knowledge is in src/msg/std_layout.hpp alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sinew/msg/type.hpp"

namespace sinew::msg {

/// Where storage may lie.
class Region {
 public:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
  };
  /// What lies side by side around `address`, without a gap; empty when it lies nowhere.
  virtual Range around(const void* address) const noexcept = 0;
  virtual std::uint64_t bytes() const noexcept = 0;  ///< of all of it

 protected:
  ~Region() = default;
};

/// Where storage comes from and goes back to.
class Memory {
 public:
  virtual void* allocate(std::size_t size, std::size_t alignment) noexcept = 0;  ///< null when refused
  virtual void free(void* block, std::size_t alignment) noexcept = 0;            ///< with the alignment that it was allocated with

 protected:
  ~Memory() = default;
};

// --- validation at receipt (S16) ---------------------------------------------------------------------------------------------------
/// Checks that every byte that reading `root` as `type` can reach lies in `region`, is aligned, that sizes and capacities agree, and that bool and optional
/// flags are 0 or 1. Reads nothing before it has checked it, and each word once: memory that changes meanwhile brings about some answer and no fault. A message that
/// refers to the same storage again and again is refused (spec/types.md, rule 6.10). Returns what is wrong, as "field 'a.b[3].c': sentence", or nothing.
std::optional<std::string> complaint_about(const Type& type, const void* root, const Region& region);

// --- copying --------------------------------------------------------------------------------------------------------------------------
struct Copied {
  bool complete = false;  ///< false: memory was refused; everything allocated so far has been freed and `target` holds nothing to be freed
  std::uint64_t bytes = 0;  ///< the object itself and all storage written
};
/// Makes at `target` (type.size bytes, aligned, raw) the image of a `type` whose storage comes from `memory` and whose value is that of `source`,
/// capacities trimmed to sizes. `source` must be valid (an ordinary object of this process, or one that complaint_about() accepted and that stays claimed).
/// The result may be destroyed by T's destructor when `memory` is operator new's, by free_storage() else. For a type with maps it must be operator new's.
Copied copy_value(const Type& type, const void* source, void* target, Memory& memory) noexcept;

/// Bytes of a value and of the storage that its value needs, as copy_value() would write them.
std::uint64_t size_of_value(const Type& type, const void* value) noexcept;

struct CheckedCopy {
  std::string complaint;    ///< empty: the copy is complete. Else why not, as a sentence without the place; nothing is left to be freed
  std::uint64_t bytes = 0;  ///< the object itself and all storage written
};
/// The same of a message that nobody has checked, in memory that somebody else may write to meanwhile: checks in one go what complaint_about() does, on words that it has read
/// once. The copy may take `budget` bytes, and no more than the region has. For types without maps and views.
CheckedCopy copy_checked(const Type& type, const void* source, void* target, Memory& memory, const Region& region, std::uint64_t budget);

// --- audit at publish ---------------------------------------------------------------------------------------------------------------
struct Audit {
  bool complete =
      false;  ///< false: memory was refused, or the type has maps; the message is unchanged in value and must not be published natively
  std::uint64_t size = 0;    ///< bytes of the message: the object and all storage it refers to (sizes, not capacities)
  std::uint64_t copied = 0;  ///< bytes of storage that lay outside and were copied in
  std::string first_field;   ///< path of the first such storage, "header.frame_id"; empty when none
};
/// Makes sure that all storage of the message at `root` lies in `region`: what does not is copied into `memory` and the original destroyed as its owner would have.
/// Allocates nothing on the ordinary heap unless something was copied.
Audit audit(const Type& type, void* root, const Region& region, Memory& memory);

/// The path of the first variant of a message that has no value, which an exception in an assignment leaves it in. Such a message can be neither published nor
/// written. Costs nothing when the type has no variants.
std::optional<std::string> variant_without_value(const Type& type, const void* root);

// --- storage ------------------------------------------------------------------------------------------------------------------------
/// Gives every block of storage of `root` (not `root` itself) back to `memory`, without running destructors or writing to the message; but destroys its maps.
void free_storage(const Type& type, const void* root, Memory& memory) noexcept;
/// Appends the address of every block of storage of `root`, which has no maps.
void list_storage(const Type& type, const void* root, std::vector<const void*>& into);

// --- types as text ------------------------------------------------------------------------------------------------------------------
/// The sentence for two ends that do not fit: "topic 'T' carries A{... step: uint32 ...}; you asked for B{... step: uint64 ...}: field 'step' differs".
/// Takes signatures, as strangers sent them: any text gives some sentence.
std::string explain_difference(const std::string& topic, const std::string& carried_signature, const std::string& asked_signature);

}  // namespace sinew::msg
