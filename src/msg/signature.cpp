#include "msg/signature.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/cut.hpp"
#include "base/printable.hpp"
#include "sinew/msg/aggregate_table.hpp"
#include "sinew/msg/fingerprint.hpp"

namespace sinew::msg {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }

  bool type(SignatureType& into, std::size_t depth) {
    if (depth > max_depth) return false;
    into.base = name();
    if (into.base.empty() && take('(')) {
      into.is_variant = true;
      do {
        if (!type(into.fields.emplace_back().type, depth + 1)) return false;
      } while (take('|'));
      return take(')') && suffix(into);
    }
    if (into.base.empty() && !starts_with('{')) return false;
    if (take('(')) {
      into.integer = name();
      if (into.integer.empty() || !take(')')) return false;
    } else if (take('{')) {
      into.is_structure = true;
      while (!take('}')) {
        SignatureField& field = into.fields.emplace_back();
        field.name = name();
        if (field.name.empty() || !take(':') || !type(field.type, depth + 1) || !take(';')) return false;
      }
    }
    return suffix(into);
  }

 private:
  bool starts_with(char c) const { return !text_.empty() && text_.front() == c; }

  bool take(char c) {
    if (!starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string_view cut(std::size_t size) {
    const std::string_view front = text_.substr(0, size);
    text_.remove_prefix(front.size());
    return front;
  }

  // Up to the next delimiter that is not inside template arguments.
  std::string_view name() {
    std::size_t size = 0;
    for (std::size_t depth = 0; size < text_.size(); ++size) {
      const char c = text_[size];
      if (depth == 0 && std::string_view("{}()[]?:;|").find(c) != std::string_view::npos) break;
      if (c == '<') ++depth;
      if (c == '>' && depth > 0) --depth;
    }
    return cut(size);
  }

  bool suffix(SignatureType& into) {
    const std::string_view before = text_;
    while (true) {
      if (take('?')) continue;
      if (!take('[')) break;
      while (!text_.empty() && text_.front() >= '0' && text_.front() <= '9') text_.remove_prefix(1);
      if (!take(']')) return false;
    }
    into.suffix = before.substr(0, before.size() - text_.size());
    return true;
  }

  std::string_view text_;
};

// Without fields.
std::string spelled(const SignatureType& type, bool with_integer) {
  std::string result(type.base);
  if (type.is_variant) {
    const char* separator = "(";
    for (const SignatureField& alternative : type.fields) {
      result.append(separator).append(spelled(alternative.type, with_integer));
      separator = "|";
    }
    result.append(")");
  }
  if (with_integer && !type.integer.empty()) result.append("(").append(type.integer).append(")");
  return result.append(type.suffix);
}

void put_structure(StructureHash& hash, const SignatureType& type) {
  if (type.is_structure) {
    hash.put("{");
    for (const SignatureField& field : type.fields) {
      hash.put(field.name);
      hash.put(":");
      put_structure(hash, field.type);
      hash.put(";");
    }
    hash.put("}");
  } else if (type.is_variant) {
    std::string_view separator = "(";
    for (const SignatureField& alternative : type.fields) {
      hash.put(separator);
      put_structure(hash, alternative.type);
      separator = "|";
    }
    hash.put(")");
  } else if (!type.integer.empty()) {
    hash.put("enum(");
    hash.put(type.integer);
    hash.put(")");
  } else {
    hash.put(type.base);
  }
  hash.put(type.suffix);
}

bool is_named(std::string_view name, Kind first, Kind last) {
  for (auto kind = static_cast<int>(first); kind <= static_cast<int>(last); ++kind) {
    if (name == kind_name(static_cast<Kind>(kind))) return true;
  }
  return false;
}

bool is_identifier(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  return std::ranges::all_of(name, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

// T2.5, and what compilers spell: it is shown to people, in logs and on terminals.
bool is_name(std::string_view name) {
  int depth = 0;
  for (const char c : name) {
    if (c == '<') ++depth;
    if (c == '>') --depth;
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || byte == 0x7f || (byte == ' ' && depth == 0)) return false;
  }
  return !name.empty();
}

std::string quoted(std::string_view name) {
  constexpr std::size_t most = 200;  // that people read
  return "'" + base::printable(base::cut(name, most)) + (name.size() > most ? "..." : "") + "'";
}

// T1.12, and as sinew writes them.
bool has_lengths(std::string_view suffix) {
  for (std::size_t at = suffix.find('['); at != std::string_view::npos; at = suffix.find('[', at + 1)) {
    const std::string_view digits = suffix.substr(at + 1, suffix.find(']', at) - at - 1);
    if (digits.empty()) continue;
    std::uint32_t length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc() || (digits.front() == '0' && digits.size() > 1)) return false;
  }
  return true;
}

/// `where`: "field 'width' has", "the message is", what the sentence begins with.
std::string complaint_about(const SignatureType& type, const std::string& where, std::size_t depth) {
  const auto containers = std::ranges::count_if(type.suffix, [](char c) { return c == '[' || c == '?'; });
  depth += static_cast<std::size_t>(containers) + (type.integer.empty() ? 1 : 2);
  if (depth > max_depth) return where + " a type that is nested more than " + std::to_string(max_depth) + " deep";
  if (!has_lengths(type.suffix)) return where + " an array whose length is none: " + quoted(type.suffix);
  if ((type.is_structure || !type.integer.empty()) && !is_name(type.base)) return where + " a type whose name is none";
  if (!type.integer.empty()) {
    return is_named(type.integer, Kind::int8, Kind::uint64)
               ? ""
               : where + " an enumeration of " + quoted(type.integer) + ", which is no integer";
  }
  if (!type.is_structure && !type.is_variant) {
    return is_named(type.base, Kind::boolean, Kind::float64) || type.base == kind_name(Kind::string)
               ? ""
               : where + " the unknown type " + quoted(type.base);
  }
  if (type.fields.size() > most_members) {
    return where + (type.is_variant ? " a variant of more than " : " a structure of more than ") + std::to_string(most_members) +
           (type.is_variant ? " alternatives" : " fields");
  }
  for (const SignatureField& field : type.fields) {
    if (type.is_structure && !is_identifier(field.name)) return where + " a field whose name is no identifier: " + quoted(field.name);
    if (type.is_structure && &field != &*std::ranges::find(type.fields, field.name, &SignatureField::name)) {
      return where + " two fields named " + quoted(field.name);
    }
    std::string complaint =
        complaint_about(field.type, type.is_variant ? "an alternative has" : "field " + quoted(field.name) + " has", depth);
    if (!complaint.empty()) return complaint;
  }
  return "";
}

}  // namespace

std::string SignatureType::text() const {
  return spelled(*this, true);
}

std::string SignatureType::name() const {
  return spelled(*this, false);
}

std::optional<SignatureType> read_signature(std::string_view text) {
  std::optional<SignatureType> type(std::in_place);
  Reader reader(text);
  if (!reader.type(*type, 1) || !reader.at_end()) type.reset();
  return type;
}

std::string complaint_about(const SignatureType& type) {
  return complaint_about(type, "it has", 0);
}

std::array<std::uint8_t, 16> hash_of(const SignatureType& type) {
  StructureHash hash;
  put_structure(hash, type);
  return hash.bytes();
}

}  // namespace sinew::msg
