#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "msg/cdr/bytes.hpp"
#include "msg/cdr/cdr.hpp"
#include "msg/cdr/plan.hpp"
#include "msg/cdr/source.hpp"
#include "msg/maps.hpp"
#include "msg/std_layout.hpp"

namespace sinew::msg::cdr {
namespace {

constexpr std::uint64_t header_size = 4;

/// What a node of a map takes besides its entry, about.
constexpr std::uint64_t node_size = 64;

/// As many entries a key may find where it belongs in a hash table, on average. A stranger can choose keys for which it were all of them.
constexpr std::uint64_t most_neighbours = 64;

/// Fills zeroed objects. Whenever it stops, what it has filled so far is a value whose storage can be freed.
template <bool Swapped>
class Filler {
 public:
  Filler(const Plan* plans, Source& source, Memory& memory, std::uint64_t budget, const Views* views)
      : plans_(plans),
        source_(source),
        memory_(memory),
        views_(views),
        in_place_(views && views->in_place),
        budget_(budget),
        allowed_(budget) {}

  const char* complaint = nullptr;
  std::uint64_t used() const { return allowed_ - budget_; }

  bool value(const Plan& plan, std::byte* object) {
    for (const Step& step : plan.steps) {
      if (!fill(step, object + step.offset)) return false;
    }
    return flags(plan, object);
  }

 private:
  bool fail(const char* why) {
    complaint = why;
    return false;
  }

  bool fill(const Step& step, std::byte* at) {
    switch (step.action) {
      case Step::Action::numbers:
        return numbers(at, step.size, step.alignment);
      case Step::Action::text:
        return text(at);
      case Step::Action::bits:
        return bits(at);
      case Step::Action::sequence:
        return sequence(step, at);
      case Step::Action::repeat:
        return elements(plans_[step.body], at, step.count);
      case Step::Action::optional: {
        std::uint32_t count = 0;
        if (!length(count)) return false;
        if (count > 1) return fail("an optional with more than one value");
        if (count == 0) return true;
        at[step.size] = std::byte{1};
        construct_maps(*step.type->element, at);
        return value(plans_[step.body], at);
      }
      case Step::Action::variant:
        return variant(step, at);
      case Step::Action::map:
        return map(step, at);
      case Step::Action::text_view:
        return text_view(at);
      case Step::Action::view:
        return view(step, at);
    }
    return false;
  }

  bool numbers(std::byte* at, std::uint64_t size, std::uint8_t alignment) {
    if (!source_.align(alignment) || !source_.take(at, size)) return fail("the stream ends before the message does");
    if constexpr (Swapped) copy_swapped(at, at, size, alignment);
    return true;
  }

  bool length(std::uint32_t& count) { return numbers(reinterpret_cast<std::byte*>(&count), sizeof count, sizeof count); }

  bool flags(const Plan& plan, const std::byte* object) {
    for (const Plan::Flags& flags : plan.flags) {
      for (std::uint64_t i = 0; i < flags.count; ++i) {
        if (static_cast<unsigned char>(object[flags.offset + i]) > 1) return fail("a bool that is neither 0 nor 1");
      }
    }
    return true;
  }

  std::byte* allocate(Memory& memory, std::uint64_t size, std::size_t alignment) {
    if (size > budget_) {
      fail("more memory than a reader is willing to spend on it");
      return nullptr;
    }
    auto* const block = static_cast<std::byte*>(memory.allocate(size, alignment));
    if (!block) fail("no memory for it");
    if (block) budget_ -= size;
    return block;
  }

  bool text(std::byte* at) {
    std::uint32_t size = 0;  // with its NUL; some writers say 0 for the empty string
    if (!length(size)) return false;
    if (size > source_.left()) return fail("a string that goes on behind the end of the stream");
    const std::size_t characters = size == 0 ? 0 : size - 1;
    std::byte* block = nullptr;
    if (characters > longest_inside) {
      block = allocate(memory_, text_room(characters), 1);
      if (!block) return false;
    }
    char* const to = set_text(at, characters, block);
    if (size == 0) return true;
    char end = 0;
    source_.take(to, characters);
    source_.take(&end, 1);
    return end == '\0' || fail("a string without the NUL at its end");
  }

  bool bits(std::byte* at) {
    std::uint32_t count = 0;
    if (!length(count)) return false;
    if (count > source_.left()) return fail("a vector of bool that goes on behind the end of the stream");
    const std::size_t words = bit_words(count);
    std::byte* const block = count == 0 ? nullptr : allocate(memory_, words * sizeof(Bits::Word), alignof(Bits::Word));
    if (count > 0 && !block) return false;
    set_bits(at, count, block);
    for (std::size_t first = 0; first < words; ++first) {
      unsigned char each[Bits::word_bits];
      const std::size_t here = std::min<std::size_t>(Bits::word_bits, count - first * Bits::word_bits);
      source_.take(each, here);
      Bits::Word word = 0;
      for (std::size_t bit = 0; bit < here; ++bit) {
        if (each[bit] > 1) return fail("a bool that is neither 0 nor 1");
        word |= Bits::Word{each[bit]} << bit;
      }
      std::memcpy(block + first * sizeof word, &word, sizeof word);
    }
    return true;
  }

