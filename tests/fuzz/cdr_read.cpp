// Any bytes read as a complaint or a valid message, which is written and read again as the same bytes.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "msg/cdr/cdr.hpp"
#include "msg/tests/values.hpp"

using namespace sinew::msg;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using testing::Whole;
  const Type& type = *message_of<Whole>().type;
  static const cdr::Reader reader(type);
  static const cdr::Codec codec(type);
  const auto bytes = std::as_bytes(std::span(data, size));
  const std::array half{cdr::Piece{bytes.data(), size / 2}, cdr::Piece{bytes.data() + size / 2, size - size / 2}};
  testing::Arena arena;
  alignas(Whole) std::byte room[sizeof(Whole)];
  if (!reader.read(half, room, arena, 1 << 20).complaint.empty()) {
    if (arena.block_count() != 0) std::abort();
    return 0;
  }
  arena.adopt(room, sizeof room);
  if (complaint_about(type, room, arena)) std::abort();
  const auto measured = codec.measure(room).value();
  std::vector<std::byte> again(measured.stream);
  codec.write(room, again.data());
  std::destroy_at(std::launder(reinterpret_cast<Whole*>(room)));
  const std::array whole{cdr::Piece{again.data(), again.size()}};
  testing::Arena second;
  if (!reader.read(whole, room, second, 1 << 20).complaint.empty()) std::abort();
  std::vector<std::byte> third(codec.measure(room).value().stream);
  codec.write(room, third.data());
  if (third != again) std::abort();
  std::destroy_at(std::launder(reinterpret_cast<Whole*>(room)));
  return 0;
}
