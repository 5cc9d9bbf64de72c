#include "msg/cdr/outline.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>
#include <utility>

#include "sinew/msg/aggregate_table.hpp"

namespace sinew::msg::cdr {
namespace {

constexpr std::uint64_t most = std::uint64_t{1} << 48;  // no stream has as many bytes
constexpr std::uint64_t widest = 8;
constexpr std::uint64_t number_size = 4;  // of a length, or of an alternative

constexpr const char* too_short = "it ends too early";

std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
  return std::min(a + b, most);
}

std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > most / b ? most : a * b;
}

std::uint64_t size_of_number(std::string_view name) noexcept {
  const std::size_t digits = name.find_first_of("123468");
  if (digits == std::string_view::npos) return 1;  // bool
  const std::string_view bits = name.substr(digits);
  return bits == "64" ? 8 : bits == "32" ? 4 : bits == "16" ? 2 : 1;
}

bool take_number(Source& source, bool swapped, std::uint32_t& number) {
  if (!source.align(number_size) || !source.take(&number, number_size)) return false;
  if (swapped) number = __builtin_bswap32(number);
  return true;
}

}  // namespace

Outline::Outline(const SignatureType& type) : whole_(part_of(type)) {}

Outline::Part Outline::part_of(const SignatureType& type) {
  Part part;
  if (type.is_structure || type.is_variant) {
    part.kind = type.is_structure ? Kind::structure : Kind::variant;
    for (const SignatureField& field : type.fields) part.parts.push_back(part_of(field.type));
  } else if (type.base == "string" && type.integer.empty()) {
    part.kind = Kind::string;
  } else {
    part.count = size_of_number(type.integer.empty() ? type.base : type.integer);
  }
  part = measured(std::move(part));
  for (std::string_view suffix = type.suffix; !suffix.empty();) {
    if (suffix.front() == '?') {
      part = contained(std::move(part), Kind::optional, 0);
      suffix.remove_prefix(1);
      continue;
    }
    const std::size_t end = suffix.find(']');
    std::uint64_t count = 0;
    std::from_chars(suffix.data() + 1, suffix.data() + end, count);
    part = contained(std::move(part), end == 1 ? Kind::vector : Kind::array, count);
    suffix.remove_prefix(end + 1);
  }
  return part;
}

Outline::Part Outline::contained(Part element, Kind kind, std::uint64_t count) {
  Part part{.kind = kind, .count = count};
  part.parts.push_back(std::move(element));
  return measured(std::move(part));
}

Outline::Part Outline::measured(Part part) {
  part.is_fixed = part.kind == Kind::number || (part.kind == Kind::array && (part.count == 0 || part.parts[0].is_fixed)) ||
                  (part.kind == Kind::structure && std::ranges::all_of(part.parts, &Part::is_fixed));
  for (std::uint64_t begin = 0; begin < widest; ++begin) part.least[begin] = least_of(part, begin);
  return part;
}

std::uint64_t Outline::least_of(const Part& part, std::uint64_t begin) {
  std::uint64_t bytes = 0;
  switch (part.kind) {
    case Kind::number:
      return padding(begin, part.count) + part.count;
    case Kind::array:
      return repeated(part.parts[0].least, part.count, begin);
    case Kind::structure:
      for (const Part& field : part.parts) bytes = sum(bytes, field.least[(begin + bytes) % widest]);
      return bytes;
    case Kind::variant:
      bytes = padding(begin, number_size) + number_size;
      return sum(bytes, part.parts[0].least[(begin + bytes) % widest]);
    case Kind::string:
    case Kind::vector:
    case Kind::optional:
      break;
  }
  return padding(begin, number_size) + number_size;
}

// The places modulo 8 where they begin come round after a few.
std::uint64_t Outline::repeated(const Sizes& one, std::uint64_t count, std::uint64_t begin) {
  std::uint64_t bytes = 0;
  const auto next = [&] {
    bytes = sum(bytes, one[(begin + bytes) % widest]);
    --count;
  };
  for (std::uint64_t i = 0; i < widest && count > 0; ++i) next();
  if (count == 0) return bytes;
  const std::uint64_t count_before = count, bytes_before = bytes;
  do next();
  while (count > 0 && bytes < most && (bytes - bytes_before) % widest != 0);
  if (bytes == most) return most;
  const std::uint64_t period = count_before - count;
  bytes = sum(bytes, product(bytes - bytes_before, count / period));
  count %= period;
  while (count > 0) next();
  return bytes;
}

const char* Outline::skip(const Part& part, Source& source, bool swapped) {
  if (part.is_fixed) return source.skip(part.least[source.position() % widest]) ? nullptr : too_short;
  std::uint64_t values = part.count;
  if (part.kind != Kind::array && part.kind != Kind::structure) {
    std::uint32_t number = 0;
    if (!take_number(source, swapped, number)) return too_short;
    values = number;
  }
  switch (part.kind) {
    case Kind::string:
      return source.skip(values) ? nullptr : "it has a string that goes on behind its end";
    case Kind::variant:
      return values < part.parts.size() ? skip(part.parts[values], source, swapped)
                                        : "it has a variant of an alternative that there is not";
    case Kind::optional:
      if (values > 1) return "it has an optional with more than one value";
      break;
    case Kind::structure:
      for (const Part& field : part.parts) {
        if (const char* const complaint = skip(field, source, swapped)) return complaint;
      }
      return nullptr;
    case Kind::number:
    case Kind::vector:
    case Kind::array:
      break;
  }
  const Part& element = part.parts[0];
  if (element.is_fixed) {
    const std::uint64_t bytes = repeated(element.least, values, source.position() % widest);
    return source.skip(bytes) ? nullptr : "it has a vector that goes on behind its end";
  }
  for (std::uint64_t i = 0; i < values; ++i) {
    if (const char* const complaint = skip(element, source, swapped)) return complaint;
  }
  return nullptr;
}

}  // namespace sinew::msg::cdr
