// message_of<T>(): the table of a type, made at compile time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "sinew/msg/fingerprint.hpp"
#include "sinew/msg/map_access.hpp"
#include "sinew/msg/refusal.hpp"
#include "sinew/msg/type.hpp"

namespace sinew::msg {

template <class T>
consteval Type make_type();

/// The table of T, which trouble_with<T>() has nothing against.
template <class T>
inline constexpr Type type_of = make_type<T>();

template <class T, std::size_t I>
consteval auto make_member_name() {
  constexpr std::string_view name = MembersOf<T>::template name<I>();
  FixedText<name.size()> text;
  Fill{text.chars}.put(name);
  return text;
}
template <class T, std::size_t I>
inline constexpr auto member_name = make_member_name<T, I>();

template <class T>
consteval auto make_fields() {
  using Members = MembersOf<T>;
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Field, Members::count>{
        Field{member_name<T, I>.chars, static_cast<std::uint32_t>(offsets_of<T>[I]), &type_of<typename Members::template Type<I>>}...};
  }(std::make_index_sequence<Members::count>{});
}
template <class T>
inline constexpr auto fields_of = make_fields<T>();

// Plain loops: algorithms and ranges, instantiated anew for every type, would cost more than the reflection.
constexpr std::size_t count_deep(std::span<const Field> fields) {
  std::size_t count = 0;
  for (const Field& field : fields) count += field.type->flat ? 0 : 1;
  return count;
}
template <class T>
consteval auto make_deep_fields() {
  std::array<Field, count_deep(fields_of<T>)> deep{};
  std::size_t next = 0;
  for (const Field& field : fields_of<T>) {
    if (!field.type->flat) deep[next++] = field;
  }
  return deep;
}
template <class T>
inline constexpr auto deep_fields_of = make_deep_fields<T>();

template <class T>
consteval auto make_alternatives() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::array<Field, sizeof...(I)>{Field{"", 0, &type_of<typename Alternatives<T>::template Type<I>>}...};
  }(std::make_index_sequence<Alternatives<T>::count>{});
}
template <class T>
inline constexpr auto alternatives_of = make_alternatives<T>();

/// What a type is because of what is in it.
constexpr void add_part(Type& whole, const Type& part) {
  whole.owns |= part.owns;
  whole.has_views |= part.has_views;
  whole.has_variants |= part.has_variants;
  whole.in_place &= part.in_place;
}

template <class T>
consteval Type make_type() {
  Type type{.kind = Kind::structure,
            .flat = true,
            .owns = false,
            .has_views = false,
            .has_variants = false,
            .in_place = true,
            .size = sizeof(T),
            .align = alignof(T),
            .count = 0,
            .element = nullptr,
            .map = nullptr,
            .fields = {},
            .deep = {},
            .name = type_name<T>.chars,
            .construct = [](void* at) { ::new (at) T(); },
            .destroy = [](void* at) noexcept { std::destroy_at(static_cast<T*>(at)); }};
  if constexpr (constexpr std::optional<Kind> number = number_kind<T>()) {
    type.kind = *number;
    type.flat = *number != Kind::boolean;
  } else if constexpr (std::is_enum_v<T>) {
    type.kind = Kind::enumeration;
    type.element = &type_of<std::underlying_type_t<T>>;
    type.flat = type.element->flat;
  } else if constexpr (std::is_same_v<T, std::string>) {
    type.kind = Kind::string;
    type.owns = true;
    type.flat = false;
  } else if constexpr (std::is_same_v<T, std::string_view>) {
    type.kind = Kind::text_view;
    type.flat = false;
    type.has_views = true;
  } else if constexpr (Container<T>::known) {
    using C = Container<T>;
    type.kind = C::kind;
    type.count = C::count;
    if constexpr (C::kind != Kind::bit_vector) type.element = &type_of<std::remove_const_t<typename C::Element>>;
    type.owns = C::kind == Kind::vector || C::kind == Kind::bit_vector || C::kind == Kind::map;
    type.in_place = C::kind != Kind::map;
    if constexpr (C::kind == Kind::map) type.map = &map_access<T>;
    type.has_views = C::kind == Kind::view;
    if constexpr (C::kind != Kind::bit_vector) add_part(type, *type.element);
    type.flat = C::kind == Kind::array && type.element->flat;
  } else if constexpr (Alternatives<T>::known) {
    type.kind = Kind::variant;
    type.fields = alternatives_of<T>;
    type.flat = false;
    type.has_variants = true;
    for (const Field& alternative : type.fields) add_part(type, *alternative.type);
  } else {
    type.fields = fields_of<T>;
    type.deep = deep_fields_of<T>;
    type.flat = type.deep.empty();
    for (const Field& field : type.deep) add_part(type, *field.type);
  }
  return type;
}

template <class T>
struct SignatureOf {
  template <class Sink>
  static constexpr void write(Sink& sink) {
    put_type(sink, type_of<T>, true);
  }
};
template <class T>
inline constexpr auto signature_of = make_text<SignatureOf<T>>();

template <class T>
consteval Message make_message() {
  if constexpr (trouble_with<T>() == Trouble::none) {
    static_assert(depth_of(type_of<T>) <= max_depth,
                  "sinew: structures and containers of a message are nested at most 64 deep. Flatten it.");
    static_assert(signature_of<T>.view().size() <= max_signature,
                  "sinew: the signature of this message has more than 32768 characters. Send parts of it on topics of their own.");
    return {.type = &type_of<T>,
            .name = type_of<T>.name,
            .signature = signature_of<T>.chars,
            .hash = hash_of(type_of<T>),
            .layout = layout_of(type_of<T>)};
  } else {
    return {};
  }
}
template <class T>
inline constexpr Message message = make_message<T>();

template <class T>
const Message& message_of() noexcept {
  using Plain = std::remove_cv_t<T>;
  if constexpr (trouble_with<Plain>() != Trouble::none) refuse<Plain>();
  return message<Plain>;
}

template <class T>
const Message& published_message_of() noexcept {
  if constexpr (trouble_with<std::remove_cv_t<T>>() == Trouble::none) {
    static_assert(!type_of<std::remove_cv_t<T>>.has_views,
                  "sinew: this message has views (std::span or std::string_view), which only subscribers can use: publish the type with "
                  "std::vector and std::string in their places");
  }
  return message_of<T>();
}

}  // namespace sinew::msg
