// std::pair and std::tuple as structures: their elements are members called `first` and `second`, or `_0`, `_1` and so on. And what maps contain: `key`, `value`.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "sinew/msg/aggregate.hpp"
#include "sinew/msg/kind.hpp"
#include "sinew/msg/text.hpp"

namespace sinew::msg {

template <class T>
struct ProductMembers;

template <class Whole, class A, class B>
struct TwoMembers {
  static constexpr std::size_t count = 2;
  static consteval auto row() { return row_of<A, B>(&shell<Whole>.value.first, &shell<Whole>.value.second); }
  using Row = decltype(row_of<A, B>(static_cast<const std::remove_reference_t<A>*>(nullptr),
                                    static_cast<const std::remove_reference_t<B>*>(nullptr)));

  template <std::size_t I>
  using Type = std::remove_const_t<std::tuple_element_t<I, std::pair<A, B>>>;
};

template <class A, class B>
struct ProductMembers<std::pair<A, B>> : TwoMembers<std::pair<A, B>, A, B> {
  template <std::size_t I>
  static consteval std::string_view name() {
    return I == 0 ? "first" : "second";
  }
};

template <class Key, class Value>
struct ProductMembers<MapEntry<Key, Value>> : TwoMembers<MapEntry<Key, Value>, Key, Value> {
  template <std::size_t I>
  static consteval std::string_view name() {
    return I == 0 ? "key" : "value";
  }
};

template <std::size_t I>
struct ElementName {
  template <class Sink>
  static constexpr void write(Sink& sink) {
    sink.put("_");
    put_number(sink, I);
  }
};
template <std::size_t I>
inline constexpr auto element_name = make_text<ElementName<I>>();

template <class... Elements>
struct ProductMembers<std::tuple<Elements...>> {
  using Whole = std::tuple<Elements...>;
  static constexpr std::size_t count = sizeof...(Elements);
  static consteval auto row() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return row_of<Elements...>(&std::get<I>(shell<Whole>.value)...);
    }(std::make_index_sequence<count>{});
  }
  using Row = decltype(row_of<Elements...>(static_cast<const std::remove_reference_t<Elements>*>(nullptr)...));

  template <std::size_t I>
  using Type = std::remove_const_t<std::tuple_element_t<I, Whole>>;

  template <std::size_t I>
  static consteval std::string_view name() {
    return element_name<I>.view();
  }

  /// Each is looked for behind the one before; from the last on where libraries lay a tuple out backwards.
  static consteval auto offsets() {
    std::array<std::size_t, count> result{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      [[maybe_unused]] std::size_t after = 0;
      (place<nth(I)>(result, after), ...);
    }(std::make_index_sequence<count>{});
    return result;
  }

 private:
  static consteval std::size_t nth(std::size_t i) {
    if constexpr (count > 0) {
      if (is_at<Whole>(0, slot<count - 1>(row()).address)) return count - 1 - i;
    }
    return i;
  }
  template <std::size_t I>
  static constexpr void place(std::array<std::size_t, count>& result, std::size_t& after) {
    constexpr auto address = slot<I>(row()).address;
    result[I] = offset_of<Whole>(address, after);
    after = result[I] + sizeof(Type<I>);
  }
};

}  // namespace sinew::msg
