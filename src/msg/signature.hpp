// Reading signatures (spec/types.md) that strangers sent, and types of which there is nothing else.
#pragma once

#include <array>
#include <cstdint>
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
  /// Its name (spec/types.md, section 2): the same, but of an enumeration its name alone.
  std::string name() const;
};

struct SignatureField {
  std::string_view name;
  SignatureType type;
};

/// The type that `text` describes, or nothing when it is not a signature or is nested deeper than any message may be. Any text is safe to give.
std::optional<SignatureType> read_signature(std::string_view text);

/// Why no message can have this type, for whoever asked for it: "field 'width' has the unknown type 'uint33'". Empty: one can.
std::string complaint_about(const SignatureType& type);

/// The hash of the structure (spec/types.md, section 4).
std::array<std::uint8_t, 16> hash_of(const SignatureType& type);

}  // namespace sinew::msg
