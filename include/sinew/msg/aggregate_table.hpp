// What C++20 cannot write with a pack, for every number of members: structured bindings have none before C++26. So the preprocessor counts, in eights
// and ones: a structure of N = 8 * a + b members, b from 1 to 8, has those of SINEW_MEMBERS(a, b, f), each as f(name).
#pragma once

#include <cstddef>

#include "sinew/msg/row.hpp"

namespace sinew::msg {

inline constexpr std::size_t most_members = 128;

/// What can be asked of an aggregate if it has N members. `fits`: N members can be initialised from {}. `followed`: and there is one more, which can be initialised from a `Next`.
/// `row`: the types and addresses of exactly N members, or NotAddressable when one of them is a bit-field.
template <std::size_t N>
struct Arity;

template <>
struct Arity<0> {
  template <class T>
  static constexpr bool fits = requires { T{}; };
  template <class T, class Next = Anything>
  static constexpr bool followed = requires { T{Next{}}; };
  template <class T>
  static constexpr auto row(T&) {
    return row_of<>();
  }
};

// clang-format off
#define SINEW_ONES_1(f, a) f(m##a##_1)
#define SINEW_ONES_2(f, a) SINEW_ONES_1(f, a), f(m##a##_2)
#define SINEW_ONES_3(f, a) SINEW_ONES_2(f, a), f(m##a##_3)
#define SINEW_ONES_4(f, a) SINEW_ONES_3(f, a), f(m##a##_4)
#define SINEW_ONES_5(f, a) SINEW_ONES_4(f, a), f(m##a##_5)
#define SINEW_ONES_6(f, a) SINEW_ONES_5(f, a), f(m##a##_6)
#define SINEW_ONES_7(f, a) SINEW_ONES_6(f, a), f(m##a##_7)
#define SINEW_ONES_8(f, a) SINEW_ONES_7(f, a), f(m##a##_8)
#define SINEW_EIGHTS_0(f)
#define SINEW_EIGHTS_1(f) SINEW_EIGHTS_0(f) SINEW_ONES_8(f, 0),
#define SINEW_EIGHTS_2(f) SINEW_EIGHTS_1(f) SINEW_ONES_8(f, 1),
#define SINEW_EIGHTS_3(f) SINEW_EIGHTS_2(f) SINEW_ONES_8(f, 2),
#define SINEW_EIGHTS_4(f) SINEW_EIGHTS_3(f) SINEW_ONES_8(f, 3),
#define SINEW_EIGHTS_5(f) SINEW_EIGHTS_4(f) SINEW_ONES_8(f, 4),
#define SINEW_EIGHTS_6(f) SINEW_EIGHTS_5(f) SINEW_ONES_8(f, 5),
#define SINEW_EIGHTS_7(f) SINEW_EIGHTS_6(f) SINEW_ONES_8(f, 6),
#define SINEW_EIGHTS_8(f) SINEW_EIGHTS_7(f) SINEW_ONES_8(f, 7),
#define SINEW_EIGHTS_9(f) SINEW_EIGHTS_8(f) SINEW_ONES_8(f, 8),
#define SINEW_EIGHTS_10(f) SINEW_EIGHTS_9(f) SINEW_ONES_8(f, 9),
#define SINEW_EIGHTS_11(f) SINEW_EIGHTS_10(f) SINEW_ONES_8(f, 10),
#define SINEW_EIGHTS_12(f) SINEW_EIGHTS_11(f) SINEW_ONES_8(f, 11),
#define SINEW_EIGHTS_13(f) SINEW_EIGHTS_12(f) SINEW_ONES_8(f, 12),
#define SINEW_EIGHTS_14(f) SINEW_EIGHTS_13(f) SINEW_ONES_8(f, 13),
#define SINEW_EIGHTS_15(f) SINEW_EIGHTS_14(f) SINEW_ONES_8(f, 14),
#define SINEW_MEMBERS(a, b, f) SINEW_EIGHTS_##a(f) SINEW_ONES_##b(f, a)

#define SINEW_BRACES(m) {}
#define SINEW_NAME(m) m
#define SINEW_TYPE(m) decltype(m)
#define SINEW_PLACE(m) &m
#define SINEW_ARITY(a, b)                                                                              \
  template <>                                                                                          \
  struct Arity<8 * (a) + (b)> {                                                                      \
    template <class T>                                                                                 \
    static constexpr bool fits = requires { T{SINEW_MEMBERS(a, b, SINEW_BRACES)}; };                   \
    template <class T, class Next = Anything>                                                          \
    static constexpr bool followed = requires { T{SINEW_MEMBERS(a, b, SINEW_BRACES), Next{}}; };       \
    template <class T>                                                                                 \
    static constexpr auto row(T& t) {                                                                  \
      auto& [SINEW_MEMBERS(a, b, SINEW_NAME)] = t;                                                     \
      if constexpr (requires { row_of<SINEW_MEMBERS(a, b, SINEW_TYPE)>(SINEW_MEMBERS(a, b, SINEW_PLACE)); }) { \
        return row_of<SINEW_MEMBERS(a, b, SINEW_TYPE)>(SINEW_MEMBERS(a, b, SINEW_PLACE));              \
      } else {                                                                                         \
        return NotAddressable{};                                                                       \
      }                                                                                                \
    }                                                                                                  \
  };
#define SINEW_EIGHT_ARITIES(a) \
  SINEW_ARITY(a, 1) SINEW_ARITY(a, 2) SINEW_ARITY(a, 3) SINEW_ARITY(a, 4) SINEW_ARITY(a, 5) SINEW_ARITY(a, 6) SINEW_ARITY(a, 7) SINEW_ARITY(a, 8)

SINEW_EIGHT_ARITIES(0)
SINEW_EIGHT_ARITIES(1)
SINEW_EIGHT_ARITIES(2)
SINEW_EIGHT_ARITIES(3)
SINEW_EIGHT_ARITIES(4)
SINEW_EIGHT_ARITIES(5)
SINEW_EIGHT_ARITIES(6)
SINEW_EIGHT_ARITIES(7)
SINEW_EIGHT_ARITIES(8)
SINEW_EIGHT_ARITIES(9)
SINEW_EIGHT_ARITIES(10)
SINEW_EIGHT_ARITIES(11)
SINEW_EIGHT_ARITIES(12)
SINEW_EIGHT_ARITIES(13)
SINEW_EIGHT_ARITIES(14)
SINEW_EIGHT_ARITIES(15)

#undef SINEW_ONES_1
#undef SINEW_ONES_2
#undef SINEW_ONES_3
#undef SINEW_ONES_4
#undef SINEW_ONES_5
#undef SINEW_ONES_6
#undef SINEW_ONES_7
#undef SINEW_ONES_8
#undef SINEW_EIGHTS_0
#undef SINEW_EIGHTS_1
#undef SINEW_EIGHTS_2
#undef SINEW_EIGHTS_3
#undef SINEW_EIGHTS_4
#undef SINEW_EIGHTS_5
#undef SINEW_EIGHTS_6
#undef SINEW_EIGHTS_7
#undef SINEW_EIGHTS_8
#undef SINEW_EIGHTS_9
#undef SINEW_EIGHTS_10
#undef SINEW_EIGHTS_11
#undef SINEW_EIGHTS_12
#undef SINEW_EIGHTS_13
#undef SINEW_EIGHTS_14
#undef SINEW_EIGHTS_15
#undef SINEW_MEMBERS
#undef SINEW_BRACES
#undef SINEW_NAME
#undef SINEW_TYPE
#undef SINEW_PLACE
#undef SINEW_ARITY
#undef SINEW_EIGHT_ARITIES
// clang-format on

}  // namespace sinew::msg
