// A reader before a table of pieces, and chunks, that hold whatever their publisher likes: the pieces that it gets all lie in the chunks, and are together no more than these.
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "input.hpp"
#include "os/memory.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "shm/layout.hpp"

namespace {

using namespace sinew::session;
using sinew::fuzz::Input;
using sinew::fuzz::require;
namespace os = sinew::os;

constexpr std::uint64_t window = 0x2000'0000'0000, chunk_size = 4096;
/// Where the publisher has its chunks: two side by side, and one beyond a gap. Here each lies somewhere else, as those of another user do.
constexpr std::array<std::uint64_t, 3> addresses{window, window + chunk_size, window + 4 * chunk_size};

struct Memory {
  Memory() {
    for (const std::uint64_t address : addresses) {
      const os::Fd memfd = os::create_memfd("sinew-fuzz", chunk_size);
      auto mapping = std::make_shared<const os::Mapping>(os::Mapping::map(memfd, chunk_size, os::Access::read_write));
      table.entries.push_back({table.entries.size() + 1, address, chunk_size, std::move(mapping)});
      table.bytes += chunk_size;
    }
  }
  bool contains(std::span<const std::byte> piece) const {
    for (const ChunkTable::Entry& chunk : table.entries) {
      const std::byte* const begin = chunk.mapping->data();
      if (piece.data() >= begin && piece.size() <= chunk_size &&
          piece.data() - begin <= static_cast<std::ptrdiff_t>(chunk_size - piece.size()))
        return true;
    }
    return false;
  }

  ChunkTable table;
};

std::uint64_t address(Input& input) {
  switch (input.pick(4)) {
    case 0:
      return input.number();
    case 1:
      return input.pick_from(addresses) + chunk_size - input.pick(40);  // at its end
    default:
      return input.pick_from(addresses) + std::uint64_t{8} * input.byte();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Memory memory;
  for (const ChunkTable::Entry& chunk : memory.table.entries) std::memset(chunk.mapping->data(), 0, chunk_size);
  Input input(data, size);
  const std::uint64_t at = address(input), most = input.flip() ? 1 : std::uint64_t{1} << 32U;
  // Words from the table on, as far as they have a place.
  std::vector<std::uint64_t> words{input.number()};
  while (!input.at_end()) {
    words.push_back(address(input));
    words.push_back(input.number());
  }
  for (std::size_t n = 0; n < words.size(); ++n) {
    const auto* const place = memory.table.find(at + n * sizeof words[n], sizeof words[n]);
    if (place) std::memcpy(const_cast<std::byte*>(place), &words[n], sizeof words[n]);
  }
  std::vector<std::span<const std::byte>> pieces;
  if (!memory.table.gather(at, most, pieces)) return 0;
  require(!pieces.empty() && pieces.size() <= most, "there are as many pieces as may be");
  std::uint64_t bytes = 0;
  for (const auto& piece : pieces) {
    require(!piece.empty() && memory.contains(piece), "each piece lies in one chunk");
    bytes += piece.size();
  }
  require(bytes <= memory.table.bytes, "all pieces are no more than all chunks");
  return 0;
}
