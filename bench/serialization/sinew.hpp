// By sinew: CDR by its codec, and messages that subscribers read where publishers built them.
#pragma once

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"
#include "parts/inside/placed.hpp"
#include "serialization/messages.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::bench {

struct TextEntry {
  std::string key, value;
};
struct TextList {
  std::vector<TextEntry> entries;
};

inline Touched touch(const TextList& list) {
  return touch_entries(list.entries);
}

/// What a user publishes where it is to be read in place: the message itself.
template <class T>
T in_place(const T& message) {
  return message;
}
/// Nodes of a map cannot lie in shared memory: a list, as in the formats that have no maps.
inline TextList in_place(const TextMap& map) {
  TextList list;
  for (const auto& [key, value] : map.entries) list.entries.push_back({key, value});
  return list;
}

/// One message, which must outlive it and not change, as its writer and its reader have it.
template <class T>
class Sinew {
 public:
  static constexpr std::string_view name = "sinew";

  explicit Sinew(const T& message) : message_(message), placed_(in_place(message)) { write(); }

  /// Into the same buffer each time.
  void write() {
    bytes_.resize(codec_.measure(&message_).value().stream);
    codec_.write(&message_, bytes_.data());
  }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// Makes an object in raw memory.
  void read(T* raw) {
    const std::array piece{msg::cdr::Piece{bytes_}};
    const msg::cdr::Read read = reader_.read(piece, raw, heap_, reader_.usual_budget(bytes_.size()));
    if (!read.complaint.empty()) throw std::runtime_error(read.complaint);
  }

  /// Checks it and looks at it where it lies.
  Touched open() const {
    placed_.validate();
    return touch(placed_.value());
  }
  std::size_t bytes_opened() const { return placed_.bytes(); }

 private:
  using InPlace = decltype(in_place(std::declval<const T&>()));

  const msg::cdr::Codec codec_{*msg::message_of<T>().type};
  const msg::cdr::Reader reader_{*msg::message_of<T>().type};
  msg::HeapMemory heap_;
  const T& message_;
  std::vector<std::byte> bytes_;
  const Placed<InPlace> placed_;
};

}  // namespace sinew::bench
