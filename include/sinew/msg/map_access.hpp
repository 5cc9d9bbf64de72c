// std::map and std::unordered_map: their nodes are nobody's business but theirs, so that the table has functions for what it can do with one.
#pragma once

#include <cstddef>
#include <utility>

#include "sinew/msg/kind.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg {

template <class Map>
struct MapFunctions {
  using Entry = typename Container<Map>::Element;
  static_assert(sizeof(Entry) == sizeof(typename Map::value_type), "an entry lies as the pair of constant key and value does in the map");

  static std::size_t size(const void* map) noexcept { return static_cast<const Map*>(map)->size(); }

  static bool for_each(const void* map, void* context, bool (*visit)(void* context, const void* entry)) {
    for (const auto& entry : *static_cast<const Map*>(map)) {
      if (!visit(context, &entry)) return false;
    }
    return true;
  }

  static MapAccess::Inserted insert(void* map, void* entry) noexcept {
    auto& [key, value] = static_cast<std::pair<typename Entry::first_type, typename Entry::second_type>&>(*static_cast<Entry*>(entry));
    try {
      const bool fresh = static_cast<Map*>(map)->emplace(std::move(key), std::move(value)).second;
      return fresh ? MapAccess::Inserted::yes : MapAccess::Inserted::key_is_there;
    } catch (...) {
      return MapAccess::Inserted::refused;
    }
  }
};

template <class Map>
inline constexpr MapAccess map_access = {&MapFunctions<Map>::size, &MapFunctions<Map>::for_each, &MapFunctions<Map>::insert};

}  // namespace sinew::msg
