#include "bindings/python/src/stream.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace sinew::python {
namespace {

constexpr std::size_t encapsulation = 4;

}  // namespace

Stream::Stream(sinew_frame* frame) : frame_(frame) {
  const std::size_t count = sinew_frame_extent_count(frame);
  extents_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) extents_.push_back(sinew_frame_extent(frame, i));
  index();
}

Stream::Stream(std::vector<std::uint8_t> bytes) : bytes_(std::move(bytes)) {
  extents_.push_back({bytes_.data(), bytes_.size()});
  index();
}

Stream::~Stream() {
  sinew_frame_release(frame_);
}

void Stream::index() {
  std::array<std::uint8_t, encapsulation> header{};
  std::size_t known = 0;
  parts_.reserve(extents_.size());
  for (const sinew_extent& extent : extents_) {
    const std::size_t ahead = std::min(header.size() - known, extent.size);
    std::copy_n(extent.data, ahead, header.data() + known);
    known += ahead;
    if (extent.size == ahead) continue;
    parts_.push_back({size_, extent.data + ahead, extent.size - ahead});
    size_ += extent.size - ahead;
  }
  // C1.2
  const bool is_little = header[1] == 1;
  is_known_ = known == header.size() && header[0] == 0 && header[1] <= 1 && header[2] == 0 && header[3] == 0;
  is_swapped_ = is_little != (std::endian::native == std::endian::little);
}

void Stream::raise_forked() {
  raise(SINEW_CLOSED, "the message belongs to the process that this one was forked from: pickle it before that, for the child");
}

void Stream::check() const {
  if (!is_known_) raise_decode("the stream does not begin with an encapsulation of plain CDR");
}

const Stream::Part* Stream::part_at(std::uint64_t offset) const {
  const auto behind =
      std::upper_bound(parts_.begin(), parts_.end(), offset, [](std::uint64_t at, const Part& part) { return at < part.begin; });
  return &*(behind - 1);
}

void Stream::read(std::uint64_t offset, void* into, std::uint64_t size) const {
  require(offset, size);
  if (size == 0) return;
  auto* to = static_cast<std::uint8_t*>(into);
  for (const Part* part = part_at(offset);; ++part) {
    const std::uint64_t inside = offset - part->begin;
    const std::uint64_t some = std::min(size, part->size - inside);
    std::memcpy(to, part->data + inside, some);
    if (some == size) return;
    to += some;
    offset += some;
    size -= some;
  }
}

const std::uint8_t* Stream::whole(std::uint64_t offset, std::uint64_t size) const {
  require(offset, size);
  if (size == 0) return nullptr;
  const Part* const part = part_at(offset);
  const std::uint64_t inside = offset - part->begin;
  return size <= part->size - inside ? part->data + inside : nullptr;
}

std::uint64_t read_count(const Type& type, const Stream& stream, std::uint64_t& offset) {
  const std::uint64_t count = type.kind == Kind::vector ? stream.number<std::uint32_t>(offset) : type.count;
  const std::uint64_t least = type.element->least;
  if (least == 0 && count > most_empty_elements) raise_decode("more empty elements than a reader is willing to have");
  if (least != 0 && count > (stream.size() - offset) / least) raise_decode("elements that go on behind the end of the stream");
  return count;
}

bool read_presence(const Stream& stream, std::uint64_t& offset) {
  const auto count = stream.number<std::uint32_t>(offset);
  if (count > 1) raise_decode("an optional with more than one value");
  return count == 1;
}

std::size_t read_alternative(const Type& variant, const Stream& stream, std::uint64_t& offset) {
  const auto index = stream.number<std::uint32_t>(offset);
  if (index >= variant.fields.size()) raise_decode("a variant with an alternative that it does not have");
  return index;
}

Text::Text(const Stream& stream, std::uint64_t& offset) {
  const auto size = stream.number<std::uint32_t>(offset);  // with its NUL; some writers say 0 for the empty string
  if (size == 0) return;
  stream.require(offset, size);
  if (size > few_.size()) many_.resize(size);
  char* const to = size > few_.size() ? many_.data() : few_.data();
  stream.read(offset, to, size);
  if (to[size - 1] != '\0') raise_decode("a string without the NUL at its end");
  offset += size;
  size_ = size - 1;
}

std::uint64_t skip(const Type& type, const Stream& stream, std::uint64_t offset) {
  if (type.plain) {
    const std::uint64_t size = type.at[offset % 8].size;
    if (size > 0) stream.require(offset, size);
    return offset + size;
  }
  switch (type.kind) {
    case Kind::string: {
      const auto size = stream.number<std::uint32_t>(offset);
      stream.require(offset, size);
      return offset + size;
    }
    case Kind::vector: {
      const std::uint64_t count = read_count(type, stream, offset);
      if (type.element->plain) {
        const std::uint64_t end = end_of_run(*type.element, count, offset);
        if (end > offset) stream.require(offset, end - offset);
        return end;
      }
      for (std::uint64_t i = 0; i < count; ++i) offset = skip(*type.element, stream, offset);
      return offset;
    }
    case Kind::array:
      for (std::uint64_t i = 0; i < type.count; ++i) offset = skip(*type.element, stream, offset);
      return offset;
    case Kind::optional:
      return read_presence(stream, offset) ? skip(*type.element, stream, offset) : offset;
    case Kind::variant: {
      const std::size_t index = read_alternative(type, stream, offset);
      return skip(*type.fields[index].type, stream, offset);
    }
    default:
      for (const Field& field : type.fields) offset = skip(*field.type, stream, offset);
      return offset;
  }
}

}  // namespace sinew::python
