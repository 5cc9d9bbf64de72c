// Reading signatures (spec/types.md) that strangers sent.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sinew::msg {

struct SignatureField;

/// One type of a signature. Views into the text that was read.
struct SignatureType {
  std::string_view base;     ///< "uint32", "robot/Header", "robot/Color"
  std::string_view integer;  ///< an enumeration's, else empty
  bool is_structure = false;
  bool is_variant = false;
  std::vector<SignatureField> fields;  ///< a variant's alternatives have no names
  std::string_view suffix;             ///< "[]", "[3]?", or empty

  /// "robot/Header[]", "(uint32|string)": without fields.
  std::string text() const;
};

struct SignatureField {
  std::string_view name;
  SignatureType type;
};

/// The type that `text` describes, or nothing when it is not a signature or is nested deeper than any message may be. Any text is safe to give.
std::optional<SignatureType> read_signature(std::string_view text);

}  // namespace sinew::msg
