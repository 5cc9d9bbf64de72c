// What C++20 can find out about the members of an aggregate: how many, their types, names and offsets.
//
// An aggregate with N members is one that can be initialised from N times {} and not from N + 1 times. Empty braces, unlike a type that converts to
// anything, never make a member ambiguous, and count an array once. Names and offsets come from the addresses of members of an object that is never
// constructed, only named. C++26's reflection would replace this file and aggregate_table.hpp.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "sinew/msg/aggregate_table.hpp"

namespace sinew::msg {

/// Room in which a T could be, of which only addresses are used.
template <class T>
union Shell {
  char none;
  char bytes[sizeof(T)];
  T value;
  constexpr Shell() : none{} {}
  constexpr ~Shell() {}
};

// GCC gives a variable that is not constexpr a guard when nothing is optimised; Clang refuses a constexpr one when T is not a literal type.
#if defined(__clang__)
template <class T>
inline Shell<T> shell;
#else
template <class T>
inline constexpr Shell<T> shell;
#endif

/// A pointer to a member as a template argument. Clang before 18 takes a pointer into an object only inside a class.
template <class Pointer>
struct Address {
  Pointer pointer;
};

template <auto Where>
consteval const char* pretty_address() {
  return __PRETTY_FUNCTION__;
}

/// The name of the member at an address: the last identifier of the compiler's spelling of it.
template <auto Where>
consteval std::string_view name_at() {
  const std::string_view text = pretty_address<Where>();
  const auto in_identifier = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
           static_cast<unsigned char>(c) >= 0x80;
  };
  std::size_t end = text.size();
  while (!in_identifier(text[end - 1])) --end;
  std::size_t begin = end;
  while (in_identifier(text[begin - 1])) --begin;
  return text.substr(begin, end - begin);
}

/// How many members T has, by bisection; most_members when it has more.
template <class T, std::size_t Low = 0, std::size_t High = most_members + 1>
consteval std::size_t count_members() {
  if constexpr (High - Low <= 1) {
    return Low;
  } else {
    constexpr std::size_t middle = (Low + High) / 2;
    if constexpr (Arity<middle>::template fits<T>) {
      return count_members<T, middle, High>();
    } else {
      return count_members<T, Low, middle>();
    }
  }
}

/// The members of an aggregate. Only for a T with own_trouble<T>() == Trouble::none (refusal.hpp); anything else gives pages of errors.
template <class T>
struct AggregateMembers {
  static constexpr std::size_t count = count_members<T>();
  using Row = decltype(Arity<count>::row(shell<T>.value));
  static consteval Row row() { return Arity<count>::row(shell<T>.value); }

  template <std::size_t I>
  using Type = std::remove_const_t<typename decltype(slot<I>(Row{}))::Type>;

  template <std::size_t I>
  static consteval std::string_view name() {
    constexpr auto address = slot<I>(row()).address;
    return name_at<Address<std::remove_const_t<decltype(address)>>{address}>();
  }
};

/// True when the member of shell<T>.value at `address` lies at `offset`.
template <class T>
constexpr bool is_at(std::size_t offset, const void* address) {
  return static_cast<const void*>(&shell<T>.bytes[offset]) == address;
}

/// Where the member at `address` of shell<T>.value lies. Addresses of two members compare equal or not at compile time but have no difference, so this
/// tries the offset that the ABI gives an ordinary member after one that ends at `after`, then the one that it gives a packed member, then all others.
template <class T, class Member>
constexpr std::size_t offset_of(const Member* address, std::size_t after) {
  const std::size_t natural = (after + alignof(Member) - 1) / alignof(Member) * alignof(Member);
  if (natural < sizeof(T) && is_at<T>(natural, address)) return natural;
  if (after < sizeof(T) && is_at<T>(after, address)) return after;
  for (std::size_t offset = 0; offset < sizeof(T); offset += alignof(Member)) {
    if (is_at<T>(offset, address)) return offset;
  }
  return sizeof(T);  // not aligned, in a packed structure
}

}  // namespace sinew::msg
