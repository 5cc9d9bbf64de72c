#include "os/container.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "os/file.hpp"

namespace sinew::os {
namespace {

constexpr std::size_t id_size = 64, shown = 12;

bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/// "docker-<id>.scope", "libpod-<id>", "<id>"
std::string_view id_in(std::string_view part) {
  for (std::size_t at = 0; at + id_size <= part.size(); ++at) {
    const std::string_view id = part.substr(at, id_size);
    if (std::ranges::all_of(id, is_digit)) return id.substr(0, shown);
  }
  return {};
}

std::string_view without(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix)) return {};
  text.remove_prefix(prefix.size());
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

/// The number of a PID namespace, as "pid:[4026531836]"; empty when it cannot be seen.
std::string pid_namespace_of(const std::string& process) {
  std::array<char, 64> target{};
  const ssize_t size = ::readlink(("/proc/" + process + "/ns/pid").c_str(), target.data(), target.size());
  return size > 0 ? std::string(target.data(), static_cast<std::size_t>(size)) : "";
}

}  // namespace

std::string container_in(std::string_view cgroups) {
  std::string_view found, before;
  while (!cgroups.empty()) {
    const std::size_t end = std::min(cgroups.find_first_of("/\n"), cgroups.size());
    const std::string_view part = cgroups.substr(0, end);
    std::string_view name = id_in(part);
    if (name.empty()) name = without(part, "lxc.payload.", "");
    if (name.empty() && before == "lxc") name = part;
    if (name.empty()) name = without(part, "machine-", ".scope");
    if (!name.empty()) found = name;  // the innermost
    before = end < cgroups.size() && cgroups[end] == '/' ? part : std::string_view();
    cgroups.remove_prefix(std::min(end + 1, cgroups.size()));
  }
  return std::string(found);
}

std::string container_of(pid_t pid) {
  const std::string process = std::to_string(pid);
  const std::string container = container_in(read_file("/proc/" + process + "/cgroup").value_or(""));
  if (!container.empty()) return container == container_in(read_file("/proc/self/cgroup").value_or("")) ? "" : container;
  const std::string space = pid_namespace_of(process);
  if (space.empty() || space == pid_namespace_of("self")) return "";
  return "pid namespace " + std::string(without(space, "pid:[", "]"));
}

}  // namespace sinew::os
