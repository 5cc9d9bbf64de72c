// Which C++ types are which kind, and what containers contain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinew/msg/spelling.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg {

/// The kind of a number, or nothing. `char` is a byte of text and uint8 everywhere, although its sign differs between machines.
template <class T>
consteval std::optional<Kind> number_kind() {
  if constexpr (std::is_same_v<T, bool>) {
    return Kind::boolean;
  } else if constexpr (std::is_same_v<T, char>) {
    return Kind::uint8;
  } else if constexpr (std::is_same_v<T, float>) {
    return Kind::float32;
  } else if constexpr (std::is_same_v<T, double>) {
    return Kind::float64;
  } else if constexpr (std::is_same_v<T, wchar_t> || std::is_same_v<T, char8_t> || std::is_same_v<T, char16_t> ||
                       std::is_same_v<T, char32_t> || !std::is_integral_v<T> || std::is_volatile_v<T>) {
    return std::nullopt;
  } else {
    constexpr bool sign = std::is_signed_v<T>;
    switch (sizeof(T)) {
      case 1:
        return sign ? Kind::int8 : Kind::uint8;
      case 2:
        return sign ? Kind::int16 : Kind::uint16;
      case 4:
        return sign ? Kind::int32 : Kind::uint32;
      case 8:
        return sign ? Kind::int64 : Kind::uint64;
      default:
        return std::nullopt;
    }
  }
}

/// "uint32"; also "string" for Kind::string and Kind::text_view. Empty for kinds that have no name of their own.
constexpr std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::boolean:
      return "bool";
    case Kind::int8:
      return "int8";
    case Kind::int16:
      return "int16";
    case Kind::int32:
      return "int32";
    case Kind::int64:
      return "int64";
    case Kind::uint8:
      return "uint8";
    case Kind::uint16:
      return "uint16";
    case Kind::uint32:
      return "uint32";
    case Kind::uint64:
      return "uint64";
    case Kind::float32:
      return "float32";
    case Kind::float64:
      return "float64";
    case Kind::string:
    case Kind::text_view:
      return "string";
    case Kind::enumeration:
    case Kind::vector:
    case Kind::bit_vector:
    case Kind::array:
    case Kind::optional:
    case Kind::structure:
    case Kind::view:
    case Kind::variant:
    case Kind::map:
      break;
  }
  return "";
}

/// True when Type::element is not null. (Under -fsanitize=undefined GCC cannot compare it with null at compile time.)
constexpr bool has_element(Kind kind) {
  return kind == Kind::enumeration || kind == Kind::vector || kind == Kind::array || kind == Kind::optional || kind == Kind::view ||
         kind == Kind::map;
}

/// Text: `std::string`, or a view of one.
template <class T>
inline constexpr bool is_text = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

/// Containers with an element: `known`, `kind`, `Element`, `count`.
template <class T>
struct Container {
  static constexpr bool known = false;
};
template <class T, Kind K, std::size_t N>
struct KnownContainer {
  static constexpr bool known = true;
  static constexpr Kind kind = K;
  static constexpr std::size_t count = N;
  using Element = T;
};
template <class T>
struct Container<std::vector<T>> : KnownContainer<T, Kind::vector, 0> {};
template <>
struct Container<std::vector<bool>> : KnownContainer<bool, Kind::bit_vector, 0> {};
template <class T>
struct Container<std::optional<T>> : KnownContainer<T, Kind::optional, 0> {};
template <class T>
struct Container<std::span<const T>> : KnownContainer<const T, Kind::view, 0> {};

/// What a map contains, as a structure of `key` and `value`.
template <class Key, class Value>
struct MapEntry : std::pair<Key, Value> {};
template <class T>
concept StandardMap = (is_standard<T>("map") || is_standard<T>("unordered_map")) &&
                      std::is_same_v<typename T::allocator_type, std::allocator<typename T::value_type>>;
template <template <class...> class Template, class Key, class Value, class... Others>
  requires(StandardMap<Template<Key, Value, Others...>>)
struct Container<Template<Key, Value, Others...>>
    : KnownContainer<MapEntry<std::remove_const_t<Key>, std::remove_const_t<Value>>, Kind::map, 0> {};

template <class T, std::size_t N>
struct Container<std::array<T, N>> : KnownContainer<T, Kind::array, N> {};
template <class T, std::size_t N>
struct Container<T[N]> : KnownContainer<T, Kind::array, N> {};

/// What the name of a std::pair, std::tuple or MapEntry begins with, which are structures though their members cannot be seen; empty for other types.
template <class T>
inline constexpr std::string_view product_name = {};
template <class A, class B>
inline constexpr std::string_view product_name<std::pair<A, B>> = "pair";
template <class... Elements>
inline constexpr std::string_view product_name<std::tuple<Elements...>> = "tuple";
template <class Key, class Value>
inline constexpr std::string_view product_name<MapEntry<Key, Value>> = "entry";

/// A std::variant: `known`, `count`, `Type<I>`.
template <class T>
struct Alternatives {
  static constexpr bool known = false;
};
template <template <class...> class Template, class... Types>
  requires(is_standard<Template<Types...>>("variant"))
struct Alternatives<Template<Types...>> {
  static constexpr bool known = true;
  static constexpr std::size_t count = sizeof...(Types);
  template <std::size_t I>
  using Type = std::remove_const_t<std::tuple_element_t<I, std::tuple<Types...>>>;
};

/// A class whose members are found one by one: not a number, enumeration, text, container or variant.
template <class T>
inline constexpr bool is_structure = std::is_class_v<T> && !is_text<T> && !Container<T>::known && !Alternatives<T>::known;

}  // namespace sinew::msg
