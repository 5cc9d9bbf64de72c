// Signature, hash and layout hash of a type table (spec/types.md). Evaluated at compile time for every message.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <version>

#include "sinew/msg/kind.hpp"
#include "sinew/msg/text.hpp"

namespace sinew::msg {

/// A signature is at most this long, a type at most so many structures and containers deep: what a decoder must be ready for.
inline constexpr std::size_t max_signature = 32768;
inline constexpr std::size_t max_depth = 64;

/// Writes the signature of a type, or without names of types the text that is hashed.
template <class Sink>
constexpr void put_type(Sink& sink, const Type& type, bool with_names) {
  switch (type.kind) {
    case Kind::structure:
      if (with_names) sink.put(type.name);
      sink.put("{");
      for (const Field& field : type.fields) {
        sink.put(field.name);
        sink.put(":");
        put_type(sink, *field.type, with_names);
        sink.put(";");
      }
      sink.put("}");
      break;
    case Kind::variant: {
      std::string_view separator = "(";
      for (const Field& alternative : type.fields) {
        sink.put(separator);
        put_type(sink, *alternative.type, with_names);
        separator = "|";
      }
      sink.put(")");
      break;
    }
    case Kind::enumeration:
      sink.put(with_names ? type.name : "enum");
      sink.put("(");
      put_type(sink, *type.element, with_names);
      sink.put(")");
      break;
    case Kind::vector:
    case Kind::view:
    case Kind::map:
      put_type(sink, *type.element, with_names);
      sink.put("[]");
      break;
    case Kind::bit_vector:
      sink.put("bool[]");
      break;
    case Kind::array:
      put_type(sink, *type.element, with_names);
      sink.put("[");
      put_number(sink, type.count);
      sink.put("]");
      break;
    case Kind::optional:
      put_type(sink, *type.element, with_names);
      sink.put("?");
      break;
    case Kind::boolean:
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
    case Kind::string:
    case Kind::text_view:
      sink.put(kind_name(type.kind));
  }
}

constexpr std::size_t depth_of(const Type& type) {
  std::size_t deepest = has_element(type.kind) ? depth_of(*type.element) : 0;
  for (const Field& field : type.fields) {
    const std::size_t depth = depth_of(*field.type);
    if (depth > deepest) deepest = depth;
  }
  return deepest + 1;
}

/// FNV-1a of 128 bits, mixed at the end because short texts leave its upper bits alike.
class StructureHash {
 public:
  constexpr void put(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * prime;
  }
  constexpr std::array<std::uint8_t, 16> bytes() const {
    std::uint64_t low = mix(static_cast<std::uint64_t>(state_) ^ mix(static_cast<std::uint64_t>(state_ >> 64)));
    std::uint64_t high = mix(static_cast<std::uint64_t>(state_ >> 64) + low);
    std::array<std::uint8_t, 16> result{};
    for (std::size_t i = 0; i < 8; ++i, high <<= 8, low <<= 8) {
      result[i] = static_cast<std::uint8_t>(high >> 56);
      result[i + 8] = static_cast<std::uint8_t>(low >> 56);
    }
    return result;
  }

 private:
  __extension__ typedef unsigned __int128 Word;

  static constexpr std::uint64_t mix(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xe9846af9b1a615d;
    x ^= x >> 32;
    x *= 0xe9846af9b1a615d;
    return x ^ (x >> 28);
  }

  static constexpr Word prime = (Word{1} << 88) + 0x13b;
  Word state_ = (Word{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
};

constexpr std::array<std::uint8_t, 16> hash_of(const Type& type) {
  StructureHash hash;
  put_type(hash, type, false);
  return hash.bytes();
}

/// FNV-1a of 64 bits over numbers, little end first.
class LayoutHash {
 public:
  constexpr void put(std::uint64_t number) {
    for (int i = 0; i < 8; ++i, number >>= 8) state_ = (state_ ^ (number & 0xff)) * 0x100000001b3;
  }
  constexpr void put(std::string_view text) {
    for (const char c : text) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    put(text.size());
  }
  constexpr void put(const Type& type) {
    put(static_cast<std::uint64_t>(type.kind));
    put(type.size);
    put(type.align);
    put(type.count);
    if (has_element(type.kind)) put(*type.element);
    put(type.fields.size());
    for (const Field& field : type.fields) {
      put(field.offset);
      put(*field.type);
    }
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

/// What besides sizes and offsets decides how string, vector and optional look in memory.
inline constexpr std::string_view standard_library =
#if defined(_LIBCPP_VERSION)
    "libc++";
#elif defined(_GLIBCXX_DEBUG)
    "libstdc++ debug";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
    "libstdc++ c++11";
#else
    "libstdc++ old";
#endif

constexpr std::uint64_t layout_of(const Type& type) {
  LayoutHash hash;
  hash.put(standard_library);
  hash.put(std::uint64_t{std::endian::native == std::endian::little});
  hash.put(std::uint64_t{sizeof(void*)});
  hash.put(type);
  return hash.value() != 0 ? hash.value() : 1;
}

}  // namespace sinew::msg
