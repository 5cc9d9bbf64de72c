// How much memory may still be taken (S4), as a function of files only.
#pragma once

#include <cstdint>
#include <string>

namespace sinew::os {

/// available_memory() as told by proc/meminfo, proc/self/cgroup, proc/self/mountinfo and the memory cgroups below the folder `root` ("" for
/// this machine). File cache that the kernel drops before it kills counts as free. What cannot be read does not limit: without any of the
/// files the answer is the largest number.
std::uint64_t available_memory_below(const std::string& root);

}  // namespace sinew::os
