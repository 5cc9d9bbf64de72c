// What cannot be a message, and the one sentence that the compiler says then.
//
// Troubles are looked for as values first and asserted only for the type that has one, because going on to reflect a refused type makes the compiler
// write pages.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "sinew/msg/listing.hpp"
#include "sinew/msg/type_name.hpp"

namespace sinew::msg {

enum class Trouble {
  none,
  pointer,
  reference,
  number,
  union_type,
  standard_class,
  virtual_functions,
  hidden_members,
  base_class,
  not_default_constructible,
  not_copyable,
  too_many_members,
  initialiser,
  bit_field,
  packed,
  unlisted_members,
  listed_twice,
  enumeration_of_bool,
  unnamed,
  element_of_view,
  recursive,
  too_large,
  other,
};

/// Converts to bases of T only, so that T{OnlyBases<T>{}} is possible when the first thing to initialise is a base.
template <class T>
struct OnlyBases {
  template <class Base>
    requires(std::is_base_of_v<Base, T> && !std::is_same_v<Base, T>)
  operator Base() const;
};
struct Nothing {};
template <class T>
inline constexpr bool has_base = requires { T{OnlyBases<T>{}}; } && !requires { T{Nothing{}}; };

/// Converts to unions only, so that T{{}, OnlyUnions{}} is possible where a union is to be initialised.
struct OnlyUnions {
  template <class Union>
    requires std::is_union_v<Union>
  operator Union() const;
};
/// True when a member of the aggregate T is a union. Found without looking at members, which cannot be done where one of them is a union without a name.
template <class T>
consteval bool has_union() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return ((Arity<I>::template followed<T, OnlyUnions> && !Arity<I>::template followed<T, Nothing>) || ...);
  }(std::make_index_sequence<count_members<T>()>{});
}

template <class Row>
inline constexpr bool has_reference = false;
template <class Indices, class... Members>
inline constexpr bool has_reference<Slots<Indices, Members...>> = (std::is_reference_v<Members> || ...);

/// The offsets of the members of T, in their order.
template <class T>
consteval auto offsets() {
  using Members = MembersOf<T>;
  if constexpr (requires { Members::offsets(); }) {
    return Members::offsets();
  } else {
    std::array<std::size_t, Members::count> result{};
    std::size_t after = 0;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] constexpr auto row = [] { return Members::row(); };
      ((result[I] = offset_of<T>(slot<I>(row()).address, after), after = result[I] + sizeof(typename Members::template Type<I>)), ...);
    }(std::make_index_sequence<Members::count>{});
    return result;
  }
}

template <class T>
inline constexpr auto offsets_of = offsets<T>();

/// True when a member of T is not aligned for its type, or would not be in an array of T.
template <class T>
consteval bool is_packed() {
  using Members = MembersOf<T>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    if constexpr (((alignof(typename Members::template Type<I>) > alignof(T)) || ...))
      return true;
    else
      return ((offsets_of<T>[I] == sizeof(T) || offsets_of<T>[I] % alignof(typename Members::template Type<I>) != 0) || ...);
  }(std::make_index_sequence<Members::count>{});
}

/// True when the listed members leave a gap in T in which a pointer could hide.
template <class T>
consteval bool leaves_a_gap() {
  using Members = MembersOf<T>;
  constexpr auto& starts = offsets_of<T>;
  std::array<std::size_t, Members::count> sizes = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::size_t, Members::count>{sizeof(typename Members::template Type<I>)...};
  }(std::make_index_sequence<Members::count>{});
  std::size_t reached = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < Members::count; ++i) {
      if (starts[i] < reached + sizeof(void*) && starts[i] + sizes[i] > reached) {
        reached = starts[i] + sizes[i];
        moved = true;
      }
    }
  }
  return reached + sizeof(void*) <= sizeof(T);
}

/// True when two of the listed members have one name, as one that is listed twice.
template <class T>
consteval bool is_one_listed_twice() {
  using Members = MembersOf<T>;
  constexpr std::array<std::string_view, Members::count> names = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<std::string_view, Members::count>{Members::template name<I>()...};
  }(std::make_index_sequence<Members::count>{});
  std::array<std::uint32_t, Members::count + 1> hashes{};  // else long names that begin alike take more steps than Clang has
  for (std::size_t i = 0; i < Members::count; ++i) {
    for (const char letter : names[i]) hashes[i] = hashes[i] * 31U + static_cast<unsigned char>(letter);
    for (std::size_t other = 0; other < i; ++other) {
      if (hashes[i] == hashes[other] && names[i] == names[other]) return true;
    }
  }
  return false;
}

