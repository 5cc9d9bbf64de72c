#include "base/random.hpp"

#include <random>

namespace sinew::base {

std::uint64_t random_number() {
  std::random_device random;
  std::uint64_t number = 0;
  while (number == 0) number = std::uint64_t{random()} << 32U | random();
  return number;
}

}  // namespace sinew::base
