#include "bindings/python/src/writer.hpp"

#include <bit>
#include <utility>

namespace sinew::python {
namespace {

// Less is faster copied than told.
constexpr std::uint64_t big = 4096;

}  // namespace

Writer::Writer() {
  constexpr std::size_t usual = 512;
  control_.reserve(usual);
  control_.assign({0, std::endian::native == std::endian::little ? std::uint8_t{1} : std::uint8_t{0}, 0, 0});
}

Writer::~Writer() {
  take_back({encapsulation, 0, 0});
}

void Writer::align(std::uint64_t to) {
  const std::uint64_t over = offset() % to;
  if (over != 0) zeros(to - over);
}

void Writer::put(const void* bytes, std::size_t size) {
  const auto* const from = static_cast<const std::uint8_t*>(bytes);
  control_.insert(control_.end(), from, from + size);
}

void Writer::refer(Py_buffer& buffer, std::uint64_t size) {
  if (size < big) {
    put(buffer.buf, size);
    PyBuffer_Release(&buffer);
    return;
  }
  cuts_.push_back({control_.size(), buffer, size});
  referred_ += size;
}

void Writer::refer(std::uint8_t* data, std::uint64_t size) {
  Py_buffer buffer{};
  buffer.buf = data;
  refer(buffer, size);
}

void Writer::take_back(const Mark& mark) {
  control_.resize(mark.control);
  while (cuts_.size() > mark.cuts) {
    PyBuffer_Release(&cuts_.back().buffer);
    cuts_.pop_back();
  }
  referred_ = mark.referred;
}

void Writer::own() {
  std::vector<std::uint8_t> whole;
  whole.reserve(control_.size() + referred_);
  for (const sinew_extent& extent : extents()) {
    const auto* const from = static_cast<const std::uint8_t*>(extent.data);
    whole.insert(whole.end(), from, from + extent.size);
  }
  take_back({encapsulation, 0, 0});
  control_ = std::move(whole);
}

std::vector<sinew_extent> Writer::extents() const {
  std::vector<sinew_extent> extents;
  extents.reserve(2 * cuts_.size() + 1);
  std::size_t told = 0;
  for (const Cut& cut : cuts_) {
    if (cut.control > told) extents.push_back({control_.data() + told, cut.control - told});
    told = cut.control;
    extents.push_back({static_cast<const std::uint8_t*>(cut.buffer.buf), cut.size});
  }
  if (control_.size() > told) extents.push_back({control_.data() + told, control_.size() - told});
  return extents;
}

}  // namespace sinew::python
