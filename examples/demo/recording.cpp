#include "recording.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace demo {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(path.string() + " cannot be read: " + why + ". Run tools/fetch_demo_data.py to fetch it again.");
}

/// Parses one number and steps over it and over the comma after it.
template <class N>
N take_number(std::string_view& text, bool& good) {
  N number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  good = good && error == std::errc();
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() == ',') text.remove_prefix(1);
  return number;
}

}  // namespace

std::vector<Point> read_scan(const std::filesystem::path& path) {
  static_assert(sizeof(Point) == 4 * sizeof(float) && std::endian::native == std::endian::little,
                "points are read as they lie in the file");
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(path, "there is no such file");
  std::string properties, line;
  std::size_t count = 0;
  bool binary = false;
  while (std::getline(file, line) && line != "end_header") {
    std::istringstream words(line);
    std::string word, type;
    words >> word;
    if (word == "format") binary = line == "format binary_little_endian 1.0";
    if (word == "element") words >> type >> count;
    if (word == "property") properties += (words >> type) && type == "float" ? 'f' : '?';
  }
  if (!binary || properties != "ffff") fail(path, "it is not a binary PLY file of four floats per point");
  std::vector<Point> points(count);
  const auto size = static_cast<std::streamsize>(count * sizeof(Point));
  if (!file.read(reinterpret_cast<char*>(points.data()), size)) fail(path, "it ends before its last point");
  return points;
}

std::vector<State> read_flight(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) fail(path, "there is no such file");
  std::vector<State> states;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.starts_with('#')) continue;
    std::string_view text = line;
    bool good = true;
    State state;
    state.header.stamp_ns = take_number<std::uint64_t>(text, good);
    for (double& value : state.position) value = take_number<double>(text, good);
    for (double& value : state.orientation) value = take_number<double>(text, good);
    for (double& value : state.velocity) value = take_number<double>(text, good);
    for (double& value : state.gyro_bias) value = take_number<double>(text, good);
    for (double& value : state.accel_bias) value = take_number<double>(text, good);
    if (!good) fail(path, "line " + std::to_string(number) + " does not have 17 numbers");
    states.push_back(state);
  }
  if (states.size() < 2) fail(path, "it has less than two states");
  return states;
}

}  // namespace demo
