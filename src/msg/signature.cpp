#include "msg/signature.hpp"

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

}  // namespace

std::string SignatureType::text() const {
  std::string result(base);
  if (is_variant) {
    const char* separator = "(";
    for (const SignatureField& alternative : fields) {
      result.append(separator).append(alternative.type.text());
      separator = "|";
    }
    result.append(")");
  }
  if (!integer.empty()) result.append("(").append(integer).append(")");
  return result.append(suffix);
}

std::optional<SignatureType> read_signature(std::string_view text) {
  std::optional<SignatureType> type(std::in_place);
  Reader reader(text);
  if (!reader.type(*type, 1) || !reader.at_end()) type.reset();
  return type;
}

}  // namespace sinew::msg
