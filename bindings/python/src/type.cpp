#include "bindings/python/src/type.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <unordered_map>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {
namespace {

constexpr std::size_t longest_signature = 32768;  // T3.4
constexpr std::size_t deepest = 64;               // T1.11
constexpr std::size_t most_members = 128;         // T1.9

constexpr std::array<const char*, 18> names{"bool",   "int8",   "int16",  "int32",    "int64",     "uint8",
                                            "uint16", "uint32", "uint64", "float32",  "float64",   "enumeration",
                                            "string", "vector", "array",  "optional", "structure", "variant"};
constexpr std::array<unsigned char, 11> sizes{1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

// What NumPy can have; beyond it, arrays are sequences.
constexpr std::uint64_t largest_array = std::uint64_t{1} << 40;
constexpr std::uint64_t largest_row = std::uint64_t{1} << 28;
constexpr std::size_t most_dimensions = 16;

struct Refused {
  std::string why;
};

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? huge : std::min(product, huge);
}

bool is_identifier(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

std::size_t dimensions_of(const Type& type) {
  std::size_t count = 0;
  for (const Type* it = &type; it->kind == Kind::array; it = it->element.get()) ++count;
  return count;
}

void measure_run(Type& type, const Type& element, std::uint64_t count) {
  for (std::uint64_t from = 0; from < 8; ++from) {
    const std::uint64_t end = end_of_run(element, count, from);
    type.at[from] = {count > 0 ? element.at[from].lead : 0, end >= huge ? huge : end - from};
  }
}

void measure_structure(Type& type) {
  for (std::uint64_t from = 0; from < 8; ++from) {
    std::uint64_t end = from;
    std::uint64_t lead = 0;
    bool is_begun = false;
    for (const Field& field : type.fields) {
      const Extent& extent = field.type->at[end % 8];
      if (!is_begun && extent.size > 0) {
        lead = extent.lead;
        is_begun = true;
      }
      end = std::min(end + extent.size, huge);
    }
    type.at[from] = {lead, end >= huge ? huge : end - from};
  }
}

bool can_be_key(const Type& type) {
  return type.is_scalar() || type.kind == Kind::string;
}

/// Sets what follows from the rest.
void measure(Type& type) {
  switch (type.kind) {
    case Kind::string:
    case Kind::optional:
      type.least = 4;
      break;
    case Kind::vector:
      type.least = 4;
      type.is_map = type.element->kind == Kind::structure && type.element->name.starts_with("entry<") && type.element->fields.size() == 2 &&
                    type.element->fields[0].name == "key" && type.element->fields[1].name == "value" &&
                    can_be_key(*type.element->fields[0].type);
      break;
    case Kind::variant:
      type.least = huge;
      for (const Field& field : type.fields) type.least = std::min(type.least, field.type->least);
      type.least = std::min(type.least + 4, huge);
      break;
    case Kind::array:
      type.plain = type.element->plain || type.count == 0;
      type.has_bool = type.element->has_bool;
      type.alignment = type.element->alignment;
      type.least = times(type.element->least, type.count);
      type.rows = type.element->rows && type.count > 0 && type.least <= largest_array && dimensions_of(type) <= most_dimensions;
      if (type.plain) measure_run(type, *type.element, type.count);
      break;
    case Kind::structure:
      type.plain = type.rows = true;
      for (const Field& field : type.fields) {
        type.plain = type.plain && field.type->plain;
        type.rows = type.rows && field.type->rows;
        type.has_bool = type.has_bool || field.type->has_bool;
        type.alignment = std::max(type.alignment, field.type->alignment);
        type.least = std::min(type.least + field.type->least, huge);
      }
      if (type.fields.empty() || type.least > largest_row) type.rows = false;
      if (type.plain) measure_structure(type);
      break;
    default:  // numbers and enumerations
      type.plain = type.rows = true;
      type.has_bool = type.kind == Kind::boolean;
      type.alignment = number_size(type.number);
      type.least = type.alignment;
      for (std::uint64_t from = 0; from < 8; ++from) {
        const std::uint64_t lead = aligned(from, type.alignment) - from;
        type.at[from] = {lead, lead + type.alignment};
      }
  }
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  TypePtr whole() {
    if (text_.size() > longest_signature) throw Refused{"it has more than 32768 bytes"};
    TypePtr type = parse(1);
    if (at_ != text_.size()) throw Refused{"something follows the type"};
    return type;
  }

 private:
  TypePtr parse(std::size_t depth) {
    if (depth > deepest) throw Refused{"it is nested more than 64 deep"};
    const std::size_t begin = at_;
    auto type = std::make_shared<Type>();
    type->name = name();
    if (type->name.empty() && take('(')) {
      alternatives(*type, depth);
    } else if (take('(')) {
      type->kind = Kind::enumeration;
      type->number = number_named(name());
      if (type->number < Kind::int8 || type->number > Kind::uint64) throw Refused{"an enumeration is of an integer"};
      expect(')');
      type->structure = std::string("enum(") + names[static_cast<std::size_t>(type->number)] + ")";
    } else if (take('{')) {
      structure(*type, depth);
    } else {
      type->kind = type->name == "string" ? Kind::string : number_named(type->name);
      type->number = type->kind;
      type->structure = type->name;
    }
    type->signature = text_.substr(begin, at_ - begin);
    measure(*type);
    return suffixes(std::move(type), begin, depth);
  }

  void alternatives(Type& type, std::size_t depth) {
    type.kind = Kind::variant;
    type.structure = type.name = "(";
    do {
      if (type.fields.size() == most_members) throw Refused{"a variant has at most 128 alternatives"};
      if (!type.fields.empty()) {
        type.name += "|";
        type.structure += "|";
      }
      TypePtr alternative = parse(depth + 1);
      type.name += alternative->name;
      type.structure += alternative->structure;
      type.fields.push_back({std::to_string(type.fields.size()), {}, std::move(alternative)});
    } while (take('|'));
    expect(')');
    type.name += ")";
    type.structure += ")";
  }

  void structure(Type& type, std::size_t depth) {
    if (type.name.empty()) throw Refused{"a structure without a name"};
    type.kind = Kind::structure;
    type.structure = "{";
    while (!take('}')) {
      if (type.fields.size() == most_members) throw Refused{"a structure has at most 128 fields"};
      std::string field = name();
      if (!is_identifier(field)) throw Refused{"'" + field + "' is no name of a field"};
      if (std::ranges::find(type.fields, field, &Field::name) != type.fields.end()) throw Refused{"two fields named '" + field + "'"};
      expect(':');
      TypePtr of = parse(depth + 1);
      expect(';');
      type.structure += field + ":" + of->structure + ";";
      PyObject* key = PyUnicode_DecodeUTF8(field.data(), static_cast<Py_ssize_t>(field.size()), "surrogateescape");
      if (!key) throw nb::python_error();
      PyUnicode_InternInPlace(&key);
      type.fields.push_back({std::move(field), nb::steal(key), std::move(of)});
    }
    type.structure += "}";
  }

  TypePtr suffixes(std::shared_ptr<Type> type, std::size_t begin, std::size_t depth) {
    while (true) {
      const std::size_t before = at_;
      auto outer = std::make_shared<Type>();
      if (take('?')) {
        outer->kind = Kind::optional;
      } else if (take('[')) {
        outer->kind = take(']') ? Kind::vector : Kind::array;
        if (outer->kind == Kind::array) outer->count = length();
      } else {
        return type;
      }
      if (++depth > deepest) throw Refused{"it is nested more than 64 deep"};
      const std::string_view suffix = text_.substr(before, at_ - before);
      outer->signature = text_.substr(begin, at_ - begin);
      outer->name = type->name + std::string(suffix);
      outer->structure = type->structure + std::string(suffix);
      outer->element = std::move(type);
      measure(*outer);
      type = std::move(outer);
    }
  }

  std::uint64_t length() {
    std::uint32_t count = 0;
    const char* const from = text_.data() + at_;
    const auto [end, error] = std::from_chars(from, text_.data() + text_.size(), count);
    if (error != std::errc() || (*from == '0' && end != from + 1)) throw Refused{"an array whose length is none"};
    at_ += static_cast<std::size_t>(end - from);
    expect(']');
    return count;
  }

  static Kind number_named(std::string_view name) {
    const auto* const end = names.begin() + static_cast<int>(Kind::float64) + 1;
    const auto* const found = std::find(names.begin(), end, name);
    if (found == end) throw Refused{"'" + std::string(name) + "' is no type"};
    return static_cast<Kind>(found - names.begin());
  }

  // Up to the next delimiter that is not inside template arguments (T3.2).
  std::string name() {
    const std::size_t begin = at_;
    for (std::size_t depth = 0; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (depth == 0 && std::string_view("{}()[]?:;|").find(c) != std::string_view::npos) break;
      if (c == '<') ++depth;
      if (c == '>' && depth > 0) --depth;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c) {
    if (!take(c)) throw Refused{std::string("'") + c + "' is missing"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// Under the GIL. What is not used any more is dropped when there are many.
std::unordered_map<std::string, std::weak_ptr<const Type>>& known_types() {
  static auto* const known = new std::unordered_map<std::string, std::weak_ptr<const Type>>();
  return *known;
}

}  // namespace

const char* kind_name(Kind kind) {
  return names[static_cast<std::size_t>(kind)];
}

unsigned number_size(Kind kind) {
  return sizes[static_cast<std::size_t>(kind)];
}

bool Type::is_empty() const {
  return kind == Kind::structure && (fields.empty() || (fields.size() == 1 && fields[0].name == "structure_needs_at_least_one_member"));
}

std::uint64_t end_of_run(const Type& type, std::uint64_t count, std::uint64_t offset) {
  if (count == 0) return offset;
  if (type.is_scalar()) return std::min(aligned(offset, type.alignment) + times(count, type.alignment), huge);
  // The remainders of the elements' offsets come again after eight of them at most.
  std::array<std::uint64_t, 8> seen_at{};
  std::array<std::uint64_t, 8> seen_end{};
  std::uint64_t end = offset;
  bool is_round_known = false;
  for (std::uint64_t done = 0; done < count;) {
    const auto from = static_cast<std::size_t>(end % 8);
    if (!is_round_known && seen_at[from] != 0) {
      const std::uint64_t round = done + 1 - seen_at[from];
      const std::uint64_t rounds = (count - done) / round;
      const std::uint64_t skipped = times(rounds, end - seen_end[from]);
      end = std::min(end + skipped, huge);
      done += rounds * round;
      is_round_known = true;
      continue;
    }
    seen_at[from] = done + 1;
    seen_end[from] = end;
    end = std::min(end + type.at[from].size, huge);
    if (end >= huge) return huge;
    ++done;
  }
  return end;
}

TypePtr parse_type(std::string_view signature) {
  auto& known = known_types();
  std::string key(signature);
  if (const auto found = known.find(key); found != known.end()) {
    if (TypePtr type = found->second.lock()) return type;
  }
  try {
    TypePtr type = Parser(signature).whole();
    constexpr std::size_t many = 256;
    if (known.size() >= many) std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    known.insert_or_assign(std::move(key), type);
    return type;
  } catch (const Refused& refused) {
    constexpr std::size_t most = 200;  // that people read
    const std::string said = "'" + std::string(signature.substr(0, most)) + (signature.size() > most ? "..." : "") + "' is no type";
    raise(SINEW_INVALID_ARGUMENT,
          said + ", as 'uint32' is, or 'robot/Point{x:float64;y:float64;}'" + (refused.why == said ? std::string() : ": " + refused.why));
  }
}

}  // namespace sinew::python
