// Any bytes read as a complaint or a valid message, which is written and read again as the same bytes.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "msg/cdr/cdr.hpp"
#include "msg/tests/values.hpp"

using namespace sinew::msg;

namespace sinew::msg::testing {

struct Atlas {
  std::map<std::string, std::uint32_t> counts;
  std::vector<std::variant<std::map<std::uint8_t, std::string>, std::uint16_t>> several;
  std::optional<std::map<std::uint8_t, std::map<bool, Part>>> nested;
};

}  // namespace sinew::msg::testing

namespace {

template <class T>
void read_as(std::span<const std::byte> bytes) {
  const Type& type = *message_of<T>().type;
  static const cdr::Reader reader(type);
  static const cdr::Codec codec(type);
  const std::array half{bytes.first(bytes.size() / 2), bytes.subspan(bytes.size() / 2)};
  testing::Arena arena;
  alignas(T) std::byte room[sizeof(T)];
  if (!reader.read(half, room, arena, 1 << 20).complaint.empty()) {
    if (arena.block_count() != 0 && type.in_place) std::abort();
    return;
  }
  arena.adopt(room, sizeof room);
  if (type.in_place && complaint_about(type, room, arena)) std::abort();
  const auto measured = codec.measure(room).value();
  std::vector<std::byte> again(measured.stream);
  codec.write(room, again.data());
  std::destroy_at(std::launder(reinterpret_cast<T*>(room)));
  const std::array whole{cdr::Piece(again)};
  testing::Arena second;
  if (!reader.read(whole, room, second, 1 << 20).complaint.empty()) std::abort();
  std::vector<std::byte> third(codec.measure(room).value().stream);
  codec.write(room, third.data());
  if (third != again) std::abort();
  std::destroy_at(std::launder(reinterpret_cast<T*>(room)));
}

}  // namespace

// The first byte says as what the others are to be read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data, size)).subspan(1);
  switch (data[0] % 3) {
    case 0:
      read_as<testing::Whole>(bytes);
      break;
    case 1:
      read_as<testing::Mixed>(bytes);
      break;
    default:
      read_as<testing::Atlas>(bytes);
  }
  return 0;
}
