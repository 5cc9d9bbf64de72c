// Reading small files such as those of /proc.
#pragma once

#include <optional>
#include <string>

namespace sinew::os {

/// The whole file as it is now; nothing when it cannot be opened or read.
std::optional<std::string> read_file(const std::string& path);

}  // namespace sinew::os
