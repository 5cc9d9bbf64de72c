#include "msg/copy.hpp"

#include <cstddef>
#include <cstring>

#include "msg/maps.hpp"
#include "msg/parts.hpp"
#include "msg/std_layout.hpp"

namespace sinew::msg {

void* Copier::allocate(std::size_t size, std::size_t alignment) noexcept {
  if (refused_) return nullptr;
  void* const block = memory_.allocate(size, alignment);
  refused_ = block == nullptr;
  if (block) bytes_ += size;
  return block;
}

void Copier::own_string(const void* source, void* target) noexcept {
  const std::string_view from = text_at(source).characters;
  void* block = nullptr;
  std::size_t size = from.size();
  if (size > longest_inside) {
    block = allocate(text_room(size), 1);
    if (!block) size = 0;
  }
  std::memcpy(set_text(target, size, block), from.data(), size);
}

void Copier::own_vector(const Type& type, const void* source, void* target) noexcept {
  const auto& from = image_at<VectorImage>(source);
  auto& to = image_at<VectorImage>(target);
  const std::size_t size = used_bytes(type, source);
  auto* const block = size == 0 ? nullptr : static_cast<std::byte*>(allocate(size, type.element->align));
  if (block) std::memcpy(block, from.begin, size);
  to.begin = block;
  to.end = to.limit = block ? block + size : nullptr;
  if (!block || !type.element->owns) return;
  for (std::size_t at = 0; at < size; at += type.element->size) own_storage(*type.element, from.begin + at, block + at);
}

void Copier::own_bits(const Type& type, const void* source, void* target) noexcept {
  const Bits from = bits_at(source);
  const std::size_t size = used_bytes(type, source);
  void* const block = size == 0 ? nullptr : allocate(size, alignof(Bits::Word));
  if (block) std::memcpy(block, from.words, size);
  set_bits(target, block ? from.count : 0, block);
}

// Entries are copied outside of the map and move in, since only the map can make its nodes.
void Copier::own_map(const Type& type, const void* source, void* target) noexcept {
  type.construct(target);
  if (refused_) return;
  const Type& element = *type.element;
  void* const copy = allocate(element.size, element.align);
  if (!copy) return;
  each_entry(type, source, [&](const void* entry) {
    std::memcpy(copy, entry, element.size);
    own_storage(element, entry, copy);
    refused_ |= type.map->insert(target, copy) == MapAccess::Inserted::refused;
    element.destroy(copy);
    bytes_ += element.size;
    return !refused_;
  });
  bytes_ -= element.size;  // of the copy outside
  memory_.free(copy);
}

void Copier::own_storage(const Type& type, const void* source, void* target) noexcept {
  switch (type.kind) {
    case Kind::string:
      return own_string(source, target);
    case Kind::vector:
      return own_vector(type, source, target);
    case Kind::bit_vector:
      return own_bits(type, source, target);
    case Kind::map:
      return own_map(type, source, target);
    default:
      each_part(type, target, owns, [&](const Type& part, void* at, const Field*, std::size_t) {
        own_storage(part, offset_by(source, static_cast<std::size_t>(static_cast<std::byte*>(at) - static_cast<std::byte*>(target))), at);
        return true;
      });
  }
}

Copied copy_value(const Type& type, const void* source, void* target, Memory& memory) noexcept {
  std::memcpy(target, source, type.size);
  Copier copier(memory);
  if (type.owns) copier.own_storage(type, source, target);
  if (copier.refused()) {
    free_storage(type, target, memory);
    return {};
  }
  return {.complete = true, .bytes = type.size + copier.bytes()};
}

}  // namespace sinew::msg
