#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "msg/parts.hpp"
#include "msg/std_layout.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {
namespace {

std::uintptr_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}
bool is_aligned(const void* address, std::size_t alignment) {
  return number(address) % alignment == 0;
}

class Validator {
 public:
  Validator(const Region& region, std::uint64_t budget) : region_(region), budget_(budget) {}

  std::string complaint;

  // The object at `at` lies in the region and is aligned.
  bool check(const Type& type, const void* at, const Path& path) {
    const char* wrong = nullptr;
    switch (type.kind) {
      case Kind::boolean:
        wrong = *static_cast<const unsigned char*>(at) > 1 ? "a bool that is neither 0 nor 1" : nullptr;
        break;
      case Kind::enumeration:
        return type.element->flat || check(*type.element, at, path);
      case Kind::optional:
        wrong = static_cast<const unsigned char*>(at)[type.element->size] > 1 ? "an optional whose flag is neither 0 nor 1" : nullptr;
        break;
      case Kind::string:
        wrong = string_fault(at);
        break;
      case Kind::vector:
        wrong = vector_fault(image_at<VectorImage>(at), *type.element);
        break;
      case Kind::bit_vector:
        wrong = bit_vector_fault(at);
        break;
      case Kind::variant:
        wrong = held_by(type, at) ? nullptr : "a variant without a value";
        break;
      default:
        break;
    }
    if (wrong) {
      const std::string where = path.text();
      complaint = (where.empty() ? "the message itself" : "field '" + where + "'") + ": " + wrong;
      return false;
    }
    return each_part(type, at, is_deep, [&](const Type& part, const void* where, const Field* field, std::size_t index) {
      return check(part, where, path_of(type, path, field, index));
    });
  }

 private:
  const char* spend(std::uint64_t work) {
    if (work > budget_) return "more containers than a reader is willing to check";
    budget_ -= work;
    return nullptr;
  }

  const char* string_fault(const void* at) {
    if (const char* const fault = text_fault(at)) return fault;
    const auto [characters, room] = text_at(at);
    if (room > 0 && !region_.contains(characters.data(), room)) return "a string with storage outside the publisher's memory";
    if (characters.data()[characters.size()] != '\0') return "a string without the NUL at its end";
    return spend(1);
  }

  const char* vector_fault(const VectorImage& vector, const Type& element) {
    const std::uintptr_t begin = number(vector.begin), end = number(vector.end), limit = number(vector.limit);
    if (begin > end || end > limit) return "a vector that ends before it begins, or behind its capacity";
    if (limit == 0) return spend(1);
    if (begin == limit) return "a vector that has storage of no bytes";
    if ((end - begin) % element.size != 0 || (limit - begin) % element.size != 0)
      return "a vector whose size is not a multiple of its elements' size";
    if (!is_aligned(vector.begin, element.align)) return "a vector with storage that is not aligned for its elements";
    if (!region_.contains(vector.begin, limit - begin)) return "a vector with storage outside the publisher's memory";
    return spend(1 + (element.flat ? 0 : (end - begin) / 64));
  }

  const char* bit_vector_fault(const void* at) {
    if (const char* const fault = bits_fault(at)) return fault;
    const Bits bits = bits_at(at);
    if (bits.capacity > 0 && !region_.contains(bits.words, bits.capacity * sizeof(Bits::Word)))
      return "a vector of bool with storage outside the publisher's memory";
    return spend(1);
  }

  const Region& region_;
  std::uint64_t budget_;
};

}  // namespace

std::optional<std::string> complaint_about(const Type& type, const void* root, const Region& region, std::uint64_t budget) {
  if (!type.in_place) return "the message itself: a type with maps, which is never read in place";
  if (type.has_views) return "the message itself: a type with views, which is never read in place";
  if (!is_aligned(root, type.align)) return "the message itself: an address that is not aligned for its type";
  if (!region.contains(root, type.size)) return "the message itself: an address outside the publisher's memory";
  Validator validator(region, budget);
  if (type.flat || validator.check(type, root, Path{})) return std::nullopt;
  return std::move(validator.complaint);
}

}  // namespace sinew::msg
