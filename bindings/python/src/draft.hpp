// A structure that is being filled, to be published.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/python/src/type.hpp"

namespace sinew::python {

struct Draft {
  /// The memory that will be published, of which the value is an array: what is assigned is copied into it.
  struct Loaned {
    std::uint8_t* data = nullptr;  ///< null: none
    std::uint64_t size = 0;
  };

  TypePtr type;
  std::vector<nb::object> values;  ///< of the fields; none: not set
  std::vector<Loaned> loaned;      ///< of each field
  bool is_over = false;            ///< it was published
};

void define_draft(nb::module_& module);
nb::object make_draft(TypePtr type);
/// Null where it is none.
Draft* draft_in(PyObject* value);
/// Raises RuntimeError where they are gone.
void require_fields(const Draft& draft);

/// What a variant is to have, and as which alternative.
struct Variant {
  std::size_t index;
  nb::object value;
};

}  // namespace sinew::python
