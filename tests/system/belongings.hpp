// What a process has that must be gone when what it was for is.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// What `now` gives when that has been the same for a tenth of a second: a thread that was joined is there a moment longer, and what a process has heard the end of it lets go of
/// on threads of its own.
template <class Now>
auto settled(Now now) {
  auto last = now();
  int same = 0;
  eventually([&] {
    auto next = now();
    same = next == std::exchange(last, next) ? same + 1 : 0;
    return same == 100;
  });
  return last;
}

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
  friend bool operator==(const Belongings&, const Belongings&) = default;
  friend std::ostream& operator<<(std::ostream& to, const Belongings& all) {
    return to << all.descriptors << " descriptors, " << all.threads << " threads, " << all.shared << " shared mappings";
  }
};

}  // namespace sinew::system
