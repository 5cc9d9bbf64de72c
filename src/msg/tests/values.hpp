// The memory and the message types that the tests of walking share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/sanitized.hpp"
#include "msg/bounds.hpp"
#include "msg/walk.hpp"
#include "sinew/msg/reflect.hpp"

namespace sinew::msg::testing {

struct Part {
  std::string label;
  std::vector<std::string> words;
  std::optional<std::string> note;
  bool flag = false;
  friend bool operator==(const Part&, const Part&) = default;
};

struct Whole {
  std::uint64_t id = 0;
  std::string name;
  std::vector<std::uint8_t> data;
  std::vector<Part> parts;
  std::array<std::vector<float>, 2> curves;
  std::vector<bool> bits;
  std::optional<Part> extra;
  float matrix[3] = {};
  bool ok = false;
  std::vector<std::vector<std::string>> table;
  friend bool operator==(const Whole&, const Whole&) = default;
};

/// Of classes of the standard library that are structures, or alternatives.
struct Mixed {
  std::pair<std::uint8_t, std::string> pair;
  std::vector<std::pair<std::string, std::uint32_t>> entries;
  std::tuple<bool, std::string, double, std::vector<std::uint16_t>> tuple;
  std::optional<std::tuple<std::string, std::tuple<>>> maybe;
  std::variant<std::monostate, bool, std::string, std::vector<std::string>, Part> either;
  std::vector<std::variant<float, std::uint8_t, std::vector<std::uint32_t>>> choices;
  friend bool operator==(const Mixed&, const Mixed&) = default;
};

inline const std::string long_text = "a text that is too long for the place inside a string";

inline Whole example() {
  Whole whole{.id = 7,
              .name = long_text,
              .data = {1, 2, 3},
              .parts = {},
              .curves = {},
              .bits = {},
              .extra = {},
              .matrix = {1, 2, 3},
              .ok = true,
              .table = {}};
  whole.parts = {Part{"short", {"one", long_text}, long_text, true}, Part{long_text, {}, std::nullopt, false}};
  whole.curves[1] = {0.5F, 1.5F};
  whole.bits = std::vector<bool>(70, true);
  whole.extra = Part{"", {long_text}, "note", false};
  whole.table = {{}, {long_text, "cell"}};
  return whole;
}

inline Mixed mixed_example() {
  return {.pair = {3, long_text},
          .entries = {{"one", 1}, {long_text, 2}},
          .tuple = {true, long_text, 0.5, {1, 2, 3}},
          .maybe = {{long_text, {}}},
          .either = Part{"label", {long_text}, long_text, true},
          .choices = {0.5F, std::uint8_t{7}, std::vector<std::uint32_t>{1, 2}}};
}

template <class T>
T sample() {
  if constexpr (std::is_same_v<T, Whole>) {
    return example();
  } else {
    return mixed_example();
  }
}

/// Tests of memory that somebody writes to while it is read are not for the thread sanitizer, which finds just that.
inline constexpr bool finds_races = SINEW_THREAD_SANITIZED;

/// A region made of exactly the blocks that were allocated from it, so that a sanitizer sees every byte read outside. Its blocks are operator new's, so that
/// messages in it can be destroyed as ordinary objects, which adopted() ones must be before the arena goes.
class Arena final : public Region, public Memory {
 public:
  std::size_t allowed = SIZE_MAX;  // allocations until one is refused
  std::size_t freed = 0;
  std::size_t misfreed = 0;  // with another alignment than they were allocated with

  bool contains(const void* address, std::size_t size) const noexcept { return Bounds(*this).contain(address, size); }
  Range around(const void* address) const noexcept override {
    const auto next = blocks_.upper_bound(address);
    if (next == blocks_.begin()) return {};
    const auto& [begin, length] = *std::prev(next);
    const auto at = reinterpret_cast<std::uintptr_t>(begin);
    return reinterpret_cast<std::uintptr_t>(address) - at < length ? Range{at, at + length} : Range{};
  }
  std::uint64_t bytes() const noexcept override {
    std::uint64_t sum = 0;
    for (const auto& [block, size] : blocks_) sum += size;
    return sum;
  }
  void* allocate(std::size_t size, std::size_t alignment) noexcept override {
    if (allowed == 0) return nullptr;
    --allowed;
    void* block = alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__ ? ::operator new(size, std::align_val_t{alignment}) : ::operator new(size);
    blocks_[block] = size;
    alignments_[block] = alignment;
    return block;
  }
  void free(void* block, std::size_t alignment) noexcept override {
    ++freed;
    misfreed += alignments_.at(block) == alignment ? 0 : 1;
    alignments_.erase(block);
    blocks_.erase(block);
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
      ::operator delete(block, std::align_val_t{alignment});
    } else {
      ::operator delete(block);
    }
  }
  void free_all() {
    while (!alignments_.empty()) free(alignments_.begin()->first, alignments_.begin()->second);
  }
  void adopt(const void* object, std::size_t size) { blocks_[object] = size; }
  std::size_t block_count() const { return blocks_.size(); }
  const std::map<const void*, std::size_t>& blocks() const { return blocks_; }

 private:
  std::map<const void*, std::size_t> blocks_;
  std::map<void*, std::size_t> alignments_;  // of those that were allocated
};

/// A message that lies in an arena with all its storage, as one that was published.
template <class T>
class Published {
 public:
  explicit Published(T content) : value(std::move(content)) {
    arena.adopt(&value, sizeof(T));
    audit(type, &value, arena, arena);
  }
  Published(const Published&) = delete;
  Published& operator=(const Published&) = delete;

  std::string complaint() const { return complaint_about(type, &value, arena).value_or(""); }

  const Type& type = *message_of<T>().type;
  Arena arena;
  T value;
};

}  // namespace sinew::msg::testing