/// What is wrong with a class, apart from its members.
template <class T>
consteval Trouble class_trouble() {
  if constexpr (Alternatives<T>::known) {
    if constexpr (!std::is_default_constructible_v<T> || !std::is_destructible_v<T>)
      return Trouble::not_default_constructible;
    else
      return MembersOf<T>::count > most_members ? Trouble::too_many_members : Trouble::none;
  } else if constexpr (!product_name<T>.empty()) {
    if constexpr (has_reference<typename MembersOf<T>::Row>)
      return Trouble::reference;
    else if constexpr (!std::is_default_constructible_v<T> || !std::is_destructible_v<T>)
      return Trouble::not_default_constructible;
    else
      return MembersOf<T>::count > most_members ? Trouble::too_many_members : Trouble::none;
  } else if constexpr (is_listed<T>) {
    if constexpr (std::is_polymorphic_v<T>)
      return Trouble::virtual_functions;
    else if constexpr (!std::is_default_constructible_v<T> || !std::is_destructible_v<T>)
      return Trouble::not_default_constructible;
    else if constexpr (MembersOf<T>::count > most_members)
      return Trouble::too_many_members;
    else if constexpr (has_reference<typename MembersOf<T>::Row>)
      return Trouble::reference;
    else if constexpr (is_one_listed_twice<T>())
      return Trouble::listed_twice;
    else if constexpr (is_packed<T>())
      return Trouble::packed;
    else if constexpr (leaves_a_gap<T>())
      return Trouble::unlisted_members;
    else
      return Trouble::none;
  } else if constexpr (raw_name<T>().starts_with("std::")) {
    return is_standard<T>("monostate") ? Trouble::none : Trouble::standard_class;
  } else if constexpr (std::is_polymorphic_v<T>) {
    return Trouble::virtual_functions;
  } else if constexpr (!std::is_aggregate_v<T>) {
    return Trouble::hidden_members;
  } else if constexpr (has_base<T>) {
    return Trouble::base_class;
  } else if constexpr (!requires { T{}; }) {
    return Trouble::not_default_constructible;
  } else if constexpr (constexpr std::size_t count = count_members<T>(); Arity<count>::template followed<T>) {
    return count == most_members ? Trouble::too_many_members : Trouble::initialiser;
  } else if constexpr (has_union<T>()) {
    return Trouble::union_type;
  } else if constexpr (std::is_same_v<typename AggregateMembers<T>::Row, NotAddressable>) {
    return Trouble::bit_field;
  } else if constexpr (has_reference<typename AggregateMembers<T>::Row>) {
    return Trouble::reference;
  } else {
    return Trouble::none;
  }
}

/// What is wrong with T, apart from its members or elements.
template <class T>
consteval Trouble own_trouble() {
  if constexpr (std::is_reference_v<T>)
    return Trouble::reference;
  else if constexpr (std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>)
    return Trouble::pointer;
  else if constexpr (std::is_union_v<T>)
    return Trouble::union_type;
  else if constexpr (std::is_volatile_v<T> || std::is_unbounded_array_v<T> || std::is_void_v<T> || std::is_function_v<T>)
    return Trouble::other;
  else if constexpr (sizeof(T) > UINT32_MAX)
    return Trouble::too_large;
  else if constexpr (number_kind<T>() || is_text<T> || Container<T>::known)
    return Trouble::none;
  else if constexpr (std::is_enum_v<T>) {
    if constexpr (!number_kind<std::underlying_type_t<T>>())
      return Trouble::number;
    else if constexpr (std::is_same_v<std::underlying_type_t<T>, bool>)
      return Trouble::enumeration_of_bool;
    else
      return has_portable_name<T>() ? Trouble::none : Trouble::unnamed;
  } else if constexpr (!std::is_class_v<T>)
    return Trouble::number;
  else if constexpr (constexpr Trouble trouble = class_trouble<T>(); trouble != Trouble::none)
    return trouble;
  else
    return has_portable_name<T>() ? Trouble::none : Trouble::unnamed;
}

