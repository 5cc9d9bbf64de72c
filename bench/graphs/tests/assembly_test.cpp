// A message in datagrams arrives whole or not at all.
#include "udp/assembly.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <utility>
#include <vector>

namespace sinew::bench::graphs {
namespace {

using Bytes = std::vector<std::byte>;

struct Datagram {
  DatagramHead head;
  Bytes bytes;
};

Bytes message_of(std::size_t size, unsigned seed) {
  Bytes message(size);
  for (std::size_t i = 0; i < size; ++i) message[i] = static_cast<std::byte>((i * 31 + seed) & 0xff);
  return message;
}

std::vector<Datagram> datagrams_of(std::uint32_t number, const Bytes& message) {
  std::vector<Datagram> datagrams;
  take_apart(number, message, [&](const DatagramHead& head, std::span<const std::byte> bytes) {
    datagrams.push_back({head, Bytes(bytes.begin(), bytes.end())});
  });
  return datagrams;
}

/// The messages that come out.
std::vector<Bytes> assemble(Assembly& assembly, const std::vector<Datagram>& datagrams) {
  std::vector<Bytes> messages;
  for (const Datagram& each : datagrams) {
    std::memcpy(assembly.place().data(), each.bytes.data(), each.bytes.size());
    if (const auto message = assembly.add(each.head, each.bytes.size())) messages.emplace_back(message->begin(), message->end());
  }
  return messages;
}

TEST(Assembly, a_datagram_holds_60_kB_with_its_head_and_a_message_takes_as_many_as_it_needs) {
  EXPECT_EQ(datagrams_of(1, message_of(1, 0)).size(), 1U);
  EXPECT_EQ(datagrams_of(1, message_of(largest_piece, 0)).size(), 1U);
  EXPECT_EQ(datagrams_of(1, message_of(largest_piece + 1, 0)).size(), 2U);
  EXPECT_EQ(datagrams_of(1, message_of(256'024, 0)).size(), 5U);
  EXPECT_EQ(datagrams_of(1, message_of(256'024, 0)).front().bytes.size() + sizeof(DatagramHead), 60'000U);
}

TEST(Assembly, messages_of_any_size_come_out_as_they_went_in) {
  Assembly assembly;
  std::uint32_t number = 0;
  for (const std::size_t size :
       {std::size_t{24}, largest_piece, largest_piece + 1, std::size_t{256'024}, std::size_t{24}, std::size_t{614'424}}) {
    const Bytes message = message_of(size, ++number);
    EXPECT_EQ(assemble(assembly, datagrams_of(number, message)), std::vector<Bytes>{message}) << size;
    EXPECT_FALSE(assembly.is_amid());
  }
}

TEST(Assembly, whichever_datagram_is_lost_only_its_message_is) {
  const Bytes first = message_of(256'024, 1), second = message_of(256'024, 2), third = message_of(100, 3);
  for (std::size_t lost = 0; lost < datagrams_of(1, first).size(); ++lost) {
    std::vector<Datagram> datagrams = datagrams_of(1, first);
    datagrams.erase(datagrams.begin() + static_cast<std::ptrdiff_t>(lost));
    for (const auto& [number, message] : {std::pair(2U, second), std::pair(3U, third)}) {
      for (Datagram& each : datagrams_of(number, message)) datagrams.push_back(std::move(each));
    }
    Assembly assembly;
    EXPECT_EQ(assemble(assembly, datagrams), (std::vector<Bytes>{second, third})) << lost;
  }
}

TEST(Assembly, pieces_of_two_messages_do_not_make_one) {
  const std::vector<Datagram> first = datagrams_of(1, message_of(2 * largest_piece, 1)),
                              second = datagrams_of(2, message_of(2 * largest_piece, 2));
  Assembly assembly;
  EXPECT_TRUE(assemble(assembly, {first[0], second[1]}).empty());
  EXPECT_FALSE(assembly.is_amid());
}

TEST(Assembly, a_piece_that_is_longer_than_its_message_is_dropped) {
  Assembly assembly;
  EXPECT_TRUE(assemble(assembly, {{{.number = 1, .size = 10, .offset = 0}, Bytes(11)}}).empty());
  EXPECT_FALSE(assembly.is_amid());
}

}  // namespace
}  // namespace sinew::bench::graphs
