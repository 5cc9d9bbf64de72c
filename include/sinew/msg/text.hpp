// Text made at compile time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sinew/detail/language.hpp"

namespace sinew::msg {

/// A text of N characters and a NUL. Also a template argument: Named<"stamp", ...>.
template <std::size_t N>
struct FixedText {
  char chars[N + 1]{};

  constexpr FixedText() = default;
  consteval FixedText(const char (&text)[N + 1]) {
    for (std::size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
  constexpr std::string_view view() const { return {chars, N}; }
};
template <std::size_t N>
FixedText(const char (&)[N]) -> FixedText<N - 1>;

/// Takes text and only measures it: the first of the two passes that make a FixedText.
struct Measure {
  std::size_t size = 0;
  constexpr void put(std::string_view text) { size += text.size(); }
};

/// Takes text and keeps it.
struct Fill {
  char* to;
  constexpr void put(std::string_view text) {
    for (const char c : text) *to++ = c;
  }
};

/// Writes a number in decimal.
template <class Sink>
constexpr void put_number(Sink& sink, std::uint64_t number) {
  char digits[20]{};
  std::size_t at = sizeof digits;
  do {
    digits[--at] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  sink.put({digits + at, sizeof digits - at});
}

/// The text that `Writer::write(sink)` writes.
template <class Writer>
consteval auto make_text() {
  constexpr std::size_t size = [] {
    Measure measure;
    Writer::write(measure);
    return measure.size;
  }();
  FixedText<size> text;
  Fill fill{text.chars};
  Writer::write(fill);
  return text;
}

}  // namespace sinew::msg
