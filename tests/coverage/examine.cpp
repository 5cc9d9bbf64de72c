#include "examine.hpp"

#include <fastcdr/FastBuffer.h>

#include <algorithm>
#include <array>

#include "msg/cdr/cdr.hpp"
#include "msg/parts.hpp"
#include "msg/tests/cdr_values.hpp"
#include "value.hpp"

namespace sinew::coverage {
namespace {

using eprosima::fastcdr::Cdr;
using msg::Kind;
using msg::Type;
using msg::cdr::Codec;
using msg::cdr::Piece;
using msg::testing::Arena;
using Bytes = std::vector<std::byte>;

constexpr std::uint64_t page = Codec::refer_from;

// --- what the table alone tells ----------------------------------------------------------------------------------------------------------

/// True when values side by side have the same bytes in memory and in a stream that is aligned for them: no containers, no padding.
bool is_plain(const Type& type) {
  switch (type.kind) {
    case Kind::structure: {
      std::uint64_t size = 0;
      for (const msg::Field& field : type.fields) {
        if (!is_plain(*field.type)) return false;
        size += field.type->size;
      }
      return size == type.size;
    }
    case Kind::array:
      return is_plain(*type.element);
    case Kind::string:
    case Kind::vector:
    case Kind::bit_vector:
    case Kind::optional:
      return false;
    default:
      return true;
  }
}

/// What there is instead of big arrays of plain elements; unknown when there is such an array.
void collect(const Type& type, Bound bound, const Listing& listing, std::set<Obstacle>& found) {
  switch (type.kind) {
    case Kind::structure:
      for (const msg::Field& field : type.fields) collect(*field.type, listing.bound_of(type, field), listing, found);
      break;
    case Kind::array:
      collect(*type.element, {.elements = 0, .characters = bound.characters}, listing, found);
      break;
    case Kind::string:
      found.insert(bound.characters > 0 && bound.characters + 1 < page ? Obstacle::bound : Obstacle::text);
      break;
    case Kind::bit_vector:
      found.insert(Obstacle::bits);
      break;
    case Kind::vector:
      if (type.element->owns) {
        found.insert(Obstacle::texts);
        collect(*type.element, {.elements = 0, .characters = bound.characters}, listing, found);
      } else if (!is_plain(*type.element)) {
        found.insert(Obstacle::padding);
      } else {
        found.insert(bound.elements > 0 && bound.elements * type.element->size < page ? Obstacle::bound : Obstacle::unknown);
      }
      break;
    default:
      break;
  }
}

bool has_sequences(const Type& type) {
  if (type.kind == Kind::vector || type.kind == Kind::bit_vector) return true;
  if (type.kind == Kind::array) return has_sequences(*type.element);
  return std::ranges::any_of(type.fields, [](const msg::Field& field) { return has_sequences(*field.type); });
}

// --- streams -----------------------------------------------------------------------------------------------------------------------------

Bytes stream_of(const Codec& codec, const void* value) {
  Bytes bytes(codec.measure(value).value().stream);
  codec.write(value, bytes.data());
  return bytes;
}

Bytes by_fast_cdr(const Type& type, const void* value, Cdr::Endianness order, std::size_t room) {
  std::vector<char> memory(room);  // zeros: Fast CDR skips padding
  eprosima::fastcdr::FastBuffer buffer(memory.data(), memory.size());
  Cdr cdr(buffer, order, Cdr::DDS_CDR);
  cdr.serialize_encapsulation();
  msg::testing::write_with_fast_cdr(cdr, type, value);
  const auto* const begin = reinterpret_cast<const std::byte*>(cdr.getBufferPointer());
  return {begin, begin + cdr.getSerializedDataLength()};
}

/// The strings and the vectors of plain elements that have a page, as the pieces that they should be.
void list_big(const Type& type, const void* at, std::vector<Piece>& texts, std::vector<Piece>& arrays) {
  if (type.kind == Kind::string) {
    const std::string_view text = msg::text_at(at).characters;
    if (text.size() + 1 >= page) texts.push_back({reinterpret_cast<const std::byte*>(text.data()), text.size() + 1});
  } else if (type.kind == Kind::vector && is_plain(*type.element)) {
    const auto& vector = msg::image_at<msg::VectorImage>(at);
    const auto size = static_cast<std::uint64_t>(vector.end - vector.begin);
    if (size >= page) arrays.push_back({vector.begin, size});
  }
  msg::each_part(type, at, msg::owns, [&](const Type& part, const void* place, const msg::Field*, std::size_t) {
    list_big(part, place, texts, arrays);
    return true;
  });
}

// --- one value ---------------------------------------------------------------------------------------------------------------------------

class Examination {
 public:
  Examination(const msg::Message& message, Findings& findings) : type_(*message.type), findings_(findings) {}