  bool sequence(const Step& step, std::byte* at) {
    std::uint32_t count = 0;
    if (!length(count)) return false;
    if (count == 0) return true;
    std::byte* const block = room_for(step, count, memory_);
    if (!block) return false;
    const std::uint64_t size = count * step.size;
    image_at<VectorImage>(at) = {block, block + size, block + size};
    return elements(plans_[step.body], block, count);
  }

  // Zeroed, unless elements() will fill every byte.
  std::byte* room_for(const Step& step, std::uint32_t count, Memory& memory) {
    const Plan& body = plans_[step.body];
    if (body.least > 0 && count > source_.left() / body.least) {
      fail("a sequence that goes on behind the end of the stream");
      return nullptr;
    }
    if (count > budget_ / step.size) {
      fail("a sequence of more elements than a reader is willing to make");
      return nullptr;
    }
    std::byte* const block = allocate(memory, count * step.size, step.type->element->align);
    if (!block || body.plain) return block;
    std::memset(block, 0, count * step.size);
    if (!step.type->element->in_place) {
      for (std::uint64_t i = 0; i < count; ++i) construct_maps(*step.type->element, block + i * step.size);
    }
    return block;
  }

  bool variant(const Step& step, std::byte* at) {
    const std::vector<std::uint32_t>& alternatives = plans_[step.body].alternatives;
    std::uint32_t index = 0;
    if (!length(index)) return false;
    if (index >= alternatives.size()) return fail("a variant with an alternative that its type does not have");
    change_alternative(*step.type, at, index);
    return value(plans_[alternatives[index]], at + variant_place(*step.type));
  }

  // The zeroed variant had the first.
  static void change_alternative(const Type& variant, std::byte* at, std::size_t index) {
    if (!variant.in_place) {
      destroy_maps(variant, at);
      std::memset(at, 0, variant.size);
    }
    set_index(variant, at, index);
    construct_maps(variant, at);
  }

  bool map(const Step& step, std::byte* at) {
    std::uint32_t count = 0;
    if (!length(count)) return false;
    if (count == 0) return true;
    const Plan& body = plans_[step.body];
    if (body.least > 0 && count > source_.left() / body.least) return fail("a map that goes on behind the end of the stream");
    const std::uint64_t cost = step.size + node_size;
    if (count > budget_ / cost) return fail("a map of more entries than a reader is willing to make");
    budget_ -= count * cost;
    std::byte* const entry = allocate(memory_, step.size, step.type->element->align);
    if (!entry) return false;
    const bool before = std::exchange(in_place_, false);  // a key in view that somebody changes would break the map
    const bool complete = entries(step, count, entry, at);
    in_place_ = before;
    memory_.free(entry, step.type->element->align);
    return complete;
  }

  // Each is read outside of the map and moves in, since only the map can make its nodes.
  bool entries(const Step& step, std::uint32_t count, std::byte* entry, void* map) {
    const Type& type = *step.type->element;
    std::uint64_t patience = count * most_neighbours;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::memset(entry, 0, type.size);
      construct_maps(type, entry);
      if (!value(plans_[step.body], entry)) {
        free_storage(type, entry, memory_);
        return false;
      }
      const MapAccess::Inserted inserted = step.type->map->insert(map, entry, patience);
      type.destroy(entry);
      if (inserted == MapAccess::Inserted::key_is_there) return fail("a map with a key that it has already");
      if (inserted == MapAccess::Inserted::crowded) return fail("a map whose keys are all in one place of its hash table");
      if (inserted == MapAccess::Inserted::refused) return fail("no memory for it");
    }
    return true;
  }

  bool text_view(std::byte* at) {
    std::uint32_t size = 0;  // as in text()
    if (!length(size)) return false;
    if (size > source_.left()) return fail("a string that goes on behind the end of the stream");
    if (size == 0) return true;
    const std::byte* first = in_place_ ? source_.take_in_place(size, 1) : nullptr;
    if (!first) {
      std::byte* const block = allocate(views_->memory, size, 1);
      if (!block) return false;
      source_.take(block, size);
      first = block;
    }
    set_text_view(at, first, size - 1);
    return first[size - 1] == std::byte{0} || fail("a string without the NUL at its end");
  }

  bool view(const Step& step, std::byte* at) {
    std::uint32_t count = 0;
    if (!length(count)) return false;
    if (count == 0) return true;
    const std::byte* first = elements_in_place(step, count);
    if (!first) {
      std::byte* const block = room_for(step, count, views_->memory);
      if (!block || !elements(plans_[step.body], block, count)) return false;
      first = block;
    }
    image_at<ViewImage>(at) = {first, count};
    return true;
  }

