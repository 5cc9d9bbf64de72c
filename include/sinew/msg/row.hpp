// The members of an object side by side: for each its type and its address.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include "sinew/detail/language.hpp"

namespace sinew::msg {

template <std::size_t I, class Member>
struct Slot {
  using Type = Member;
  const std::remove_reference_t<Member>* address;
};

template <class Indices, class... Members>
struct Slots;

template <std::size_t... I, class... Members>
struct Slots<std::index_sequence<I...>, Members...> : Slot<I, Members>... {
  static constexpr std::size_t count = sizeof...(Members);
};

template <class... Members>
constexpr auto row_of(const std::remove_reference_t<Members>*... addresses) {
  return Slots<std::index_sequence_for<Members...>, Members...>{{addresses}...};
}

/// The I-th slot of a row.
template <std::size_t I, class Member>
constexpr Slot<I, Member> slot(const Slot<I, Member>& slot) {
  return slot;
}

struct NotAddressable {};

/// Initialises a member of any type, also of a reference type, where nothing is evaluated.
struct Anything {
  template <class T>
  operator T&() const&;
  template <class T>
  operator T&&() const&&;
};

}  // namespace sinew::msg
