// The members of a type that lists them itself, with SINEW_MESSAGE.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sinew/msg/aggregate.hpp"
#include "sinew/msg/kind.hpp"
#include "sinew/msg/product.hpp"
#include "sinew/msg/text.hpp"

namespace sinew::msg {

template <FixedText Name, auto Member>
struct Named {
  static constexpr FixedText name = Name;
  static constexpr auto member = Member;
};

/// What sinew_members() returns: the type and its members. First is an empty place, since each member of the macro brings a comma before it.
template <class T, class First, class... Members>
struct Listing {
  using Type = T;
};

struct First {};

// The function is a member when the macro stands inside the class and a neighbour of the class when it stands outside. Neither is ever called.
template <class T>
auto listing_of(T& object) {
  if constexpr (requires { object.sinew_members(static_cast<const T*>(nullptr)); }) {
    return object.sinew_members(static_cast<const T*>(nullptr));
  } else if constexpr (requires { sinew_members(static_cast<const T*>(nullptr)); }) {
    return sinew_members(static_cast<const T*>(nullptr));
  } else {
    return Listing<void, First>{};
  }
}

template <class T>
struct ListedMembers {
  template <class L>
  struct Of;
  template <class... Members>
  struct Of<Listing<T, First, Members...>> {
    static constexpr std::size_t count = sizeof...(Members);
    static consteval auto row() {
      return row_of<std::remove_reference_t<decltype(shell<T>.value.*Members::member)>...>(&(shell<T>.value.*Members::member)...);
    }
    static constexpr std::string_view names[sizeof...(Members) + 1] = {Members::name.view()..., {}};
  };
  using Listed = Of<decltype(listing_of(std::declval<T&>()))>;

  static constexpr std::size_t count = Listed::count;
  using Row = decltype(Listed::row());
  static consteval Row row() { return Listed::row(); }

  template <std::size_t I>
  using Type = std::remove_const_t<typename decltype(slot<I>(Row{}))::Type>;

  template <std::size_t I>
  static consteval std::string_view name() {
    const std::string_view written = Listed::names[I];
    return written.substr(written.find_last_of(": ") + 1);  // of a member of a base: Base::member
  }
};

/// True when T, and not only a base of it, has SINEW_MESSAGE.
template <class T>
inline constexpr bool is_listed = std::is_same_v<typename decltype(listing_of(std::declval<T&>()))::Type, T>;

template <class T>
consteval auto members_of() {
  if constexpr (!product_name<T>.empty()) {
    return std::type_identity<ProductMembers<T>>();
  } else if constexpr (Alternatives<T>::known) {
    return std::type_identity<Alternatives<T>>();
  } else if constexpr (is_listed<T>) {
    return std::type_identity<ListedMembers<T>>();
  } else {
    return std::type_identity<AggregateMembers<T>>();
  }
}

/// The members of a structure, or the alternatives of a variant, which have neither names nor addresses.
template <class T>
using MembersOf = typename decltype(members_of<T>())::type;

}  // namespace sinew::msg
