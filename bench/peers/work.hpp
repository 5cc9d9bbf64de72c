// What publishers put into their payloads, and what subscribers do with them: nothing in particular, or what a robot does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace sinew::bench::peers {

struct Header;
struct Run;

class Work {
 public:
  virtual ~Work() = default;
  /// The bytes of the next payload of this publisher. What must be computed for that is computed here, after `began`.
  virtual std::size_t prepare(std::uint64_t number) = 0;
  /// Writes them.
  virtual void fill(const Header& header, std::span<std::uint8_t> payload) = 0;
  /// Makes a vector of them.
  virtual void fill(const Header& header, std::vector<std::uint8_t>& payload);
  /// Does with a received one what a subscriber does. Whether it is what was written.
  virtual bool use(const Header& header, std::span<const std::uint8_t> payload) = 0;
};

/// The whole payload is one byte again and again, of which subscribers read three, or all.
std::unique_ptr<Work> plain_work(const Run& run);
/// After Agnocast, section V.D: crop, crop again, undistort and filter by rings a scan of a lidar, in the publisher; concatenate it with those of two small lidars, in the subscriber. `data` has source.ply.
std::unique_ptr<Work> lidar_work(const std::string& data);
/// After TZC, section IV.E: images of 1920 x 1080 pixels, in whose middle subscribers look for a light of a color, which is one of three by the number of the image.
std::unique_ptr<Work> light_work(unsigned subscriber);

}  // namespace sinew::bench::peers
