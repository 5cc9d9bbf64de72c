// Random messages.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "values.hpp"

namespace sinew::msg::testing {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t limit) {
  return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
}

inline std::string random_string(Random& random) {
  return std::string(below(random, 40), static_cast<char>('a' + below(random, 26)));
}

template <class T, class Make>
std::vector<T> random_vector(Random& random, Make make) {
  std::vector<T> result(below(random, 5));
  for (auto&& element : result) element = make(random);
  return result;
}

inline Part random_part(Random& random) {
  Part part{random_string(random), random_vector<std::string>(random, random_string), std::nullopt, below(random, 2) == 1};
  if (below(random, 2)) part.note = random_string(random);
  return part;
}

inline Whole random_whole(Random& random) {
  Whole whole;
  whole.id = random();
  whole.name = random_string(random);
  whole.data.resize(below(random, 300), 5);
  whole.parts = random_vector<Part>(random, random_part);
  whole.curves[below(random, 2)].resize(below(random, 9), 0.25F);
  whole.bits = random_vector<bool>(random, [](Random& r) { return below(r, 2) == 1; });
  whole.bits.resize(below(random, 200));
  if (below(random, 2)) whole.extra = random_part(random);
  whole.table = random_vector<std::vector<std::string>>(random, [](Random& r) { return random_vector<std::string>(r, random_string); });
  return whole;
}

inline Mixed random_mixed(Random& random) {
  Mixed mixed;
  mixed.pair = {static_cast<std::uint8_t>(random()), random_string(random)};
  mixed.entries = random_vector<std::pair<std::string, std::uint32_t>>(
      random, [](Random& r) { return std::pair(random_string(r), static_cast<std::uint32_t>(r())); });
  mixed.tuple = {below(random, 2) == 1, random_string(random), 0.5, std::vector<std::uint16_t>(below(random, 9), 7)};
  switch (below(random, 5)) {
    case 0:
      break;
    case 1:
      mixed.either = true;
      break;
    case 2:
      mixed.either = random_string(random);
      break;
    case 3:
      mixed.either = random_vector<std::string>(random, random_string);
      break;
    default:
      mixed.either = random_part(random);
  }
  mixed.choices.resize(below(random, 4));
  for (auto& choice : mixed.choices) {
    if (below(random, 2)) choice = std::vector<std::uint32_t>(below(random, 5), 9);
  }
  if (below(random, 2)) mixed.maybe = {random_string(random), {}};
  return mixed;
}

template <class T>
T random_value(Random& random) {
  if constexpr (std::is_same_v<T, Whole>) {
    return random_whole(random);
  } else {
    return random_mixed(random);
  }
}

}  // namespace sinew::msg::testing
