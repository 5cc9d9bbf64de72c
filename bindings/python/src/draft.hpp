// A structure that is being filled, to be published.
#pragma once

#include <vector>

#include "bindings/python/src/type.hpp"

namespace sinew::python {

struct Draft {
  TypePtr type;
  std::vector<nb::object> values;  ///< of the fields; none: not set
  std::vector<bool> is_loaned;     ///< the array is the memory that will be published: values are copied into it
  bool is_over = false;            ///< it was published
};

void define_draft(nb::module_& module);
nb::object make_draft(TypePtr type);

/// What a variant is to have, and as which alternative.
struct Variant {
  std::size_t index;
  nb::object value;
};

}  // namespace sinew::python
