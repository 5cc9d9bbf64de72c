// A message and its CDR stream, as sinew writes and reads it.
#pragma once

#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "msg/cdr/cdr.hpp"
#include "msg/heap_memory.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::bench {

template <class T>
class Coded {
 public:
  explicit Coded(T value) : message(std::move(value)), bytes(codec_.measure(&message).value().stream) { write(); }

  void write() { codec_.write(&message, bytes.data()); }

  /// A fresh object, whose destructor frees it as any other's.
  void read(T* raw) {
    const std::array piece{msg::cdr::Piece{bytes.data(), bytes.size()}};
    const msg::cdr::Read read = reader_.read(piece, raw, heap_, reader_.usual_budget(bytes.size()));
    if (!read.complaint.empty()) throw std::runtime_error(read.complaint);
  }
  /// Reads into an object on the heap, and destroys it.
  template <class Look>
  void read_and_destroy(Look look) {
    std::allocator<T> allocator;
    T* const object = allocator.allocate(1);
    read(object);
    look(object);
    std::destroy_at(object);
    allocator.deallocate(object, 1);
  }

  const msg::cdr::Codec& codec() const { return codec_; }

 private:
  const msg::cdr::Codec codec_{*msg::message_of<T>().type};
  const msg::cdr::Reader reader_{*msg::message_of<T>().type};
  msg::HeapMemory heap_;

 public:
  T message;
  std::vector<std::byte> bytes;
};

}  // namespace sinew::bench
