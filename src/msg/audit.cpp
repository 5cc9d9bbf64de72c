#include <algorithm>
#include <cstddef>
#include <cstring>

#include "msg/bounds.hpp"
#include "msg/copy.hpp"
#include "msg/maps.hpp"
#include "msg/parts.hpp"
#include "msg/std_layout.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {
namespace {

constexpr std::size_t largest_container = std::max({sizeof(StringImage), sizeof(VectorImage), sizeof(BitVectorImage)});

class Auditor {
 public:
  Auditor(const Region& region, Memory& memory) : bounds_(region), memory_(memory) {}

  Audit result;

  bool audit(const Type& type, void* at, const Path& path) {
    const Block block = block_of(type, at);
    if (block.address) {
      if (!bounds_.contain(block.address, block.size)) return replace(type, at, path);
      result.size += used_bytes(type, at);
    }
    if (type.kind == Kind::vector && type.element->kind == Kind::string) return !block.address || audit_texts(type, at, path);
    return each_part(type, at, owns, [&](const Type& part, void* where, const Field* field, std::size_t index) {
      return audit(part, where, path_of(type, path, field, index));
    });
  }

 private:
  // Most of what there is to audit, where there is much.
  bool audit_texts(const Type& type, void* at, const Path& path) {
    const auto& vector = image_at<VectorImage>(at);
    for (std::byte* text = vector.begin; text != vector.end; text += sizeof(StringImage)) {
      const auto [characters, room] = text_at(text);
      if (room == 0) continue;
      if (bounds_.contain(characters.data(), room)) {
        result.size += characters.size() <= longest_inside ? 0 : text_room(characters.size());
      } else if (!replace(*type.element, text, Path{&path, nullptr, static_cast<std::size_t>(text - vector.begin) / sizeof(StringImage)})) {
        return false;
      }
    }
    return true;
  }

  // Builds a second image beside the container before it destroys the first, so that a refusal leaves the message as it was.
  bool replace(const Type& type, void* at, const Path& path) {
    alignas(std::max_align_t) std::byte image[largest_container];
    std::memcpy(image, at, type.size);
    Copier copier(memory_);
    copier.own_storage(type, at, image);
    if (copier.refused()) {
      free_storage(type, image, memory_);
      return false;
    }
    type.destroy(at);
    if (type.kind == Kind::string) {
      place_text(at, image);
    } else {
      std::memcpy(at, image, type.size);
    }
    result.size += copier.bytes();
    if (!replaced_) result.first_field = path.text();
    replaced_ = true;
    result.copied += copier.bytes();
    return true;
  }

  Bounds bounds_;
  Memory& memory_;
  bool replaced_ = false;
};

}  // namespace

Audit audit(const Type& type, void* root, const Region& region, Memory& memory) {
  Auditor auditor(region, memory);
  auditor.result.size = type.size;
  auditor.result.complete = type.in_place && (!type.owns || auditor.audit(type, root, Path{}));
  return std::move(auditor.result);
}

std::optional<std::string> variant_without_value(const Type& type, const void* root) {
  std::optional<std::string> found;
  const auto walk = [&found](const auto& self, const Type& whole, const void* at, const Path& path) -> bool {
    if (whole.kind == Kind::variant && !held_by(whole, at)) {
      found = path.text();
      return false;
    }
    if (whole.kind == Kind::map) {
      std::size_t next = 0;
      return each_entry(whole, at, [&](const void* entry) { return self(self, *whole.element, entry, Path{&path, nullptr, next++}); });
    }
    return each_part(whole, at, has_variants, [&](const Type& part, const void* where, const Field* field, std::size_t index) {
      return self(self, part, where, path_of(whole, path, field, index));
    });
  };
  // An entry has the number that it has in the stream.
  if (type.has_variants) walk(walk, type, root, Path{});
  return found;
}

}  // namespace sinew::msg
