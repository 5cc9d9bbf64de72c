// How objects of a message type are made and let go, for code that does not know the type. Not for direct use.
#pragma once

#include <new>
#include <type_traits>
#include <utility>

#include "sinew/detail/language.hpp"

namespace sinew::detail {

struct ObjectType {
  void* (*copy)(const void* object);              ///< new T(object)
  void* (*take_over)(void* object);               ///< new T(std::move(object))
  void (*copy_to)(void* at, const void* object);  ///< in memory that is there
  void (*move_to)(void* at, void* object);        ///< likewise
  void (*dispose)(void* object) noexcept;         ///< delete
};

template <class T>
inline constexpr ObjectType object_type = {
    [](const void* object) -> void* { return new T(*static_cast<const T*>(object)); },
    [](void* object) -> void* { return new T(std::move(*static_cast<T*>(object))); },
    [](void* at, const void* object) { ::new (at) T(*static_cast<const T*>(object)); },
    [](void* at, void* object) { ::new (at) T(std::move(*static_cast<T*>(object))); },
    [](void* object) noexcept { delete static_cast<T*>(object); },
};
/// What cannot be copied is no message, and it is for reflection to say so (msg/refusal.hpp).
template <class T>
  requires(!std::is_copy_constructible_v<T> || !std::is_move_constructible_v<T>)
inline constexpr ObjectType object_type<T> = {};

}  // namespace sinew::detail
