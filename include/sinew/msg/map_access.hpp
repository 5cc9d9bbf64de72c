// std::map and std::unordered_map: their nodes are nobody's business but theirs, so that the table has functions for what it can do with one.
#pragma once

#include <cstddef>
#include <cstdint>
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

  static MapAccess::Inserted insert(void* map, void* entry, [[maybe_unused]] std::uint64_t& patience) noexcept {
    auto& [key, value] = static_cast<std::pair<typename Entry::first_type, typename Entry::second_type>&>(*static_cast<Entry*>(entry));
    auto& into = *static_cast<Map*>(map);
    try {
      if constexpr (requires { into.bucket(key); }) {
        const std::size_t others = into.empty() ? 0 : into.bucket_size(into.bucket(key));
        if (others > patience) return MapAccess::Inserted::crowded;
        patience -= others;
      }
      const std::size_t before = into.size();
      // Entries of a std::map come in the order of their keys: each belongs at the end, and none has to be searched for.
      into.emplace_hint(into.end(), std::move(key), std::move(value));
      return into.size() > before ? MapAccess::Inserted::yes : MapAccess::Inserted::key_is_there;
    } catch (...) {
      return MapAccess::Inserted::refused;
    }
  }
};

template <class Map>
inline constexpr MapAccess map_access = {&MapFunctions<Map>::size, &MapFunctions<Map>::for_each, &MapFunctions<Map>::insert};

}  // namespace sinew::msg
