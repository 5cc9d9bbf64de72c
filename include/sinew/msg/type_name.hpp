// Names of types, equal on all compilers: "robot/Image", "uint8[]", "robot/Box<string>".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "sinew/msg/kind.hpp"
#include "sinew/msg/spelling.hpp"
#include "sinew/msg/text.hpp"

namespace sinew::msg {

/// What SINEW_NAME says, or null.
template <class T>
inline constexpr const char* explicit_name = nullptr;

/// What may be the name of a structure or enumeration: letters, digits, '_', '/', '.', '-', bytes of UTF-8, and template arguments in '<' '>' with ',' and ' '.
constexpr bool is_name(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80;
    if (c == '<') ++depth;
    if (c == '>' && --depth < 0) return false;
    if (!letter && std::string_view(depth > 0 ? "_/.-<>[]?, " : "_/.->").find(c) == std::string_view::npos) return false;
  }
  return depth == 0 && !text.empty() && text.front() != '<';
}

template <class T>
struct TemplateArguments {
  static constexpr bool known = false;
};
template <template <class...> class Template, class... Arguments>
struct TemplateArguments<Template<Arguments...>> {
  static constexpr bool known = true;
  static consteval bool portable();
  template <class Sink>
  static constexpr void write(Sink& sink, std::string_view begin = "<", std::string_view between = ",", std::string_view end = ">");
};

/// The spelling without the template arguments at its end, which are written by name.
template <class T>
consteval std::string_view stem() {
  std::string_view text = raw_name<T>();
  if constexpr (TemplateArguments<T>::known) {
    std::size_t at = text.size();
    int depth = 0;
    do {
      --at;
      depth += text[at] == '>' ? 1 : text[at] == '<' ? -1 : 0;
    } while (depth > 0 && at > 0);
    text = text.substr(0, at);
  }
  return text;
}

/// False when compilers have no common spelling for T: unnamed types, types of an anonymous namespace, and (GCC only: Clang does not tell) types inside a function.
template <class T>
consteval bool has_portable_name() {
  if constexpr (explicit_name<T> != nullptr || number_kind<T>() || is_text<T>) {
    return true;
  } else if constexpr (Container<T>::known) {
    return has_portable_name<std::remove_const_t<typename Container<T>::Element>>();
  } else if constexpr (Alternatives<T>::known) {
    return TemplateArguments<T>::portable();
  } else {
    const std::string_view text = stem<T>();
    for (const std::string_view bad : {"(", "{", "'", "<unnamed", "<lambda"}) {
      if (text.find(bad) != std::string_view::npos) return false;
    }
    if constexpr (TemplateArguments<T>::known) return TemplateArguments<T>::portable();
    return true;
  }
}

template <class T>
struct NameOf {
  template <class Sink>
  static constexpr void write(Sink& sink) {
    if constexpr (explicit_name<T> != nullptr) {
      sink.put(explicit_name<T>);
    } else if constexpr (constexpr std::optional<Kind> number = number_kind<T>()) {
      sink.put(kind_name(*number));
    } else if constexpr (is_text<T>) {
      sink.put(kind_name(Kind::string));
    } else if constexpr (Container<T>::known) {
      using C = Container<T>;
      NameOf<std::remove_const_t<typename C::Element>>::write(sink);
      if (C::kind == Kind::optional) {
        sink.put("?");
      } else {
        sink.put("[");
        if (C::kind == Kind::array) put_number(sink, C::count);
        sink.put("]");
      }
    } else if constexpr (!product_name<T>.empty()) {
      sink.put(product_name<T>);
      TemplateArguments<T>::write(sink);
    } else if constexpr (Alternatives<T>::known) {
      TemplateArguments<T>::write(sink, "(", "|", ")");
    } else {
      std::string_view text = stem<T>();
      for (std::size_t colons; (colons = text.find("::")) != std::string_view::npos; text.remove_prefix(colons + 2)) {
        sink.put(text.substr(0, colons));
        sink.put("/");
      }
      sink.put(text);
      if constexpr (TemplateArguments<T>::known) TemplateArguments<T>::write(sink);
    }
  }
};

template <template <class...> class Template, class... Arguments>
consteval bool TemplateArguments<Template<Arguments...>>::portable() {
  return (has_portable_name<std::remove_const_t<Arguments>>() && ...);
}

template <template <class...> class Template, class... Arguments>
template <class Sink>
constexpr void TemplateArguments<Template<Arguments...>>::write(Sink& sink, std::string_view begin, std::string_view between,
                                                                std::string_view end) {
  sink.put(begin);
  std::size_t left = sizeof...(Arguments);
  ((NameOf<std::remove_const_t<Arguments>>::write(sink), sink.put(--left > 0 ? between : end)), ...);
  if (sizeof...(Arguments) == 0) sink.put(end);
}

/// The name of T as a static text.
template <class T>
inline constexpr auto type_name = make_text<NameOf<T>>();

}  // namespace sinew::msg
