// Streams of messages: written by sinew and by Fast CDR, read, and as spec/vectors/cdr has them.
#pragma once

#include <fastcdr/FastBuffer.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "cdr_values.hpp"
#include "msg/cdr/cdr.hpp"

namespace sinew::msg::testing {

using cdr::Codec;
using cdr::Piece;
using cdr::Reader;
using Bytes = std::vector<std::byte>;
enum class Order { big, little };

template <class T>
const Type& type_for() {
  return *message_of<T>().type;
}

template <class T>
Bytes stream_of(const T& message) {
  const Codec codec(type_for<T>());
  Bytes bytes(codec.measure(&message).value().stream);
  codec.write(&message, bytes.data());
  return bytes;
}

/// Of up to 64 KiB.
template <class T>
Bytes by_fast_cdr(const T& message, Order order) {
  using eprosima::fastcdr::Cdr;
  std::vector<char> memory(1 << 16);  // zeros: Fast CDR skips padding
  eprosima::fastcdr::FastBuffer buffer(memory.data(), memory.size());
  Cdr cdr(buffer, order == Order::little ? Cdr::LITTLE_ENDIANNESS : Cdr::BIG_ENDIANNESS, Cdr::DDS_CDR);
  cdr.serialize_encapsulation();
  write_with_fast_cdr(cdr, type_for<T>(), &message);
  const auto* const begin = reinterpret_cast<const std::byte*>(cdr.getBufferPointer());
  return {begin, begin + cdr.getSerializedDataLength()};
}

/// What a reader of T allows a stream of so many bytes.
template <class T>
std::uint64_t usual_budget(std::size_t stream) {
  return Reader(type_for<T>()).usual_budget(stream);
}

/// A value that a reader made.
template <class T>
class Decoded {
 public:
  explicit Decoded(std::span<const Piece> pieces, std::uint64_t budget = std::uint64_t{1} << 30) {
    result = Reader(type_for<T>()).read(pieces, &room_, arena, budget);
  }
  explicit Decoded(const Bytes& bytes, std::uint64_t budget = std::uint64_t{1} << 30)
      : Decoded(std::array{Piece{bytes.data(), bytes.size()}}, budget) {}
  ~Decoded() {
    if (result.complaint.empty()) std::destroy_at(&value());
  }
  Decoded(const Decoded&) = delete;
  Decoded& operator=(const Decoded&) = delete;
  T& value() { return *std::launder(reinterpret_cast<T*>(&room_)); }

  Arena arena;
  cdr::Read result;

 private:
  alignas(T) std::byte room_[sizeof(T)];
};

inline Bytes vector_in(const std::string& name, const std::string& order) {
  std::ifstream file(std::string(SINEW_VECTORS) + "/" + name + ".hex");
  EXPECT_TRUE(file) << name;
  Bytes bytes;
  bool wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "little" || line == "big") wanted = line == order;
    if (!wanted || line.empty() || line[0] == '#' || line == order) continue;
    for (std::size_t at = 0; at + 1 < line.size(); at += 3)
      bytes.push_back(static_cast<std::byte>(std::stoul(line.substr(at, 2), nullptr, 16)));
  }
  return bytes;
}

inline std::string hex(const Bytes& bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    constexpr char digits[] = "0123456789abcdef";
    text += digits[static_cast<unsigned>(bytes[i]) >> 4U];
    text += digits[static_cast<unsigned>(bytes[i]) & 15U];
    text += i % 16 == 15 ? '\n' : ' ';
  }
  return text;
}

struct Written {
  Bytes control;
  std::vector<Piece> pieces;
  Bytes joined() const {
    Bytes bytes;
    for (const Piece& piece : pieces) bytes.insert(bytes.end(), piece.begin(), piece.end());
    return bytes;
  }
};

template <class T>
Written in_pieces(const T& message) {
  const Codec codec(type_for<T>());
  const Codec::Size size = codec.measure(&message).value();
  Written written{Bytes(size.control), std::vector<Piece>(size.pieces)};
  codec.write_pieces(&message, written.control.data(), written.pieces.data());
  return written;
}

}  // namespace sinew::msg::testing
