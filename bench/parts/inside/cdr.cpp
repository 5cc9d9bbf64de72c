#include <cstring>

#include "parts/inside/coded.hpp"
#include "parts/inside/inside.hpp"
#include "parts/inside/messages.hpp"
#include "parts/timing.hpp"

namespace sinew::bench {

Outcome measure_image_write(std::uint64_t count) {
  Coded<Image> image(make_image());
  const std::vector<std::uint8_t>& data = image.message.data;
  std::byte* const place = image.bytes.data() + image.bytes.size() - data.size();  // the array is the last field
  const auto sinew = [&] {
    image.write();
    look_at(image.bytes.data());
  };
  const auto floor = [&] {
    std::memcpy(place, data.data(), data.size());
    look_at(place);
  };
  return side_by_side(count, 1, sinew, floor);
}

Outcome measure_image_read(std::uint64_t count) {
  Coded<Image> image(make_image());
  const auto floor = [&] {
    const std::vector<std::uint8_t> copy(image.message.data);
    look_at(copy.data());
  };
  return side_by_side(count, 1, [&] { image.read_and_destroy(look_at); }, floor);
}

Outcome measure_state_write(std::uint64_t count) {
  Coded<State> state({});
  std::vector<char> fast(state.bytes.size());
  const auto sinew = [&] {
    look_at(&state.message);
    state.write();
    look_at(state.bytes.data());
  };
  const auto floor = [&] {
    look_at(&state.message);
    write_fast(state.message, fast);
    look_at(fast.data());
  };
  return side_by_side(count, 1000, sinew, floor);
}

Outcome measure_state_read(std::uint64_t count) {
  Coded<State> state({});
  std::vector<char> fast(state.bytes.size());
  if (write_fast(state.message, fast) != fast.size() || std::memcmp(fast.data(), state.bytes.data(), fast.size()) != 0) {
    throw std::runtime_error("sinew and Fast CDR write different streams");
  }
  State read;
  const auto sinew = [&] {
    state.read(&read);
    look_at(&read);
  };
  const auto floor = [&] {
    read_fast(fast, read);
    look_at(&read);
  };
  return side_by_side(count, 1000, sinew, floor);
}

Outcome measure_cloud_pieces(std::uint64_t count) {
  const Coded<Cloud> cloud(make_cloud());
  const auto size = cloud.codec().measure(&cloud.message).value();
  std::vector<std::byte> control(size.control);
  std::vector<msg::cdr::Piece> pieces(size.pieces);
  const auto sinew = [&] {
    look_at(&cloud.message);
    const auto measured = cloud.codec().measure(&cloud.message).value();
    look_at(&measured);
    cloud.codec().write_pieces(&cloud.message, control.data(), pieces.data());
    look_at(pieces.data());
  };
  return alone(count, 1000, sinew);
}

}  // namespace sinew::bench
