// What can be a message, and what to say of types that reflection cannot see into or name.
//
// A message, a request, a response or a part of an action is one of these types, alone or inside of one another:
//
// * bool, char, integers of 1, 2, 4 or 8 bytes, float, double; std::byte and other enumerations of integers
// * std::string, std::vector<E>, both with std::allocator; std::array<E, N>, std::optional<E>, std::pair, std::tuple; inside of others E[N] too
// * std::variant of 1 to 128 types, among them std::monostate
// * std::map<K, V> and std::unordered_map<K, V> with std::allocator: a message with one is not read in place by other processes, who get it as a stream
// * structures that are aggregates: no constructors, private members, bases or virtual functions, at most 128 members
// * classes that say SINEW_MESSAGE, below
// * for subscribers only: std::string_view for a std::string, std::span<const E> for a std::vector<E> (sinew/subscriber.hpp)
//
// Each is default-constructible and can be copied, contains nothing of its own type, is nested at most 64 deep and has at most 4 GiB in the object itself.
//
// Nothing else is: no pointers, references, unions, bit-fields, packed structures, volatile members, long double, wchar_t, char8_t, char16_t, char32_t, integers of 16 bytes,
// nor any other class of the standard library, as std::set, std::shared_ptr or std::chrono::nanoseconds (send its count()). The compiler refuses them, and says why and what to do.
//
// Two programs understand each other when their types have the same fields: names, types and order. Names of the structures do not count. A map is a vector of structures `key` and `value`, a pair one
// of `first` and `second`. All rules are in spec/types.md.
#pragma once

#include "sinew/msg/listing.hpp"
#include "sinew/msg/type_name.hpp"

/// Makes a class with constructors or private members a message: `SINEW_MESSAGE(Class, member, member...)`, all data members, at most 128, those of bases as `Base::member`, each
/// once and no two of one name, in any order that both ends agree on. In the public part of the class it reaches private members; in the namespace of a class that cannot be changed, public ones.
/// Subscribers see the members' bytes as they are: a class whose members mean something only inside their own process must not be a message.
#define SINEW_MESSAGE(Class, ...)                                                                                                        \
  [[maybe_unused]] constexpr auto sinew_members(const Class*) {                                                                          \
    return ::sinew::msg::Listing<Class, ::sinew::msg::First __VA_OPT__(SINEW_MESSAGE_EXPAND(SINEW_MESSAGE_EACH(Class, __VA_ARGS__)))>{}; \
  }                                                                                                                                      \
  static_assert(true)

/// Names a structure or enumeration, in place of its C++ name: `SINEW_NAME(Class, "robot/Name")`. In the global namespace, before Class is first published or
/// subscribed to. For types in anonymous or inline namespaces, templates of values, and types whose C++ name may change.
#define SINEW_NAME(Class, text)                                                                                                \
  static_assert(::sinew::msg::is_name(text),                                                                                   \
                "sinew: a name of a type has letters, digits, '_', '.', '-' and '/', and template arguments in '<' and '>'."); \
  template <>                                                                                                                  \
  inline constexpr const char* ::sinew::msg::explicit_name<Class> = text

// The preprocessor has no loops: each expansion takes one member and leaves the rest for the next pass. There are enough for 342, so that
// lists that are too long are refused with a sentence.
#define SINEW_MESSAGE_EACH(Class, member, ...) \
  , ::sinew::msg::Named<#member, &Class::member> __VA_OPT__(SINEW_MESSAGE_AGAIN SINEW_MESSAGE_NOTHING()()(Class, __VA_ARGS__))
#define SINEW_MESSAGE_AGAIN() SINEW_MESSAGE_EACH
#define SINEW_MESSAGE_NOTHING()
#define SINEW_MESSAGE_EXPAND(...) SINEW_MESSAGE_PASS3(SINEW_MESSAGE_PASS3(SINEW_MESSAGE_PASS3(SINEW_MESSAGE_PASS3(__VA_ARGS__))))
#define SINEW_MESSAGE_PASS3(...) SINEW_MESSAGE_PASS2(SINEW_MESSAGE_PASS2(SINEW_MESSAGE_PASS2(SINEW_MESSAGE_PASS2(__VA_ARGS__))))
#define SINEW_MESSAGE_PASS2(...) SINEW_MESSAGE_PASS1(SINEW_MESSAGE_PASS1(SINEW_MESSAGE_PASS1(SINEW_MESSAGE_PASS1(__VA_ARGS__))))
#define SINEW_MESSAGE_PASS1(...) SINEW_MESSAGE_PASS0(SINEW_MESSAGE_PASS0(SINEW_MESSAGE_PASS0(SINEW_MESSAGE_PASS0(__VA_ARGS__))))
#define SINEW_MESSAGE_PASS0(...) __VA_ARGS__
