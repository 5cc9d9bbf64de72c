// The messages of spec/vectors/cdr, and Fast CDR writing any message.
#pragma once

#include <fastcdr/Cdr.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "msg/maps.hpp"
#include "msg/parts.hpp"
#include "msg/std_layout.hpp"
#include "values.hpp"

namespace sinew::msg::testing {

enum class Color : std::uint16_t { red = 3, green = 0x1234 };

struct Scalars {
  bool yes = true;
  std::int8_t i8 = -2;
  std::uint8_t u8 = 200;
  std::int16_t i16 = -300;
  std::uint64_t u64 = 0x0102030405060708;
  std::uint16_t u16 = 60000;
  std::int32_t i32 = -70000;
  float f32 = 1.5F;
  bool no = false;
  double f64 = -0.1;
  std::uint32_t u32 = 4000000000U;
  std::int64_t i64 = -5;
  char letter = 'x';
  Color color = Color::green;
};

struct Stamp {
  std::int32_t sec = 7;
  std::uint32_t nanosec = 8;
};
struct Header {
  Stamp stamp;
  std::string frame_id = "map";
};
struct Point {
  double x = 0, y = 0, z = 0;
};
struct Narrow {  // no padding in memory, but aligned to 4 only in a stream
  std::uint32_t a = 0, b = 0;
  double c = 0;
};
struct Gaps {  // padding in memory
  std::uint8_t a = 0;
  double b = 0;
  std::uint8_t c = 0;
};
struct Flagged {
  bool on = false;
  std::uint8_t level = 0;
};
struct Nothing {};

struct Image {
  Header header;
  std::uint32_t height = 2, width = 3;
  std::string encoding = "rgb8";
  std::uint8_t is_bigendian = 0;
  std::uint32_t step = 9;
  std::vector<std::uint8_t> data = {1, 2, 3, 4, 5, 6, 7, 8, 9};
};

struct Arrays {
  std::uint8_t before = 1;
  std::array<std::int16_t, 3> shorts = {1, -2, 3};
  std::vector<double> none;
  std::uint8_t after_none = 2;
  std::vector<double> one = {2.5};
  double matrix[2][2] = {{1, 2}, {3, 4}};
  std::vector<Point> points = {{1, 2, 3}, {4, 5, 6}};
  std::vector<Narrow> narrow = {{1, 2, 3}, {4, 5, 6}};
  std::uint8_t shift = 3;
  std::vector<Narrow> narrow_again = {{1, 2, 3}, {4, 5, 6}};
  std::array<Narrow, 2> narrow_array = {Narrow{7, 8, 9}, Narrow{}};
  std::vector<Gaps> gaps = {{1, 2, 3}, {4, 5, 6}};
  std::array<Gaps, 2> gaps_array = {Gaps{7, 8, 9}, Gaps{1, 1, 1}};
  std::vector<Flagged> flagged = {{true, 1}, {false, 2}};
  std::array<Flagged, 2> flagged_array = {Flagged{true, 3}, Flagged{}};
  std::vector<Nothing> nothings = {{}, {}};
  std::array<std::string, 2> words = {"", "word"};
  std::vector<Color> colors = {Color::red, Color::green};
  std::array<Point, 0> empty = {};
  std::uint16_t last = 4;
};

struct Options {
  std::optional<std::uint8_t> none;
  std::optional<double> number = 2.5;
  std::vector<std::optional<std::string>> texts = {std::nullopt, "text"};
  std::optional<std::vector<std::uint16_t>> vector = std::vector<std::uint16_t>{1, 2};
  std::vector<bool> bits = {true, false, true};
  std::uint64_t last = 1;
};

struct Products {
  std::uint8_t before = 1;
  std::pair<std::uint16_t, std::string> pair = {2, "second"};
  std::vector<std::pair<std::uint32_t, float>> entries = {{3, 0.5F}, {4, 1.5F}};
  std::tuple<std::uint8_t, double, std::string, Point> tuple = {5, 2.5, "third", {1, 2, 3}};
  std::tuple<> none;
  std::optional<std::tuple<bool, Color>> maybe = std::tuple(true, Color::red);
  std::uint64_t last = 6;
};

struct Variants {
  std::uint8_t before = 1;
  std::variant<std::uint8_t, double> number = 2.5;
  std::variant<std::monostate, bool, std::string> none;
  std::variant<std::monostate, bool, std::string> flag = true;
  std::vector<std::variant<std::uint8_t, Point, std::vector<std::uint16_t>>> several = {std::uint8_t{2}, Point{1, 2, 3},
                                                                                        std::vector<std::uint16_t>{3, 4}};
  std::array<std::variant<Color, std::optional<std::string>>, 2> pair = {Color::green, "text"};
  std::variant<std::variant<std::uint16_t, std::string>, float> nested = std::variant<std::uint16_t, std::string>("inner");
  std::uint64_t last = 5;
};

struct Maps {
  std::uint8_t before = 1;
  std::map<std::string, std::uint32_t> counts = {{"two", 2}, {"one", 1}};
  std::map<std::uint8_t, double> none;
  std::vector<std::map<std::uint16_t, std::vector<std::string>>> several = {{{4, {"four"}}, {3, {}}}, {}};
  std::unordered_map<std::string, std::map<bool, Point>> nested = {{"point", {{true, {1, 2, 3}}}}};
  std::uint64_t last = 5;
};

// Not in the vectors.

struct AroundNone {
  std::uint8_t before = 1;
  std::vector<double> none;
  std::uint8_t after = 2;
};
struct Cloud {
  Header header;
  std::vector<Point> points;
  std::string remark;
  std::uint8_t last = 9;
};
struct Grid {
  std::string name = "grid";
  std::array<float, 2048> cells = {};
};
struct alignas(64) Cell {
  std::uint8_t value = 0;
};
struct Big {
  std::optional<std::array<double, 1000>> maybe;
};

/// Writes with Fast CDR, which decides all but the order of the fields.
inline void write_with_fast_cdr(eprosima::fastcdr::Cdr& cdr, const Type& type, const void* at) {
  const auto each = [&](const void* first, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) write_with_fast_cdr(cdr, *type.element, offset_by(first, i * type.element->size));
  };
  switch (type.kind) {
    case Kind::boolean:
      cdr << image_at<bool>(at);
      break;
    case Kind::int8:
      cdr << image_at<std::int8_t>(at);
      break;
    case Kind::uint8:
      cdr << image_at<std::uint8_t>(at);
      break;
    case Kind::int16:
      cdr << image_at<std::int16_t>(at);
      break;
    case Kind::uint16:
      cdr << image_at<std::uint16_t>(at);
      break;
    case Kind::int32:
      cdr << image_at<std::int32_t>(at);
      break;
    case Kind::uint32:
      cdr << image_at<std::uint32_t>(at);
      break;
    case Kind::int64:
      cdr << image_at<std::int64_t>(at);
      break;
    case Kind::uint64:
      cdr << image_at<std::uint64_t>(at);
      break;
    case Kind::float32:
      cdr << image_at<float>(at);
      break;
    case Kind::float64:
      cdr << image_at<double>(at);
      break;
    case Kind::enumeration:
      write_with_fast_cdr(cdr, *type.element, at);
      break;
    case Kind::string:
      cdr << image_at<std::string>(at);
      break;
    case Kind::vector: {
      const auto& vector = image_at<VectorImage>(at);
      const auto count = static_cast<std::size_t>(vector.end - vector.begin) / type.element->size;
      cdr << static_cast<std::uint32_t>(count);
      each(vector.begin, count);
      break;
    }
    case Kind::bit_vector:
      cdr << image_at<std::vector<bool>>(at);
      break;
    case Kind::array:
      each(at, type.count);
      break;
    case Kind::optional:
      cdr << static_cast<std::uint32_t>(is_engaged(type, at));
      if (is_engaged(type, at)) each(at, 1);
      break;
    case Kind::variant: {
      const std::size_t index = index_of(type, at);
      cdr << static_cast<std::uint32_t>(index);
      write_with_fast_cdr(cdr, *type.fields[index].type, offset_by(at, variant_place(type)));
      break;
    }
    case Kind::map:
      cdr << static_cast<std::uint32_t>(type.map->size(at));
      each_entry(type, at, [&](const void* entry) {
        write_with_fast_cdr(cdr, *type.element, entry);
        return true;
      });
      break;
    case Kind::text_view:
    case Kind::view:
      FAIL() << "nobody writes views";
    case Kind::structure:
      for (const Field& field : type.fields) write_with_fast_cdr(cdr, *field.type, offset_by(at, field.offset));
      break;
  }
}

}  // namespace sinew::msg::testing
