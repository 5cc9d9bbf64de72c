// What the programs that have the map as their only argument have in common.
#pragma once

#include <cstdio>
#include <exception>

#include "world.hpp"

/// For main(): runs in the world of the map, and says on the standard error what is wrong.
inline int run_with_map(int argc, char** argv, int (*run)(const World&)) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MAP\n", argv[0]);
    return 2;
  }
  try {
    return run(World(argv[1]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
