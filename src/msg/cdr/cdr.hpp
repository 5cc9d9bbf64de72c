// Messages as CDR streams (spec/cdr.md): plain CDR of version 1, which ROS 2 speaks, over the type table; written in this machine's byte order, read in either.
//
// Partial serialization is TZC's (section III.B): small members are written into a control part and big arrays are referred to where they lie. Here the pieces
// in their order are the CDR stream itself, so that who wants the bytes need not know which were copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "msg/cdr/plan.hpp"
#include "msg/walk.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg::cdr {

/// A part of a stream.
using Piece = std::span<const std::byte>;

/// The codec of one type. Immutable once made, hence thread-safe. Making one costs some microseconds and heap memory; using it neither locks nor, for
/// writing, allocates.
class Codec {
 public:
  /// `type` has no views, and lives as long as the codec.
  explicit Codec(const Type& type);

  /// Arrays and strings of this size and more are referred to, smaller ones copied: a page, about where a copy costs as much as another piece does.
  static constexpr std::uint64_t refer_from = 4096;

  struct Size {
    std::uint64_t stream = 0;   ///< bytes of the whole stream, its 4 bytes of encapsulation included
    std::uint64_t control = 0;  ///< of them, those that are written when arrays are referred to
    std::uint64_t pieces = 0;   ///< then
  };
  /// Nothing when CDR cannot say it: a string of 2^32 - 1 bytes, a vector of 2^32 elements, or more; a variant without a value. The functions below take no such message.
  std::optional<Size> measure(const void* message) const noexcept;

  /// Writes the stream. `into` has measure().stream bytes.
  void write(const void* message, std::byte* into) const noexcept;

  /// Writes what is not referred to into `control`, of measure().control bytes, and lists the pieces of the stream, measure().pieces. They are valid as long
  /// as the message and `control` are. The message must not have changed since it was measured.
  void write_pieces(const void* message, std::byte* control, Piece* pieces) const noexcept;

 private:
  const std::vector<Plan> plans_;
};

struct Read {
  std::string complaint;    ///< empty: the value is complete. Else what is wrong, with the place in the stream; nothing is left to be freed
  std::uint64_t bytes = 0;  ///< of the object and the storage it got
};

/// For the views of a value that is read.
struct Views {
  Memory&
      memory;  ///< for what cannot be referred to where it lies. All its blocks are the caller's to free when the value goes, and after a complaint
  bool
      in_place;  ///< views refer into the pieces, which then outlive the value, where elements lie there as they must; only text and numbers: who writes there changes them
};

/// Reads streams of one type in either byte order. Immutable, thread-safe.
class Reader {
 public:
  explicit Reader(const Type& type);

  /// Makes at `target` (type.size bytes, aligned, raw) the value that the stream says, with storage from `memory`, which for a type with maps is operator new's.
  ///
  /// The pieces may lie in memory that somebody else writes to meanwhile: every length is read once and bounded by what is left of the stream and by
  /// `budget`, the bytes of memory that the value may take. So such a peer can bring about any value or a complaint, and nothing else. The list of pieces
  /// itself must be the caller's own.
  Read read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget) const;  ///< of a type without views
  Read read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget, const Views& views) const;

  /// What a stream of so many bytes may take in memory when nobody says otherwise: as much as an honest one of this type may, and 1 MiB for elements that take
  /// nothing in the stream.
  std::uint64_t usual_budget(std::uint64_t stream) const noexcept;

 private:
  Read read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget, const Views* views) const;

  const Type& type_;
  const std::vector<Plan> little_, big_;
  const std::uint64_t most_per_byte_;
};

}  // namespace sinew::msg::cdr
