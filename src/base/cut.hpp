// Texts that may have so many bytes and no more.
#pragma once

#include <cstddef>
#include <string_view>

namespace sinew::base {

/// The text, or its longest beginning that has `most` bytes at most and does not end inside a character of UTF-8.
constexpr std::string_view cut(std::string_view text, std::size_t most) noexcept {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace sinew::base
