#include <bit>
#include <cstring>

#include "msg/cdr/bytes.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/cdr/plan.hpp"
#include "msg/maps.hpp"
#include "msg/std_layout.hpp"

namespace sinew::msg::cdr {
namespace {

constexpr std::uint64_t header_size = 4;

/// Writes all bytes, one after the other.
class Flat {
 public:
  explicit Flat(std::byte* body) : begin_(body), at_(body) {}

  std::uint64_t position() const { return static_cast<std::uint64_t>(at_ - begin_); }
  void align(std::uint64_t alignment) {
    for (std::uint64_t left = padding(position(), alignment); left > 0; --left) *at_++ = std::byte{0};
  }
  void numbers(const std::byte* from, std::uint64_t size) {
    copy(at_, from, size);
    at_ += size;
  }
  void text(const char* from, std::uint64_t size) {
    std::memcpy(at_, from, size);
    at_ += size;
  }
  void flag(bool value) { *at_++ = static_cast<std::byte>(value); }

 private:
  std::byte* const begin_;
  std::byte* at_;
};

/// Writes what is small and refers to what is big.
class Pieces {
 public:
  Pieces(std::byte* control, Piece* pieces) : at_(control + header_size), open_(control), piece_(pieces) {}

  std::uint64_t position() const { return position_; }
  void align(std::uint64_t alignment) {
    for (std::uint64_t left = padding(position_, alignment); left > 0; --left, ++position_) *at_++ = std::byte{0};
  }
  void numbers(const std::byte* from, std::uint64_t size) {
    if (size >= Codec::refer_from) return refer(from, size);
    copy(at_, from, size);
    at_ += size;
    position_ += size;
  }
  void text(const char* from, std::uint64_t size) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(from);
    if (size >= Codec::refer_from) return refer(bytes, size);
    std::memcpy(at_, bytes, size);
    at_ += size;
    position_ += size;
  }
  void flag(bool value) {
    *at_++ = static_cast<std::byte>(value);
    ++position_;
  }
  void close() {
    if (at_ != open_) *piece_++ = {open_, at_};
    open_ = at_;
  }

 private:
  void refer(const std::byte* from, std::uint64_t size) {
    close();
    *piece_++ = {from, size};
    position_ += size;
  }

  std::byte* at_;
  std::byte* open_;  // where the piece that is being written begins
  Piece* piece_;
  std::uint64_t position_ = 0;
};

/// Counts what Flat and Pieces will write.
class Measure {
 public:
  bool fits = true;

  std::uint64_t position() const { return position_; }
  void align(std::uint64_t alignment) { written(padding(position_, alignment)); }
  void numbers(const std::byte*, std::uint64_t size) { size >= Codec::refer_from ? refer(size) : written(size); }
  void text(const char*, std::uint64_t size) { numbers(nullptr, size); }
  void flag(bool) { written(1); }
  Codec::Size size() const { return {header_size + position_, header_size + control_, pieces_ + (open_ ? 1 : 0)}; }

 private:
  void written(std::uint64_t size) {
    position_ += size;
    control_ += size;
    open_ |= size > 0;
  }
  void refer(std::uint64_t size) {
    position_ += size;
    pieces_ += open_ ? 2 : 1;
    open_ = false;
  }

  std::uint64_t position_ = 0, control_ = 0, pieces_ = 0;
  bool open_ = true;  // with the encapsulation
};

template <class Sink>
class Writer {
 public:
  Writer(const Plan* plans, Sink& sink) : plans_(plans), sink_(sink) {}

  void value(const Plan& plan, const std::byte* object) {
    for (const Step& step : plan.steps) {
      const std::byte* const at = object + step.offset;
      switch (step.action) {
        case Step::Action::numbers:
          sink_.align(step.alignment);
          sink_.numbers(at, step.size);
          break;
        case Step::Action::text: {
          const std::string_view text = text_at(at).characters;
          length(text.size() + 1);
          sink_.text(text.data(), text.size() + 1);
          break;
        }
        case Step::Action::bits:
          bits(bits_at(at));
          break;
        case Step::Action::sequence: {
          const auto& vector = image_at<VectorImage>(at);
          const std::uint64_t count = static_cast<std::uint64_t>(vector.end - vector.begin) / step.size;
          length(count);
          elements(plans_[step.body], vector.begin, count);
          break;
        }
        case Step::Action::repeat:
          elements(plans_[step.body], at, step.count);
          break;
        case Step::Action::optional: {
          const bool engaged = is_engaged(*step.type, at);
          length(engaged ? 1 : 0);
          if (engaged) value(plans_[step.body], at);
          break;
        }
        case Step::Action::variant:
          variant(step, at);
          break;
        case Step::Action::map:
          length(step.type->map->size(at));
          each_entry(*step.type, at, [&](const void* entry) {
            value(plans_[step.body], static_cast<const std::byte*>(entry));
            return true;
          });
          break;
        case Step::Action::text_view:
        case Step::Action::view:
          break;  // nobody writes messages with views
      }
    }
  }

 private:
  void length(std::uint64_t count) {
    if constexpr (requires { sink_.fits; }) sink_.fits &= count <= UINT32_MAX;
    const auto number = static_cast<std::uint32_t>(count);
    sink_.align(sizeof number);
    sink_.numbers(reinterpret_cast<const std::byte*>(&number), sizeof number);
  }

  void elements(const Plan& plan, const std::byte* first, std::uint64_t count) {
    if (count == 0) return;
    if (plan.plain) {
      sink_.align(plan.first);
      if (is_aligned(sink_.position(), plan.widest)) return sink_.numbers(first, count * plan.size);
    }
    for (std::uint64_t i = 0; i < count; ++i) value(plan, first + i * plan.size);
  }

  void variant(const Step& step, const std::byte* at) {
    const std::vector<std::uint32_t>& alternatives = plans_[step.body].alternatives;
    const std::size_t index = index_of(*step.type, at);
    if (index >= alternatives.size()) {
      if constexpr (requires { sink_.fits; }) sink_.fits = false;
      return;
    }
    length(index);
    value(plans_[alternatives[index]], at + variant_place(*step.type));
  }

  void bits(const Bits& bits) {
    length(bits.count);
    for (std::uint64_t i = 0; i < bits.count; ++i) sink_.flag(bits[i]);
  }

  const Plan* const plans_;
  Sink& sink_;
};

void put_header(std::byte* at) {
  at[0] = at[2] = at[3] = std::byte{0};
  at[1] = std::byte{std::endian::native == std::endian::little};
}

}  // namespace

Codec::Codec(const Type& type) : plans_(compile(type, false)) {}

std::optional<Codec::Size> Codec::measure(const void* message) const noexcept {
  Measure sink;
  Writer(plans_.data(), sink).value(plans_[0], static_cast<const std::byte*>(message));
  if (!sink.fits) return std::nullopt;
  return sink.size();
}

void Codec::write(const void* message, std::byte* into) const noexcept {
  put_header(into);
  Flat sink(into + header_size);
  Writer(plans_.data(), sink).value(plans_[0], static_cast<const std::byte*>(message));
}

void Codec::write_pieces(const void* message, std::byte* control, Piece* pieces) const noexcept {
  put_header(control);
  Pieces sink(control, pieces);
  Writer(plans_.data(), sink).value(plans_[0], static_cast<const std::byte*>(message));
  sink.close();
}

}  // namespace sinew::msg::cdr