  // Where the elements of a span are, when they can stay there. Not bools: who writes to the stream could make them anything at any time.
  const std::byte* elements_in_place(const Step& step, std::uint32_t count) {
    const Plan& body = plans_[step.body];
    if (!in_place_ || !body.plain || !body.flags.empty() || (Swapped && body.widest > 1)) return nullptr;
    if (!source_.align(body.first) || !is_aligned(source_.position(), body.widest)) return nullptr;
    return source_.take_in_place(count * step.size, step.type->element->align);
  }

  bool elements(const Plan& plan, std::byte* first, std::uint64_t count) {
    if (count == 0) return true;
    if (plan.plain) {
      if (!source_.align(plan.first)) return fail("the stream ends before the message does");
      if (is_aligned(source_.position(), plan.widest)) {
        if (!numbers(first, count * plan.size, plan.widest)) return false;
        for (std::uint64_t i = 0; !plan.flags.empty() && i < count; ++i) {
          if (!flags(plan, first + i * plan.size)) return false;
        }
        return true;
      }
    }
    for (std::uint64_t i = 0; i < count; ++i) {
      if (!value(plan, first + i * plan.size)) return false;
    }
    return true;
  }

  const Plan* const plans_;
  Source& source_;
  Memory& memory_;
  const Views* const views_;  // not null when the type has views
  bool in_place_;             // views refer to the stream
  std::uint64_t budget_;
  const std::uint64_t allowed_;
};

// Writers pad a stream to a multiple of 4.
constexpr std::uint64_t most_padding = 3;

template <bool Swapped>
Read read_as(const Type& type, const Plan* plans, Source& source, void* target, Memory& memory, std::uint64_t budget, const Views* views) {
  std::memset(target, 0, type.size);
  construct_maps(type, target);
  source.begin_body();
  Filler<Swapped> filler(plans, source, memory, budget, views);
  if (filler.value(plans[0], static_cast<std::byte*>(target))) {
    if (source.left() <= most_padding) return {{}, type.size + filler.used()};
    filler.complaint = "the stream goes on behind the end of the message";
  }
  free_storage(type, target, memory);
  return {"byte " + std::to_string(header_size + source.position()) + " of the stream: " + filler.complaint, 0};
}

/// Bytes of storage for a byte of a stream, at most. Each element has its own bytes there, but for those of its own elements: so the worst of all kinds of elements
/// is the worst of all values. Text and bools stay below 16.
std::uint64_t most_storage_per_byte(const std::vector<Plan>& plans) {
  std::uint64_t most = 16;
  for (const Plan& plan : plans) {
    for (const Step& step : plan.steps) {
      const bool is_map = step.action == Step::Action::map;
      if (!is_map && step.action != Step::Action::sequence && step.action != Step::Action::view) continue;
      const std::uint64_t least = plans[step.body].least;
      const std::uint64_t storage = is_map ? 2 * step.size + node_size : step.size;  // an entry is read outside of its map
      if (least > 0) most = std::max(most, (storage + least - 1) / least);
    }
  }
  return most;
}

}  // namespace

Reader::Reader(const Type& type)
    : type_(type),
      little_(compile(type, std::endian::native == std::endian::big)),
      big_(compile(type, std::endian::native == std::endian::little)),
      most_per_byte_(most_storage_per_byte(little_)) {}

std::uint64_t Reader::usual_budget(std::uint64_t stream) const noexcept {
  constexpr std::uint64_t base = std::uint64_t{1} << 20;
  return stream > (UINT64_MAX - base) / most_per_byte_ ? UINT64_MAX : base + stream * most_per_byte_;
}

Read Reader::read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget) const {
  return read(pieces, target, memory, budget, nullptr);
}

Read Reader::read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget, const Views& views) const {
  return read(pieces, target, memory, budget, &views);
}

Read Reader::read(std::span<const Piece> pieces, void* target, Memory& memory, std::uint64_t budget, const Views* views) const {
  if (type_.has_views && !views) return {"a message with views, which this reader has no memory for", 0};
  Source source(pieces);
  unsigned char header[header_size] = {};
  if (!source.take(header, sizeof header)) return {"the stream is shorter than its encapsulation", 0};
  if (header[0] != 0 || header[1] > 1) {
    return {
        "the stream is not plain CDR: its encapsulation is " + std::to_string(header[0] * 256 + header[1]) + ", and 0 and 1 are understood",
        0};
  }
  if (header[2] != 0 || header[3] != 0) return {"the encapsulation of the stream has options, and those of sinew have none", 0};
  const bool is_little = header[1] == 1;
  const Plan* const plans = is_little ? little_.data() : big_.data();
  if (is_little == (std::endian::native == std::endian::little)) {
    return read_as<false>(type_, plans, source, target, memory, budget, views);
  }
  return read_as<true>(type_, plans, source, target, memory, budget, views);
}

}  // namespace sinew::msg::cdr
