// The table of what is covered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "definition.hpp"
#include "examine.hpp"

namespace sinew::coverage {

struct Result {
  Definition definition;
  std::optional<Findings> findings;  ///< of what is a message of sinew
  std::string reason;                ///< why the others are not
  std::string stand_in;              ///< a definition in it that is not the original

  bool is_native() const { return findings && findings->native.empty(); }
  bool is_cdr() const { return findings && findings->cdr.empty(); }
  bool is_variable() const { return findings && findings->variable; }
  bool is_in_pieces() const { return is_variable() && findings->pieces.empty(); }
};

/// In Markdown: a row per repository and one of all, and below it the names of those that are exceptions, with the reason.
std::string table_of(const std::vector<Result>& results);

}  // namespace sinew::coverage
