// For a tool that traces what this program executes (bench/counts.py): stores by which it sees where an operation begins and ends.
#pragma once

#include <cstdint>

namespace sinew::bench {

enum class Whose { sinew, floor };

/// At an address of their own, `marks_address`, that the tool knows: whatever stores there says that the operation begins, or that it has ended.
struct Marks {
  volatile std::uint64_t sinew_begins, floor_begins, ends;
};
constexpr std::uintptr_t marks_address = 0x2000'0000;

/// From then on operations are marked instead of timed, a few of each batch. \throws std::system_error when something lies there already.
void mark_operations();

/// nullptr unless operations are to be marked.
Marks* marks() noexcept;

/// What a batch has then: enough for a median, and for tracing to end.
constexpr std::uint64_t marked_operations = 64;

}  // namespace sinew::bench