  void examine(const void* value) {
    note(findings_.native, native(value));
    const Codec codec(type_);
    const Bytes stream = stream_of(codec, value);
    if (stream != by_fast_cdr(type_, value, Cdr::LITTLE_ENDIANNESS, stream.size() + page)) {
      note(findings_.cdr, "Fast CDR writes another stream");
    }
    note(findings_.cdr, read_back(codec, stream, stream));
    note(findings_.cdr, read_back(codec, by_fast_cdr(type_, value, Cdr::BIG_ENDIANNESS, stream.size() + page), stream));
    note(findings_.pieces, pieces(value, codec, stream));
  }

 private:
  static void note(std::string& finding, const std::string& complaint) {
    if (finding.empty()) finding = complaint;
  }

  std::string native(const void* value) const {
    Arena arena;
    Value copy(type_);
    if (!msg::copy_value(type_, value, copy.at(), arena).complete) return "cannot be copied";
    arena.adopt(copy.at(), type_.size);
    if (const auto complaint = msg::complaint_about(type_, copy.at(), arena)) return *complaint;
    copy.alive = true;  // what there is a complaint about may have storage of the original
    const Codec codec(type_);
    return stream_of(codec, copy.at()) == stream_of(codec, value) ? "" : "the copy has another value";
  }

  std::string read_back(const Codec& codec, const Bytes& stream, const Bytes& expected) const {
    Arena arena;
    Value read(type_);
    const std::array whole{Piece{stream.data(), stream.size()}};
    const msg::cdr::Reader reader(type_);
    const auto result = reader.read(whole, read.at(), arena, reader.usual_budget(stream.size()));
    read.alive = result.complaint.empty();
    if (!read.alive) return result.complaint;
    return stream_of(codec, read.at()) == expected ? "" : "what is read is another value";
  }

  std::string pieces(const void* value, const Codec& codec, const Bytes& stream) {
    const Codec::Size size = codec.measure(value).value();
    Bytes control(size.control);
    std::vector<Piece> pieces(size.pieces);
    codec.write_pieces(value, control.data(), pieces.data());
    Bytes joined;
    for (const Piece& piece : pieces) joined.insert(joined.end(), piece.data(), piece.data() + piece.size());
    if (joined != stream) return "the pieces are not the stream";

    std::vector<Piece> texts, arrays;
    list_big(type_, value, texts, arrays);
    const auto is_piece = [&](const Piece& big) {
      return std::ranges::any_of(pieces, [&](const Piece& piece) { return piece.data() == big.data() && piece.size() == big.size(); });
    };
    findings_.text_in_place |= std::ranges::any_of(texts, is_piece);
    findings_.arrays += static_cast<unsigned>(arrays.size());
    findings_.arrays_in_place += static_cast<unsigned>(std::ranges::count_if(arrays, is_piece));
    return "";
  }

  const Type& type_;
  Findings& findings_;
};

}  // namespace

const char* words_for(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::text:
      return "strings, each of which is referred to when it has a page";
    case Obstacle::texts:
      return "a sequence of what has storage of its own, and so does not stand in memory as in a stream";
    case Obstacle::bound:
      return "a bound below a page, so that copying is cheaper";
    case Obstacle::padding:
      return "a sequence of structures with padding, which is not the same in a stream";
    case Obstacle::bits:
      return "a sequence of bool, which is bits in memory and bytes in a stream";
    case Obstacle::unknown:
      break;
  }
  return "an array that could have been referred to and was not";
}

Findings examine(const msg::Message& message, const Listing& listing) {
  struct Size {
    std::size_t page, spread;
  };
  // The last ones often, since it may depend on the texts before an array whether it is aligned in the stream as in memory.
  constexpr int big = 12;
  std::vector<Size> sizes = {{0, 0}, {page, 2}, {page + 64, 1}};
  sizes.resize(sizes.size() + big, {3 * page, 40});
  Findings findings;
  findings.variable = message.type->owns;
  findings.sequences = has_sequences(*message.type);
  Random random(1);
  Examination examination(message, findings);
  for (const Size size : sizes) {
    Value value(*message.type);
    message.type->construct(value.at());
    value.alive = true;
    Filler(listing, random, size.page, size.spread).fill(*message.type, value.at());
    examination.examine(value.at());
  }
  if (findings.variable && findings.arrays_in_place == 0) collect(*message.type, {}, listing, findings.obstacles);
  return findings;
}

}  // namespace sinew::coverage
