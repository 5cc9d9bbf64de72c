#include <cstddef>

#include "msg/maps.hpp"
#include "msg/parts.hpp"
#include "msg/std_layout.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {
namespace {

// The storage of the elements comes before the block that the elements are in: visit may free it.
template <class Visit>
void each_block(const Type& type, const void* at, const Visit& visit) {
  if (type.kind == Kind::map) return;
  each_part(type, at, owns, [&](const Type& part, const void* where, const Field*, std::size_t) {
    each_block(part, where, visit);
    return true;
  });
  if (const Block block = block_of(type, at); block.address) visit(block);
}

}  // namespace

void free_storage(const Type& type, const void* root, Memory& memory) noexcept {
  destroy_maps(type, const_cast<void*>(root));
  each_block(type, root, [&](const Block& block) { memory.free(const_cast<void*>(block.address), block.alignment); });
}

std::uint64_t size_of_value(const Type& type, const void* value) noexcept {
  std::uint64_t size = type.size;
  const auto add = [&size](const auto& self, const Type& whole, const void* at) -> void {
    if (whole.kind == Kind::map) {
      each_entry(whole, at, [&](const void* entry) {
        size += whole.element->size;
        self(self, *whole.element, entry);
        return true;
      });
      return;
    }
    if (block_of(whole, at).address) size += used_bytes(whole, at);
    each_part(whole, at, owns, [&](const Type& part, const void* where, const Field*, std::size_t) {
      self(self, part, where);
      return true;
    });
  };
  if (type.owns) add(add, type, value);
  return size;
}

void list_storage(const Type& type, const void* root, std::vector<const void*>& into) {
  each_block(type, root, [&](const Block& block) { into.push_back(block.address); });
}

}  // namespace sinew::msg
