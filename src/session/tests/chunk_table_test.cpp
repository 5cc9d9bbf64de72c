// What a reader takes for the pieces of a message, of a publisher's chunks that lie elsewhere here.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/tests/flips.hpp"
#include "os/memory.hpp"
#include "session/subscriber/subscriber_end.hpp"
#include "shm/layout.hpp"

namespace sinew::session {
namespace {

constexpr std::uint64_t window = 0x2000'0000'0000, chunk_size = 64 * 1024;

struct Listed {
  shm::PieceTable table;
  std::array<shm::PieceEntry, 7> pieces;  // the last two are none of this table's
};

/// Two chunks side by side in the publisher's window, and one beyond a gap. The table of a message ends with the first chunk; its pieces are almost as much as all chunks together.
struct Chunks {
  Chunks() {
    for (const std::uint64_t address : {window, window + chunk_size, window + 4 * chunk_size}) {
      const os::Fd memfd = os::create_memfd("sinew-test", chunk_size);
      auto mapping = std::make_shared<const os::Mapping>(os::Mapping::map(memfd, chunk_size, os::Access::read_write));
      table.entries.push_back({table.entries.size() + 1, address, chunk_size, std::move(mapping)});
      table.bytes += chunk_size;
    }
    listed = {{5},
              {shm::PieceEntry{window + 4 * chunk_size, chunk_size},
               {window + 4 * chunk_size, chunk_size},
               {window + chunk_size, 2048},
               {window, 100},
               {window + chunk_size - 8, 8},
               {window + 64, 8},
               {window + 128, 8}}};
  }
  /// Where so much of the publisher's lies here, looked for in the plainest way; null when it is not in one chunk.
  const std::byte* here(std::uint64_t address, std::uint64_t size) const {
    for (const ChunkTable::Entry& chunk : table.entries) {
      if (address >= chunk.address && address - chunk.address < chunk_size && size <= chunk_size - (address - chunk.address))
        return chunk.mapping->data() + (address - chunk.address);
    }
    return nullptr;
  }
  /// The pieces, as a careful reader finds them; none when there is anything wrong with any of them.
  std::vector<std::span<const std::byte>> expected(std::uint64_t at, std::uint64_t most) const {
    std::uint64_t count = 0, bytes = 0;
    const std::byte* const first = here(at, sizeof count);
    if (!first || at % 8 != 0) return {};
    std::memcpy(&count, first, sizeof count);
    if (count > most || !here(at, sizeof count + count * sizeof(shm::PieceEntry))) return {};
    std::vector<std::span<const std::byte>> pieces;
    for (std::uint64_t i = 0; i < count; ++i) {
      shm::PieceEntry piece{};
      std::memcpy(&piece, first + sizeof count + i * sizeof piece, sizeof piece);
      const std::byte* const data = here(piece.address, piece.size);
      if (!data || piece.size == 0 || (bytes += piece.size) > 3 * chunk_size) return {};
      pieces.emplace_back(data, piece.size);
    }
    return pieces;
  }

  ChunkTable table;
  Listed listed{};
};

bool are_the_same(const std::vector<std::span<const std::byte>>& some, const std::vector<std::span<const std::byte>>& others) {
  return std::ranges::equal(some, others,
                            [](const auto& one, const auto& other) { return one.data() == other.data() && one.size() == other.size(); });
}

TEST(ChunkTable, with_one_and_two_flipped_bits_of_a_piece_table_the_pieces_are_what_it_says_and_lie_in_the_chunks_or_there_are_none) {
  for (const std::uint64_t most : {std::uint64_t{5}, std::uint64_t{1} << 32U}) {
    Chunks chunks;
    std::uint64_t at = window + chunk_size - sizeof(Listed);
    auto* const place = const_cast<std::byte*>(chunks.table.find(at, sizeof(Listed)));
    ASSERT_TRUE(place);
    std::memcpy(place, &chunks.listed, sizeof(Listed));
    // Where two flipped bits of the address lead: a table with nothing wrong but its alignment.
    ASSERT_EQ(at & 0x84U, 0x80U);
    const std::array<std::uint64_t, 3> crooked{1, window, 100};
    std::memcpy(place - 0x80 + 4, crooked.data(), sizeof crooked);
    std::vector<std::span<const std::byte>> pieces;
    ASSERT_TRUE(chunks.table.gather(at, most, pieces));
    ASSERT_EQ(pieces.size(), 5U);
    std::uint64_t accepted = 0, refused = 0;
    with_one_and_two_flipped_bits({bytes_of(at), std::span(place, sizeof(Listed))}, [&]() -> const char* {
      const auto wanted = chunks.expected(at, most);
      if (!chunks.table.gather(at, most, pieces)) {
        ++refused;
        return wanted.empty() ? nullptr : "pieces that lie in the chunks are refused";
      }
      ++accepted;
      return !wanted.empty() && are_the_same(pieces, wanted) ? nullptr : "pieces are accepted that are no such";
    });
    EXPECT_GT(accepted, 1000U);
    EXPECT_GT(refused, 100'000U);
  }
}

}  // namespace
}  // namespace sinew::session
