#include "msg/copy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "msg/maps.hpp"
#include "msg/parts.hpp"
#include "msg/std_layout.hpp"

namespace sinew::msg {

void* Copier::allocate(std::size_t size, std::size_t alignment) noexcept {
  if (refused_ || stop(size > budget_ - bytes_ ? "more storage than its publisher said" : nullptr)) return nullptr;
  void* const block = memory_.allocate(size, alignment);
  refused_ = block == nullptr;
  if (block) bytes_ += size;
  return block;
}

bool Copier::stop(const char* fault) noexcept {
  if (fault && !refused_) fault_ = fault;
  refused_ |= fault != nullptr;
  return fault != nullptr;
}

void Copier::own_string(const void* source, void* target) noexcept {
  if (refused_ || (inspector_ && stop(inspector_->fault_of_text(image_at<StringImage>(target), source)))) {
    set_text(target, 0, nullptr);
    return;
  }
  const std::string_view characters = text_of(target, source).characters;
  void* block = nullptr;
  std::size_t size = characters.size();
  if (size > longest_inside) {
    block = allocate(text_room(size), 1);
    if (!block) size = 0;
  }
  std::memmove(set_text(target, size, block), characters.data(), size);  // short ones may be there already
}

void Copier::own_vector(const Type& type, void* target) noexcept {
  const VectorImage from = image_at<VectorImage>(target);
  image_at<VectorImage>(target) = {};
  if (refused_ || (inspector_ && stop(inspector_->fault_of_vector(from, *type.element)))) return;
  const auto size = static_cast<std::size_t>(from.end - from.begin);
  auto* const block = size == 0 ? nullptr : static_cast<std::byte*>(allocate(size, type.element->align));
  if (!block) return;
  std::memcpy(block, from.begin, size);
  image_at<VectorImage>(target) = {block, block + size, block + size};
  if (!(inspector_ ? is_deep(*type.element) : owns(*type.element))) return;
  for (std::size_t at = 0; at < size; at += type.element->size) own_storage(*type.element, from.begin + at, block + at);
}

void Copier::own_bits(void* target) noexcept {
  const BitVectorImage from = image_at<BitVectorImage>(target);
  set_bits(target, 0, nullptr);
  if (refused_ || (inspector_ && stop(inspector_->fault_of_bits(from)))) return;
  const Bits bits = bits_at(&from);
  const std::size_t size = bit_words(bits.count) * sizeof(Bits::Word);
  void* const block = size == 0 ? nullptr : allocate(size, alignof(Bits::Word));
  if (!block) return;
  std::memcpy(block, bits.words, size);
  set_bits(target, bits.count, block);
}

// A flag that is none would not even let the value be freed.
void Copier::check_flag(void* flag, const char* fault) noexcept {
  auto& byte = *static_cast<unsigned char*>(flag);
  if (byte <= 1) return;
  byte = 0;
  stop(fault);
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
    std::uint64_t patience = UINT64_MAX;  // of this process's own map
    refused_ |= type.map->insert(target, copy, patience) == MapAccess::Inserted::refused;
    element.destroy(copy);
    bytes_ += element.size;
    return !refused_;
  });
  bytes_ -= element.size;  // of the copy outside
  memory_.free(copy, element.align);
}

void Copier::own_storage(const Type& type, const void* source, void* target) noexcept {
  switch (type.kind) {
    case Kind::string:
      return own_string(source, target);
    case Kind::vector:
      return own_vector(type, target);
    case Kind::bit_vector:
      return own_bits(target);
    case Kind::map:
      return own_map(type, source, target);
    case Kind::boolean:
      return check_flag(target, bad_bool);
    case Kind::optional:
      if (inspector_) check_flag(offset_by(target, type.element->size), bad_optional);
      break;
    case Kind::variant:
      if (inspector_ && !held_by(type, target)) stop(bad_variant);
      break;
    case Kind::enumeration:
      return type.element->flat ? void() : own_storage(*type.element, source, target);
    case Kind::int8:
    case Kind::int16:
    case Kind::int32:
    case Kind::int64:
    case Kind::uint8:
    case Kind::uint16:
    case Kind::uint32:
    case Kind::uint64:
    case Kind::float32:
    case Kind::float64:
    case Kind::array:
    case Kind::structure:
    case Kind::text_view:
    case Kind::view:
      break;
  }
  each_part(type, target, inspector_ ? is_deep : owns, [&](const Type& part, void* at, const Field*, std::size_t) {
    own_storage(part, offset_by(source, static_cast<std::size_t>(static_cast<std::byte*>(at) - static_cast<std::byte*>(target))), at);
    return true;
  });
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

CheckedCopy copy_checked(const Type& type, const void* source, void* target, Memory& memory, const Region& region, std::uint64_t budget) {
  if (const char* const fault = fault_of_root(type, source, region)) return {fault, 0};
  budget = std::min(budget, region.bytes());  // whatever its publisher said
  if (type.size > budget) return {"more storage than its publisher said", 0};
  std::memcpy(target, source, type.size);
  Inspector inspector(region);
  Copier copier(memory, inspector, budget - type.size);
  if (!type.flat) copier.own_storage(type, source, target);
  if (!copier.refused()) return {{}, type.size + copier.bytes()};
  free_storage(type, target, memory);
  return {copier.fault() ? copier.fault() : "no memory for a copy of it", 0};
}

}  // namespace sinew::msg
