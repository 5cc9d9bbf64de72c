// The baseline's serialization: members in order, a 64-bit count before strings and vectors. Both ends are the same build, so numbers travel as they lie.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "messages.hpp"

namespace demo {

template <class T>
inline constexpr bool is_sequence = false;
template <>
inline constexpr bool is_sequence<std::string> = true;
template <class E>
inline constexpr bool is_sequence<std::vector<E>> = true;

/// How many bytes serialize() appends for this message.
template <class T>
std::size_t serialized_size(const T& message) {
  std::size_t size = 0;
  visit_members(message, [&]<class M>(const M& member) {
    if constexpr (is_sequence<M>) {
      size += sizeof(std::uint64_t) + member.size() * sizeof(typename M::value_type);
    } else {
      size += sizeof(M);
    }
  });
  return size;
}

/// Appends the message to `out`.
template <class T>
void serialize(const T& message, std::vector<std::byte>& out) {
  const auto append = [&](const void* bytes, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(bytes);
    out.insert(out.end(), first, first + size);
  };
  visit_members(message, [&]<class M>(const M& member) {
    if constexpr (is_sequence<M>) {
      static_assert(std::is_trivially_copyable_v<typename M::value_type>);
      const std::uint64_t count = member.size();
      append(&count, sizeof count);
      append(member.data(), member.size() * sizeof(typename M::value_type));
    } else {
      static_assert(std::is_trivially_copyable_v<M>);
      append(&member, sizeof member);
    }
  });
}

/// The opposite. Throws std::runtime_error when `bytes` is not exactly one message of this type.
template <class T>
void deserialize(std::span<const std::byte> bytes, T& message) {
  const auto take = [&](std::size_t size) {
    if (size > bytes.size())
      throw std::runtime_error("a message on a socket ends too early: the two ends are different builds of the demo");
    const auto taken = bytes.first(size);
    bytes = bytes.subspan(size);
    return taken;
  };
  visit_members(message, [&]<class M>(M& member) {
    if constexpr (is_sequence<M>) {
      using Element = typename M::value_type;
      std::uint64_t count = 0;
      std::memcpy(&count, take(sizeof count).data(), sizeof count);
      const auto elements = take(count > bytes.size() / sizeof(Element) ? bytes.size() + 1 : count * sizeof(Element));
      // assign() would need aligned elements, which a byte stream does not promise.
      if constexpr (sizeof(Element) == 1) {
        const auto* first = reinterpret_cast<const Element*>(elements.data());
        member.assign(first, first + count);
      } else {
        member.resize(count);
        if (count != 0) std::memcpy(member.data(), elements.data(), elements.size());
      }
    } else {
      std::memcpy(&member, take(sizeof member).data(), sizeof member);
    }
  });
  if (!bytes.empty()) throw std::runtime_error("a message on a socket is too long: the two ends are different builds of the demo");
}

}  // namespace demo
