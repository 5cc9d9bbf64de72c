// What a process has that must be gone when what it was for is.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// Descriptors, threads and shared memory of this process.
struct Belongings {
  std::size_t descriptors = 0, threads = 0, shared = 0;
  static Belongings now() {
    Belongings all;
    all.descriptors = descriptors_of(::getpid());
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    all.threads = static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) all.shared += line.find("memfd:sinew") != std::string::npos ? 1 : 0;
    return all;
  }
  /// When they have been the same for a tenth of a second: a thread that was joined is among them a moment longer.
  static Belongings settled() {
    Belongings last = now();
    int same = 0;
    eventually([&] {
      const Belongings next = now();
      same = next == last ? same + 1 : 0;
      last = next;
      return same == 100;
    });
    return last;
  }
  friend bool operator==(const Belongings&, const Belongings&) = default;
  friend std::ostream& operator<<(std::ostream& to, const Belongings& all) {
    return to << all.descriptors << " descriptors, " << all.threads << " threads, " << all.shared << " shared mappings";
  }
};

}  // namespace sinew::system
