// Types as objects of Python.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bindings/python/src/type.hpp"

namespace sinew::python {

/// The class `Type`.
struct TypeObject {
  TypePtr type;
};

void define_type(nb::module_& module);

nb::object type_object(const TypePtr& type);
/// Of whatever sinew.type_of() takes, and raises what that raises.
TypePtr type_from(nb::handle given);

nb::tuple names_of(const Type& structure);
/// The field's number.
std::optional<std::size_t> field_named(const Type& structure, PyObject* name);
/// For people: "robot/Image has no field 'hight'. Did you mean 'height'?"
std::string no_such_field(const Type& structure, PyObject* name);

}  // namespace sinew::python
