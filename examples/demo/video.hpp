// A recorded clip, played for ever, as a camera delivers it: full HD, colour.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

namespace demo {

/// Decodes with libav. Not thread-safe.
class Video {
 public:
  static constexpr int width = 1920;
  static constexpr int height = 1080;

  /// Throws std::runtime_error, with the path, when there is no video to play.
  explicit Video(const std::filesystem::path& path);
  ~Video();
  Video(const Video&) = delete;
  Video& operator=(const Video&) = delete;

  /// Decodes the next frame, after the last one the first again. Throws std::runtime_error when the file is damaged.
  void advance();
  /// Scales the decoded frame into `rgb`, width * height * 3 bytes. The sides of a picture wider than 16:9 are cut off.
  void draw(std::span<std::uint8_t> rgb);

 private:
  struct Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace demo
