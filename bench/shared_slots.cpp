#include "shared_slots.hpp"

#include <new>

namespace sinew::bench {

namespace {

constexpr std::size_t line = 64, page = 4096;

constexpr std::size_t round_up(std::size_t size, std::size_t to) {
  return (size + to - 1) / to * to;
}

}  // namespace

SharedSlots::SharedSlots(std::size_t payload, unsigned readers)
    : payload_(payload),
      readers_(readers),
      words_(round_up((1 + readers) * line, page)),
      stride_(round_up(line + payload, line)),
      size_(words_ + slots * stride_),
      memory_(size_) {
  for (std::size_t index = 0; index <= readers; ++index) new (memory_.data() + index * line) std::atomic<std::uint64_t>(0);
}

bool SharedSlots::free_for(std::uint64_t message) const {
  for (unsigned reader = 0; reader < readers_; ++reader) {
    if (message - cursor(reader).load(std::memory_order_acquire) >= slots) return false;
  }
  return true;
}

std::int64_t& SharedSlots::stamp(std::uint64_t message) const {
  return *reinterpret_cast<std::int64_t*>(slot(message));
}

std::span<std::uint8_t> SharedSlots::payload(std::uint64_t message) const {
  return {reinterpret_cast<std::uint8_t*>(slot(message) + line), payload_};
}

void SharedSlots::touch(bool writing) const {
  for (std::size_t at = words_; at < size_; at += page) {
    auto* const byte = reinterpret_cast<volatile std::uint8_t*>(memory_.data() + at);
    const std::uint8_t value = *byte;
    if (writing) *byte = value;
  }
}

std::atomic<std::uint64_t>* SharedSlots::word(std::size_t index) const {
  return reinterpret_cast<std::atomic<std::uint64_t>*>(memory_.data() + index * line);
}

std::byte* SharedSlots::slot(std::uint64_t message) const {
  return memory_.data() + words_ + message % slots * stride_;
}

}  // namespace sinew::bench
