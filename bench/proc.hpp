// What the kernel says of a process.
#pragma once

#include <filesystem>
#include <string>

namespace sinew::bench {

/// All lines "name: number ..." of a file added up.
double sum_of(const std::filesystem::path& file, const std::string& name);
/// Memory that nobody else has mapped, and all that is there. `process` is a number, or "self".
double private_kib_of(const std::string& process);
double resident_kib_of(const std::string& process);

}  // namespace sinew::bench
