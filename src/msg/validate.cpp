#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "msg/inspector.hpp"
#include "msg/path.hpp"
#include "msg/std_layout.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {
namespace {

/// Follows nothing but what it has read once and found good.
class Validator {
 public:
  explicit Validator(const Region& region) : inspector_(region) {}

  std::string complaint;

  // The object at `at` lies in the region and is aligned.
  bool check(const Type& type, const void* at, const Path& path) {
    switch (type.kind) {
      case Kind::boolean:
        return snapshot_byte(at) <= 1 || fail(path, bad_bool);
      case Kind::enumeration:
        return type.element->flat || check(*type.element, at, path);
      case Kind::string:
        return check_text(at, path);
      case Kind::vector: {
        const auto image = snapshot<VectorImage>(at);
        if (const char* const fault = inspector_.fault_of_vector(image, *type.element)) return fail(path, fault);
        return check_elements(*type.element, image.begin, static_cast<std::size_t>(image.end - image.begin) / type.element->size, path);
      }
      case Kind::bit_vector: {
        const char* const fault = inspector_.fault_of_bits(snapshot<BitVectorImage>(at));
        return !fault || fail(path, fault);
      }
      case Kind::array:
        return check_elements(*type.element, at, type.count, path);
      case Kind::optional: {
        const unsigned char flag = snapshot_byte(offset_by(at, type.element->size));
        if (flag > 1) return fail(path, bad_optional);
        return flag == 0 || type.element->flat || check(*type.element, at, path);
      }
      case Kind::variant: {
        const Type* const held = alternative_of(type, snapshot<VariantIndex>(index_place(type, at)));
        if (!held) return fail(path, bad_variant);
        return held->flat || check(*held, offset_by(at, variant_place(type)), path);
      }
      case Kind::structure:
        for (const Field& field : type.deep) {
          if (!check(*field.type, offset_by(at, field.offset), Path{&path, &field, 0})) return false;
        }
        return true;
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
      case Kind::text_view:
      case Kind::view:
      case Kind::map:
        break;  // flat; what is never read in place was refused before
    }
    return true;
  }

 private:
  bool fail(const Path& path, const char* fault) {
    const std::string where = path.text();
    complaint = (where.empty() ? "the message itself" : "field '" + where + "'") + ": " + fault;
    return false;
  }

  bool check_text(const void* at, const Path& path) {
    const auto image = snapshot<StringImage>(at);
    if (const char* const fault = inspector_.fault_of_text(image, at)) return fail(path, fault);
    const std::string_view characters = text_of(&image, at).characters;
    return characters.data()[characters.size()] == '\0' || fail(path, "a string without the NUL at its end");
  }

  bool check_elements(const Type& element, const void* first, std::size_t count, const Path& path) {
    if (element.flat) return true;
    if (element.kind == Kind::string) {  // most of what there is to check, where there is much
      for (std::size_t i = 0; i < count; ++i) {
        if (!check_text(offset_by(first, i * sizeof(StringImage)), Path{&path, nullptr, i})) return false;
      }
      return true;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (!check(element, offset_by(first, i * element.size), Path{&path, nullptr, i})) return false;
    }
    return true;
  }

  Inspector inspector_;
};

}  // namespace

std::optional<std::string> complaint_about(const Type& type, const void* root, const Region& region) {
  if (const char* const fault = fault_of_root(type, root, region)) return std::string("the message itself: ") + fault;
  Validator validator(region);
  if (type.flat || validator.check(type, root, Path{})) return std::nullopt;
  return std::move(validator.complaint);
}

}  // namespace sinew::msg
