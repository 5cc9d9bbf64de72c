// What one language does of the matrix of test_interop.py; rust/sinew/examples/interop.rs and interop.py are the others.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sinew/sinew.hpp"

namespace robot {

enum class Mode : std::uint8_t { idle, driving, broken };
struct Point {
  float x = 0, y = 0, z = 0;
  bool operator==(const Point&) const = default;
};
struct Header {
  std::uint64_t number = 0;
  std::string frame_id;
  bool operator==(const Header&) const = default;
};
struct Everything {
  Header header;
  bool flag = false;
  std::int8_t small = 0;
  std::int16_t medium = 0;
  std::uint32_t mixed = 0;
  std::int64_t big = 0;
  float ratio = 0;
  double exact = 0;
  Mode mode{};
  std::string text;
  std::array<double, 3> position{};
  std::vector<std::uint8_t> data;
  std::vector<Point> points;
  std::vector<std::string> names;
  std::optional<double> maybe;
  std::vector<bool> bits;
  bool operator==(const Everything&) const = default;
};

}  // namespace robot

namespace {

using namespace std::chrono_literals;
using robot::Everything;

/// The message of a number, which is the same in all languages.
void fill(Everything& it, std::uint64_t number) {
  const auto n = static_cast<std::int64_t>(number);
  it.header = {number, "frame of number " + std::to_string(n)};
  it.flag = n % 2 == 1;
  it.small = static_cast<std::int8_t>(-(n % 100));
  it.medium = static_cast<std::int16_t>(-(n % 30000));
  it.mixed = static_cast<std::uint32_t>(number * 2654435761U);
  it.big = -n * 1'000'000'000'000;
  it.ratio = static_cast<float>(n) / 4;
  it.exact = static_cast<double>(n) / 8;
  it.mode = static_cast<robot::Mode>(n % 3);
  for (std::int64_t i = 0; i < n % 50; ++i) it.text += "grün ";
  it.position = {static_cast<double>(n), -static_cast<double>(n), static_cast<double>(n) / 2};
  it.data.resize(static_cast<std::size_t>(n % 5) * 50000);
  for (std::size_t i = 0; i < it.data.size(); ++i) it.data[i] = static_cast<std::uint8_t>(number + i);
  it.points.resize(static_cast<std::size_t>(n % 7) * 300);
  for (std::size_t i = 0; i < it.points.size(); ++i) it.points[i] = {static_cast<float>(i), static_cast<float>(n), -static_cast<float>(i)};
  for (std::int64_t i = 0; i < n % 4; ++i) it.names.push_back("name " + std::to_string(i));
  if (n % 2 == 1) it.maybe = static_cast<double>(n) / 2;
  for (std::int64_t i = 0; i < n % 17; ++i) it.bits.push_back(i % 3 == 0);
}

Everything message_of(std::uint64_t number) {
  Everything it;
  fill(it, number);
  return it;
}

void require(bool is_so, const char* what, std::uint64_t number) {
  if (is_so) return;
  std::fprintf(stderr, "%s: number %llu\n", what, static_cast<unsigned long long>(number));
  std::exit(1);
}

[[noreturn]] void publish(sinew::Node& node) {
  auto publisher = node.create_publisher<Everything>("everything");
  for (std::uint64_t number = 1;; ++number) {
    auto loan = publisher->loan();
    loan.build([number](Everything& it) { fill(it, number); });
    require(publisher->publish(std::move(loan)) == sinew::PublishResult::published, "not published", number);
    std::this_thread::sleep_for(5ms);
  }
}

void subscribe(sinew::Node& node, int count) {
  auto subscriber = node.create_subscriber<Everything>("everything");
  std::set<std::string> ways;
  std::uint64_t before = 0;
  for (int seen = 0; seen < count;) {
    sinew::MessageInfo info;
    const auto message = subscriber->take(60s, &info);
    require(message != nullptr, "none came behind", before);
    require(message->header.number > before, "not newer", message->header.number);
    before = message->header.number;
    require(*message == message_of(before), "not as it was published", before);
    ways.insert(sinew::to_string(info.delivery));
    ++seen;
  }
  for (const std::string& way : ways) std::printf("delivery %s\n", way.c_str());
}

[[noreturn]] void provide(sinew::Node& node) {
  auto provider = node.create_service_provider<Everything, Everything>("next", [](const Everything& request) {
    if (request.header.number % 13 == 0) throw std::invalid_argument("unlucky");
    require(request == message_of(request.header.number), "not as it was asked", request.header.number);
    return message_of(request.header.number + 1);
  });
  for (;;) ::pause();
}

void call(sinew::Node& node, int count) {
  auto client = node.create_service_client<Everything, Everything>("next");
  for (std::uint64_t number = 1; number <= static_cast<std::uint64_t>(count); ++number) {
    try {
      require(client->call(message_of(number), 60s).get() == message_of(number + 1), "not as it was answered", number);
      require(number % 13 != 0, "not refused", number);
    } catch (const sinew::ServiceError& error) {
      require(number % 13 == 0 && std::string(error.what()).find("unlucky") != std::string::npos, error.what(), number);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string role = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  auto node = sinew::Node::create(role);
  if (role == "publish") publish(*node);
  if (role == "subscribe") subscribe(*node, count);
  if (role == "provide") provide(*node);
  if (role == "call") call(*node, count);
}
