#include "proc.hpp"

#include <fstream>

namespace sinew::bench {

double sum_of(const std::filesystem::path& file, const std::string& name) {
  std::ifstream lines(file);
  double sum = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name)) sum += std::stod(line.substr(name.size()));
  }
  return sum;
}

double private_kib_of(const std::string& process) {
  const std::filesystem::path rollup = "/proc/" + process + "/smaps_rollup";
  return sum_of(rollup, "Private_Clean:") + sum_of(rollup, "Private_Dirty:");
}

double resident_kib_of(const std::string& process) {
  return sum_of("/proc/" + process + "/status", "VmRSS:");
}

}  // namespace sinew::bench
