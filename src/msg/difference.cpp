#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/printable.hpp"
#include "msg/signature.hpp"
#include "msg/walk.hpp"

namespace sinew::msg {
namespace {

// What differs first. A side that lacks the field has no text for it.
struct Difference {
  std::string carried;  // "step: uint32"
  std::string asked;
  std::string sentence;
};

std::string shown(const std::string& path, const SignatureType& type) {
  return path + ": " + type.text();
}

const SignatureField* find(const SignatureType& type, std::string_view name) {
  const auto found = std::find_if(type.fields.begin(), type.fields.end(), [&](const SignatureField& field) { return field.name == name; });
  return found == type.fields.end() ? nullptr : &*found;
}

std::string element(const std::string& path, const SignatureType& type) {
  return path.empty() || type.suffix.find('[') == std::string_view::npos ? path : path + "[]";
}
std::string inside(const std::string& path, const SignatureType& type) {
  return path.empty() ? path : element(path, type) + ".";
}

// The fields `carried` and `asked` stand at the same place and have different names.
Difference names_differ(const std::string& prefix, const SignatureType& a, const SignatureField& carried, const SignatureType& b,
                        const SignatureField& asked) {
  const std::string carried_path = prefix + std::string(carried.name), asked_path = prefix + std::string(asked.name);
  const bool carried_elsewhere = find(b, carried.name), asked_elsewhere = find(a, asked.name);
  if (carried_elsewhere && asked_elsewhere) {
    return {shown(carried_path, carried.type), shown(asked_path, asked.type),
            "the fields are in another order from '" + carried_path + "' on"};
  }
  if (carried_elsewhere) return {"", shown(asked_path, asked.type), "field '" + asked_path + "' is missing in what the topic carries"};
  if (asked_elsewhere) return {shown(carried_path, carried.type), "", "field '" + carried_path + "' is missing in what you asked for"};
  return {shown(carried_path, carried.type), shown(asked_path, asked.type),
          "field '" + carried_path + "' has another name than '" + asked_path + "'"};
}

std::optional<Difference> first_difference(const SignatureType& a, const SignatureType& b, const std::string& path);

// An alternative has the path of its variant, with its number.
std::optional<Difference> alternatives_differ(const SignatureType& a, const SignatureType& b, const std::string& path) {
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    const std::string name = element(path, a) + "<" + std::to_string(i) + ">";
    if (auto found = first_difference(a.fields[i].type, b.fields[i].type, name)) return found;
  }
  return std::nullopt;
}

std::optional<Difference> first_difference(const SignatureType& a, const SignatureType& b, const std::string& path) {
  if (a.suffix != b.suffix || a.is_structure != b.is_structure || a.is_variant != b.is_variant || a.integer != b.integer ||
      (a.is_variant && a.fields.size() != b.fields.size()) || (!a.is_structure && a.integer.empty() && a.base != b.base)) {
    if (path.empty()) return Difference{"", "", "the types differ"};
    return Difference{shown(path, a), shown(path, b), "field '" + path + "' differs"};
  }
  if (a.is_variant) return alternatives_differ(a, b, path);
  const std::string prefix = inside(path, a);
  for (std::size_t i = 0; i < std::min(a.fields.size(), b.fields.size()); ++i) {
    if (a.fields[i].name != b.fields[i].name) return names_differ(prefix, a, a.fields[i], b, b.fields[i]);
    if (auto found = first_difference(a.fields[i].type, b.fields[i].type, prefix + std::string(a.fields[i].name))) return found;
  }
  if (a.fields.size() > b.fields.size()) {
    const SignatureField& field = a.fields[b.fields.size()];
    const std::string at = prefix + std::string(field.name);
    return Difference{shown(at, field.type), "", "field '" + at + "' is missing in what you asked for"};
  }
  if (b.fields.size() > a.fields.size()) {
    const SignatureField& field = b.fields[a.fields.size()];
    const std::string at = prefix + std::string(field.name);
    return Difference{"", shown(at, field.type), "field '" + at + "' is missing in what the topic carries"};
  }
  return std::nullopt;
}

// Strangers' text for a terminal: one line, of a length that a person reads.
std::string printable(std::string_view text) {
  constexpr std::size_t most = 160;
  std::string result = base::printable(text.substr(0, most));
  if (text.size() > most) result += "...";
  return result;
}

std::string side(const SignatureType& type, const std::string& field) {
  return printable(type.text()) + (field.empty() ? "" : "{... " + printable(field) + " ...}");
}

}  // namespace

std::string explain_difference(const std::string& topic, const std::string& carried_signature, const std::string& asked_signature) {
  const auto carried = read_signature(carried_signature), asked = read_signature(asked_signature);
  const std::string start = "topic '" + printable(topic) + "' carries ";
  if (!carried || !asked) {
    return start + (carried ? side(*carried, "") : "'" + printable(carried_signature) + "'") + "; you asked for " +
           (asked ? side(*asked, "") : "'" + printable(asked_signature) + "'") +
           ": a description that cannot be read; use the same version of sinew on both ends";
  }
  const Difference difference =
      first_difference(*carried, *asked, "").value_or(Difference{"", "", "only names of types differ, the fields are the same"});
  return start + side(*carried, difference.carried) + "; you asked for " + side(*asked, difference.asked) + ": " +
         printable(difference.sentence);
}

}  // namespace sinew::msg
