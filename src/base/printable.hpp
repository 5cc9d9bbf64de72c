// Texts of strangers, for a terminal or a line of a log.
#pragma once

#include <string>
#include <string_view>

namespace sinew::base {

/// The text with '?' for whatever could end the line, or make a terminal do something.
inline std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return result;
}

}  // namespace sinew::base
