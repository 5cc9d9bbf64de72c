#include "os/admission.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "os/file.hpp"
#include "os/memory.hpp"

namespace sinew::os {
namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t largest_reserve = std::uint64_t{64} << 20;

/// The number at the beginning of a file; nothing for "max" and for a file that is not there.
std::optional<std::uint64_t> number_in(const std::string& path) {
  const auto text = read_file(path);
  std::uint64_t number = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), number).ec != std::errc{}) return std::nullopt;
  return number;
}

/// The number behind `name` in lines such as "MemAvailable:  123 kB" or "inactive_file 123".
std::optional<std::uint64_t> number_behind(const std::optional<std::string>& text, const std::string& name) {
  std::istringstream lines(text.value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    std::uint64_t number = 0;
    if (words >> word >> number && word == name) return number;
  }
  return std::nullopt;
}

std::uint64_t room(std::uint64_t limit, std::uint64_t free) {
  const std::uint64_t reserve = std::min(largest_reserve, limit / 16);
  return free > reserve ? free - reserve : 0;
}

std::uint64_t room_in_machine(const std::string& root) {
  const auto meminfo = read_file(root + "/proc/meminfo");
  const auto total = number_behind(meminfo, "MemTotal:");
  const auto available = number_behind(meminfo, "MemAvailable:");
  return total && available ? room(*total * 1024, *available * 1024) : unlimited;
}

/// One of the two generations of memory cgroups.
struct Generation {
  std::string_view limit, throttle, used, cache;
};
constexpr Generation first{"/memory.limit_in_bytes", "", "/memory.usage_in_bytes", "total_inactive_file"};
constexpr Generation second{"/memory.max", "/memory.high", "/memory.current", "inactive_file"};

std::uint64_t room_in_group(const std::string& folder, const Generation& generation) {
  std::uint64_t limit = number_in(folder + std::string(generation.limit)).value_or(unlimited);
  // Beyond it every process of the group is made to wait, for longer and longer.
  if (!generation.throttle.empty()) limit = std::min(limit, number_in(folder + std::string(generation.throttle)).value_or(unlimited));
  const auto used = number_in(folder + std::string(generation.used));
  if (limit == unlimited || !used) return unlimited;
  const std::uint64_t cache = number_behind(read_file(folder + "/memory.stat"), std::string(generation.cache)).value_or(0);
  const std::uint64_t held = *used - std::min(*used, cache);
  return room(limit, limit - std::min(limit, held));
}

/// A mounted hierarchy of memory cgroups: `shown` is the group that its mount point stands for.
struct Hierarchy {
  std::string mount_point, shown;
  const Generation* generation;
};

/// True for a list such as "cpu,memory".
bool names_memory(const std::string& list) {
  std::istringstream words(list);
  for (std::string word; std::getline(words, word, ',');) {
    if (word == "memory") return true;
  }
  return false;
}

std::vector<Hierarchy> mounted_hierarchies(const std::string& root) {
  std::vector<Hierarchy> found;
  std::istringstream lines(read_file(root + "/proc/self/mountinfo").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    // "31 23 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory"
    const auto separator = line.find(" - ");
    if (separator == line.npos) continue;
    std::istringstream before(line.substr(0, separator)), after(line.substr(separator + 3));
    std::string skipped, shown, mount_point, type, source, options;
    before >> skipped >> skipped >> skipped >> shown >> mount_point;
    after >> type >> source >> options;
    if (type == "cgroup2") found.push_back({root + mount_point, shown, &second});
    if (type == "cgroup" && names_memory(options)) found.push_back({root + mount_point, shown, &first});
  }
  return found;
}

/// The group of this process in the unified hierarchy, or in that of the first generation which counts memory.
std::string own_group(const std::string& cgroups, const Generation* generation) {
  std::istringstream lines(cgroups);
  for (std::string line; std::getline(lines, line);) {
    const auto a = line.find(':');
    const auto b = a == line.npos ? a : line.find(':', a + 1);
    if (b == line.npos) continue;
    const std::string controllers = line.substr(a + 1, b - a - 1);
    if (generation == &second ? controllers.empty() : names_memory(controllers)) return line.substr(b + 1);
  }
  return "/";
}

std::uint64_t room_in_hierarchy(const Hierarchy& hierarchy, const std::string& cgroups) {
  std::string group = own_group(cgroups, hierarchy.generation);
  // In a container the mount point may stand for the process's own group or one above it; a group outside of it ("/..") cannot be seen.
  const std::string prefix = hierarchy.shown == "/" ? "" : hierarchy.shown;
  const bool seen = group.starts_with(prefix + "/") && !group.starts_with("/..");
  group = seen && group != "/" ? group.substr(prefix.size()) : "";
  std::uint64_t least = room_in_group(hierarchy.mount_point, *hierarchy.generation);
  for (; !group.empty() && group.front() == '/'; group.erase(group.rfind('/'))) {
    least = std::min(least, room_in_group(hierarchy.mount_point + group, *hierarchy.generation));
  }
  return least;
}

}  // namespace

std::uint64_t available_memory_below(const std::string& root) {
  std::uint64_t least = room_in_machine(root);
  const std::string cgroups = read_file(root + "/proc/self/cgroup").value_or("");
  for (const Hierarchy& hierarchy : mounted_hierarchies(root)) least = std::min(least, room_in_hierarchy(hierarchy, cgroups));
  return least;
}

std::uint64_t available_memory() noexcept {
  try {
    return available_memory_below("");
  } catch (...) {
    return 0;  // not even the few bytes for a line of text were left
  }
}

}  // namespace sinew::os
