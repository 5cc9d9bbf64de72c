// The frame that the demo leaves behind for people to look at.
#pragma once

#include <filesystem>
#include <span>

#include "messages.hpp"

namespace demo {

/// Writes the image ("rgb8") as a PNG file with the boxes drawn on it. Throws std::runtime_error, with the path, when it cannot be written.
void write_annotated(const std::filesystem::path& path, const Image& image, std::span<const Box> boxes);

}  // namespace demo
