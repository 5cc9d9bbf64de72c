// Any bytes decode to a message or a complaint, and a message encodes to the very bytes it came from.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "wire/messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto packet = std::as_bytes(std::span(data, size));
  const auto result = sinew::wire::decode(packet);
  if (const auto* message = std::get_if<sinew::wire::Message>(&result)) {
    const auto again = sinew::wire::encode(*message);
    if (!std::equal(again.begin(), again.end(), packet.begin(), packet.end())) std::abort();
  }
  return 0;
}