template <class T, class... Owners>
consteval Trouble trouble_with();

/// True when the bytes of a T, which has no trouble, are all there is of it: numbers, enumerations, and arrays and structures of them.
template <class T>
consteval bool is_bytes() {
  if constexpr (number_kind<T>() || std::is_enum_v<T>) {
    return true;
  } else if constexpr (Container<T>::known) {
    if constexpr (Container<T>::kind == Kind::array) return is_bytes<std::remove_const_t<typename Container<T>::Element>>();
    return false;
  } else if constexpr (is_structure<T>) {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (is_bytes<typename MembersOf<T>::template Type<I>>() && ...);
    }(std::make_index_sequence<MembersOf<T>::count>{});
  } else {
    return false;
  }
}

/// What is wrong with a container whose elements have no trouble of their own.
template <class T>
consteval Trouble container_trouble() {
  if constexpr (Container<T>::kind == Kind::view) {
    if (!is_bytes<std::remove_const_t<typename Container<T>::Element>>()) return Trouble::element_of_view;
  }
  if (!std::is_default_constructible_v<T>) return Trouble::not_default_constructible;
  return Trouble::none;
}

/// The number of the first member with a trouble, or how many there are.
template <class T, class... Owners>
consteval std::size_t first_bad_member() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    std::size_t bad = 0;
    static_cast<void>(((trouble_with<typename MembersOf<T>::template Type<I>, T, Owners...>() == Trouble::none && ++bad) && ...));
    return bad;
  }(std::make_index_sequence<MembersOf<T>::count>{});
}

/// What is wrong with a structure whose members have no trouble of their own.
template <class T>
consteval Trouble members_trouble() {
  if constexpr (is_structure<T>) {
    if (is_packed<T>()) return Trouble::packed;
    if (!std::is_copy_constructible_v<T> || !std::is_move_constructible_v<T>) return Trouble::not_copyable;
  }
  return Trouble::none;
}

/// What is wrong with T or anything in it. Owners are the types it is in, innermost first.
template <class T, class... Owners>
consteval Trouble trouble_with() {
  if constexpr ((std::is_same_v<T, Owners> || ...)) {
    return Trouble::recursive;
  } else if constexpr (constexpr Trouble own = own_trouble<T>(); own != Trouble::none) {
    return own;
  } else if constexpr (Container<T>::known) {
    constexpr Trouble inner = trouble_with<std::remove_const_t<typename Container<T>::Element>, T, Owners...>();
    if constexpr (inner != Trouble::none) {
      return inner;
    } else {
      return container_trouble<T>();
    }
  } else if constexpr (is_structure<T> || Alternatives<T>::known) {
    constexpr std::size_t bad = first_bad_member<T, Owners...>();
    if constexpr (bad < MembersOf<T>::count) {
      return trouble_with<typename MembersOf<T>::template Type<bad>, T, Owners...>();
    } else {
      return members_trouble<T>();
    }
  } else {
    return Trouble::none;
  }
}

