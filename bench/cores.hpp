// Which core a process runs on.
#pragma once

#include <vector>

namespace sinew::bench {

/// The cores that this process may run on.
std::vector<int> allowed_cores();

/// From now on the calling process runs on this core only, with all threads that it starts. Where the kernel refuses it runs where it did.
void stay_on_core(int core) noexcept;

}  // namespace sinew::bench
