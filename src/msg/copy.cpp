#include "msg/copy.hpp"

#include <cstddef>
#include <cstring>

#include "msg/parts.hpp"
#include "msg/std_layout.hpp"

namespace sinew::msg {

void* Copier::copy_block(const void* from, std::size_t size, std::size_t alignment) noexcept {
  if (refused_) return nullptr;
  void* block = memory_.allocate(size, alignment);
  if (!block) {
    refused_ = true;
    return nullptr;
  }
  std::memcpy(block, from, size);
  bytes_ += size;
  return block;
}

void Copier::own_string(const void* source, void* target) noexcept {
  const auto& from = image_at<StringImage>(source);
  auto& to = image_at<StringImage>(target);
  const std::size_t size = from.size;
  if (size >= sizeof to.own) {
    if (void* block = copy_block(from.data, size + 1, 1)) {
      to.data = static_cast<char*>(block);
      to.capacity = size;
      return;
    }
    to.size = 0;
    to.own[0] = '\0';
  } else {
    std::memcpy(to.own, from.data, size + 1);
  }
  to.data = to.own;
}

void Copier::own_vector(const Type& type, const void* source, void* target) noexcept {
  const auto& from = image_at<VectorImage>(source);
  auto& to = image_at<VectorImage>(target);
  const std::size_t size = used_bytes(type, source);
  auto* block = size == 0 ? nullptr : static_cast<std::byte*>(copy_block(from.begin, size, type.element->align));
  to.begin = block;
  to.end = to.limit = block ? block + size : nullptr;
  if (!block || !type.element->owns) return;
  for (std::size_t at = 0; at < size; at += type.element->size) own_storage(*type.element, from.begin + at, block + at);
}

void Copier::own_bits(const Type& type, const void* source, void* target) noexcept {
  auto& to = image_at<BitVectorImage>(target);
  const std::size_t size = used_bytes(type, source);
  auto* block = size == 0 ? nullptr : static_cast<BitVectorImage::Word*>(copy_block(to.begin, size, alignof(BitVectorImage::Word)));
  if (!block) {
    to = BitVectorImage{};
    return;
  }
  to.end = block + (to.end - to.begin);
  to.begin = block;
  to.limit = block + size / sizeof(BitVectorImage::Word);
}

void Copier::own_storage(const Type& type, const void* source, void* target) noexcept {
  switch (type.kind) {
    case Kind::string:
      return own_string(source, target);
    case Kind::vector:
      return own_vector(type, source, target);
    case Kind::bit_vector:
      return own_bits(type, source, target);
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