/// Says the sentence. The compiler names Culprit and the types that it is in beside it.
template <Trouble Found, class Culprit, class... Owners>
struct Refuse {
  static_assert(Found != Trouble::pointer,
                "sinew: a pointer cannot be in a message, it means nothing in another process. Put the value itself, a std::optional, a "
                "std::vector or an index.");
  static_assert(Found != Trouble::reference,
                "sinew: a reference cannot be in a message, it means nothing in another process. Put the value itself.");
  static_assert(
      Found != Trouble::number,
      "sinew: this number type differs between machines. Use bool, std::int8_t to std::uint64_t, float or double; for text std::string.");
  static_assert(Found != Trouble::union_type,
                "sinew: a union cannot be in a message, nobody knows which member it holds. Use a std::variant.");
  static_assert(
      Found != Trouble::standard_class,
      "sinew: this class of the standard library cannot be in a message. Use std::string, std::vector, std::map, std::unordered_map "
      "(with their own allocators), std::array, std::optional, std::pair, std::tuple, std::variant, or a structure of them: for a view or "
      "span a std::string or std::vector (subscribers may have std::string_view and std::span<const T>), for a smart pointer the value "
      "itself.");
  static_assert(Found != Trouble::virtual_functions,
                "sinew: a class with virtual functions cannot be in a message, its objects hold a pointer into their own process. Use a "
                "structure of plain members.");
  static_assert(Found != Trouble::hidden_members,
                "sinew: the members of this class cannot be seen, it has constructors or private members. Write SINEW_MESSAGE(Class, "
                "member, member...) into its public part (sinew/message.hpp).");
  static_assert(Found != Trouble::base_class,
                "sinew: a structure with a base class cannot be in a message. Make the base its first member.");
  static_assert(Found != Trouble::not_default_constructible,
                "sinew: a receiver must be able to make an empty message of this type: it and all its members must be "
                "default-constructible and destructible.");
  static_assert(Found != Trouble::not_copyable,
                "sinew: a message is copied for those who want one of their own: this class must have a copy constructor, and a move "
                "constructor if it has deleted that. Write them, or default them, in its public part.");
  static_assert(Found != Trouble::too_many_members,
                "sinew: a structure in a message has at most 128 members, and a variant 128 alternatives. Group some of them into "
                "structures of their own.");
  static_assert(Found != Trouble::initialiser,
                "sinew: a member of this structure cannot be initialised from {}. Give the type of that member a default constructor.");
  static_assert(Found != Trouble::bit_field, "sinew: a bit-field cannot be in a message, it has no address. Use a whole integer or bools.");
  static_assert(Found != Trouble::packed,
                "sinew: a packed structure cannot be in a message, its members are not aligned. Leave out #pragma pack and the attribute "
                "`packed`; where bytes must lie so, use a std::vector of bytes.");
  static_assert(Found != Trouble::unlisted_members,
                "sinew: SINEW_MESSAGE must list every data member of its class, and those of its bases.");
  static_assert(Found != Trouble::listed_twice,
                "sinew: SINEW_MESSAGE lists two members of one name, or one member twice. List each once, and rename one of two that bases "
                "call the same.");
  static_assert(Found != Trouble::enumeration_of_bool,
                "sinew: an enumeration in a message is of an integer. Write `: std::uint8_t` behind its name, or put a bool.");
  static_assert(Found != Trouble::unnamed,
                "sinew: this type has no name that another program could write: it is unnamed, inside a function or in an anonymous "
                "namespace, or a template of values. Move it into a namespace, "
                "or name it with SINEW_NAME(Type, \"robot/Name\") (sinew/message.hpp).");
  static_assert(Found != Trouble::element_of_view,
                "sinew: a std::span in a message has elements without storage of their own: numbers, enumerations, and arrays and "
                "structures of them. Use std::vector for others.");
  static_assert(
      Found != Trouble::recursive,
      "sinew: a type that contains itself cannot be in a message. Put the elements into one std::vector and refer to them by index.");
  static_assert(Found != Trouble::too_large, "sinew: an object in a message is at most 4 GiB large. Use a std::vector.");
  static_assert(
      Found != Trouble::other,
      "sinew: this kind of type cannot be in a message (volatile, void, a function, or an array without a size). Use plain values.");
};

/// Instantiates Refuse for the innermost type in T that has a trouble. Never called: Clang takes no constant out of a function in which an assertion failed.
template <class T, class... Owners>
void refuse() {
  if constexpr ((std::is_same_v<T, Owners> || ...)) {
    static_cast<void>(Refuse<Trouble::recursive, T, Owners...>{});
  } else if constexpr (constexpr Trouble own = own_trouble<T>(); own != Trouble::none) {
    static_cast<void>(Refuse<own, T, Owners...>{});
  } else if constexpr (Container<T>::known) {
    using Element = std::remove_const_t<typename Container<T>::Element>;
    if constexpr (trouble_with<Element, T, Owners...>() != Trouble::none) {
      refuse<Element, T, Owners...>();
    } else {
      static_cast<void>(Refuse<container_trouble<T>(), T, Owners...>{});
    }
  } else if constexpr (constexpr std::size_t bad = first_bad_member<T, Owners...>(); bad < MembersOf<T>::count) {
    refuse<typename MembersOf<T>::template Type<bad>, T, Owners...>();
  } else {
    static_cast<void>(Refuse<members_trouble<T>(), T, Owners...>{});
  }
}

}  // namespace sinew::msg
