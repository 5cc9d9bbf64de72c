// A time in which a domain has no manager.
#pragma once

#include <filesystem>
#include <string>
#include <utility>

namespace sinew::system {

/// While it lives, the domain's folder is elsewhere: the manager ends, and has no successor.
class MovedFolder {
 public:
  explicit MovedFolder(std::string folder) : folder_(std::move(folder)) { std::filesystem::rename(folder_, elsewhere()); }
  ~MovedFolder() { std::filesystem::rename(elsewhere(), folder_); }
  MovedFolder(const MovedFolder&) = delete;
  MovedFolder& operator=(const MovedFolder&) = delete;

 private:
  std::string elsewhere() const { return folder_ + ".moved"; }

  const std::string folder_;
};

}  // namespace sinew::system
