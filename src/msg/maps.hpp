// The maps in a value. Walks of images end at them: what is in one is reached through its functions only.
#pragma once

#include <cstddef>

#include "msg/parts.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg {

inline bool has_maps(const Type& type) {
  return !type.in_place;
}

/// Calls visit(entry), an object as type.element, for each entry of the map at `at`, until it returns false; returns false then.
template <class Visit>
bool each_entry(const Type& type, const void* at, Visit visit) {
  return type.map->for_each(at, &visit, [](void* context, const void* entry) { return (*static_cast<Visit*>(context))(entry); });
}

/// Calls visit(type, address) for each map of the value at `at`, not for those in entries of others.
template <class Visit>
void each_map(const Type& type, void* at, const Visit& visit) {
  if (type.kind == Kind::map) return visit(type, at);
  if (!has_maps(type)) return;
  each_part(type, at, has_maps, [&](const Type& part, void* where, const Field*, std::size_t) {
    each_map(part, where, visit);
    return true;
  });
}

/// Makes the maps of a zeroed value, for which zeros are no value.
inline void construct_maps(const Type& type, void* at) {
  each_map(type, at, [](const Type& map, void* where) { map.construct(where); });
}
inline void destroy_maps(const Type& type, void* at) noexcept {
  each_map(type, at, [](const Type& map, void* where) { map.destroy(where); });
}

}  // namespace sinew::msg
