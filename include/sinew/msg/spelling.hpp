// How the compiler spells types.
#pragma once

#include <cstddef>
#include <string_view>

#include "sinew/detail/language.hpp"

namespace sinew::msg {

// Each compiler writes the template arguments into this text in its own way. It returns const char* because GCC would explain any other type at the end of the text.
template <class T>
consteval const char* pretty_type() {
  return __PRETTY_FUNCTION__;
}

/// The compiler's own spelling, "robot::Box<int>".
template <class T>
consteval std::string_view raw_name() {
  std::string_view text = pretty_type<T>();
  text.remove_prefix(text.find("T = ") + 4);
  text.remove_suffix(1);
  return text;
}

/// True for std::`name` and std::`name`<...>, also where the library has them in a namespace of its own inside std. So that nobody pays for a header of the
/// standard library who does not use it.
template <class T>
consteval bool is_standard(std::string_view name) {
  std::string_view text = raw_name<T>();
  if (!text.starts_with("std::")) return false;
  text = text.substr(5, text.find('<') - 5);
  if (text.starts_with("__") && text.find("::") != std::string_view::npos) text.remove_prefix(text.find("::") + 2);
  return text == name;
}

}  // namespace sinew::msg
