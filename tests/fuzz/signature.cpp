// Any two texts as the signatures of types: the sentences about how they differ, and about what no message can be, are one line for people, of a length that they read.
#include <string>
#include <utility>

#include "input.hpp"
#include "msg/signature.hpp"
#include "msg/walk.hpp"

namespace {

using sinew::fuzz::require;
using namespace sinew::msg;

std::size_t types_in(const SignatureType& type, std::size_t depth) {
  require(depth <= 64, "no signature is nested deeper than a message may be");
  std::size_t types = 1;
  for (const SignatureField& field : type.fields) {
    require(type.is_variant == field.name.empty(), "fields have names and alternatives have none");
    types += types_in(field.type, depth + 1);
  }
  return types;
}

void require_for_people(const std::string& sentence) {
  require(sentence.size() < 2000, "a sentence stays one that people read");
  for (const char c : sentence) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f, "a sentence controls no terminal");
}

/// T4.1
std::string structure_of(const SignatureType& type) {
  std::string text(type.is_structure ? "" : type.integer.empty() ? type.base : "enum");
  std::string separator = type.is_structure ? "{" : "(";
  for (const SignatureField& field : type.fields) {
    if (type.is_structure) {
      text += std::exchange(separator, "") + std::string(field.name) + ":" + structure_of(field.type) + ";";
    } else {
      text += std::exchange(separator, "|") + structure_of(field.type);
    }
  }
  if (type.is_structure) text += std::exchange(separator, "") + "}";
  if (type.is_variant) text += ")";
  if (!type.integer.empty()) text += "(" + std::string(type.integer) + ")";
  return text + std::string(type.suffix);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\n'), all.size());
  const std::string carried = all.substr(0, end), asked = all.substr(std::min(end + 1, all.size()));
  for (const std::string& text : {carried, asked}) {
    const auto type = read_signature(text);
    if (type) require(types_in(*type, 1) <= text.size() + 1, "each type of a signature takes a character at least");
    const bool is_same = type && explain_difference("t", text, text).ends_with("only names of types differ, the fields are the same");
    require(is_same == type.has_value(), "a type does not differ from itself");
    if (!type) continue;
    require_for_people(complaint_about(*type));
    const std::string structure = structure_of(*type);
    const auto without_names = read_signature(structure);
    require(without_names.has_value(), "a structure text is a signature of a kind");
    require(hash_of(*without_names) == hash_of(*type), "names of types are not in the hash");
  }
  require_for_people(explain_difference("topic\n", carried, asked));
  return 0;
}
