// Values of types that only their tables tell about.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "definition.hpp"
#include "msg/std_layout.hpp"

namespace sinew::coverage {

using Random = std::mt19937_64;

/// Room for a value, which is destroyed as its class would be.
class Value {
 public:
  explicit Value(const msg::Type& type) : type_(type), at_(::operator new(type.size, std::align_val_t{type.align})) {}
  ~Value() {
    if (alive) type_.destroy(at_);
    ::operator delete(at_, std::align_val_t{type_.align});
  }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  void* at() const { return at_; }
  bool alive = false;

 private:
  const msg::Type& type_;
  void* const at_;
};

/// Gives values random contents, with nothing empty, and nothing above its bound.
class Filler {
 public:
  /// `page`: bytes around which arrays and strings have, 0: they have a few elements. `spread`: elements that they may have more or less.
  Filler(const Listing& listing, Random& random, std::size_t page, std::size_t spread)
      : listing_(listing), random_(random), page_(page), spread_(spread) {}

  /// `at` is a value already.
  void fill(const msg::Type& type, void* at, Bound bound = {}) {
    using msg::Kind;
    switch (type.kind) {
      case Kind::structure:
        for (const msg::Field& field : type.fields) fill(*field.type, msg::offset_by(at, field.offset), listing_.bound_of(type, field));
        break;
      case Kind::array:
        elements(type, at, type.count, bound);
        break;
      case Kind::vector:
        vector(type, at, bound);
        break;
      case Kind::bit_vector: {
        auto& bits = *static_cast<std::vector<bool>*>(at);
        bits.resize(count(1, bound.elements));
        for (auto&& bit : bits) bit = below(2) == 1;
        break;
      }
      case Kind::string: {
        auto& text = *static_cast<std::string*>(at);
        text.resize(count(1, bound.characters));
        for (char& letter : text) letter = static_cast<char>('a' + below(26));
        break;
      }
      case Kind::boolean:
        *static_cast<bool*>(at) = below(2) == 1;
        break;
      case Kind::optional:  // ROS 2 has none
      case Kind::enumeration:
        break;
      default: {
        const std::uint64_t bits = random_();
        std::memcpy(at, &bits, type.size);
      }
    }
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::size_t count(std::size_t size, std::size_t most) {
    std::size_t number = 1 + below(4);
    if (page_ > 0) {
      const std::size_t filling = std::max<std::size_t>(page_ / size, 1);
      number = filling - std::min(spread_, filling - 1) + below(2 * spread_ + 1);
    }
    return most == 0 ? number : std::min(number, most);
  }

  // Through the image, since no class of the elements is known here. The class takes it for its own when it is destroyed.
  void vector(const msg::Type& type, void* at, Bound bound) {
    const msg::Type& element = *type.element;
    type.destroy(at);
    type.construct(at);
    // Elements that have storage of their own bring a page each.
    const std::size_t number =
        element.owns ? std::min<std::size_t>(1 + below(3), bound.elements == 0 ? 3 : bound.elements) : count(element.size, bound.elements);
    auto* const block = static_cast<std::byte*>(::operator new(number * element.size));
    for (std::size_t i = 0; i < number; ++i) element.construct(block + i * element.size);
    std::byte* const end = block + number * element.size;
    msg::image_at<msg::VectorImage>(at) = {block, end, end};
    elements(type, block, number, bound);
  }

  void elements(const msg::Type& type, void* first, std::size_t number, Bound bound) {
    for (std::size_t i = 0; i < number; ++i)
      fill(*type.element, msg::offset_by(first, i * type.element->size), {.elements = 0, .characters = bound.characters});
  }

  const Listing& listing_;
  Random& random_;
  const std::size_t page_, spread_;
};

}  // namespace sinew::coverage
