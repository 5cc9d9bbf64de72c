#include "bindings/python/src/type_object.hpp"

#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/errors.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/package.hpp"
#include "bindings/python/src/rows.hpp"

namespace sinew::python {
namespace {

nb::object fields_of(const Type& type) {
  nb::list fields;
  for (const Field& field : type.fields) fields.append(nb::make_tuple(field.name, type_object(field.type)));
  return nb::tuple(fields);
}

nb::object element_of(const Type& type) {
  if (type.kind == Kind::enumeration) return type_object(parse_type(kind_name(type.number)));
  return type.element ? type_object(type.element) : nb::none();
}

nb::object decode(const TypeObject& self, const nb::object& stream) {
  Py_buffer view;
  if (PyObject_GetBuffer(stream.ptr(), &view, PyBUF_SIMPLE) < 0) throw nb::python_error();
  const auto* const data = static_cast<const std::uint8_t*>(view.buf);
  std::vector<std::uint8_t> bytes(data, data + view.len);
  PyBuffer_Release(&view);
  return received(self.type, std::make_shared<const Stream>(std::move(bytes)));
}

}  // namespace

void define_type(nb::module_& module) {
  nb::class_<TypeObject>(module, "Type", nb::is_final())
      .def(
          "__init__", [](TypeObject* self, const std::string& signature) { new (self) TypeObject{parse_type(signature)}; },
          nb::arg("signature"))
      .def_prop_ro("signature", [](const TypeObject& self) { return self.type->signature; })
      .def_prop_ro("name", [](const TypeObject& self) { return self.type->name; })
      .def_prop_ro("kind", [](const TypeObject& self) { return kind_name(self.type->kind); })
      .def_prop_ro("fields", [](const TypeObject& self) { return fields_of(*self.type); })
      .def_prop_ro("element", [](const TypeObject& self) { return element_of(*self.type); })
      .def_prop_ro("count", [](const TypeObject& self) { return self.type->count; })
      .def_prop_ro("dtype", [](const TypeObject& self) { return self.type->rows ? packed_dtype(*self.type, false) : nb::none(); })
      .def(
          "encode", [](const TypeObject& self, const nb::object& value) { return encoded(*self.type, value); }, nb::arg("value").none())
      .def("decode", &decode, nb::arg("stream"))
      .def("draft",
           [](const TypeObject& self, const nb::kwargs& fields) {
             nb::object draft = make_draft(self.type);
             for (const auto& [name, value] : fields) nb::setattr(draft, name, value);
             return draft;
           })
      .def(
          "__eq__", [](const TypeObject& self, const TypeObject& other) { return self.type->structure == other.type->structure; },
          nb::is_operator())
      .def("__hash__", [](const TypeObject& self) { return std::hash<std::string>()(self.type->structure); })
      .def("__repr__", [](const TypeObject& self) { return "sinew.Type('" + self.type->signature + "')"; })
      .def("__reduce__",
           [](const TypeObject& self) { return nb::make_tuple(nb::type<TypeObject>(), nb::make_tuple(self.type->signature)); });
}

nb::object type_object(const TypePtr& type) {
  return nb::cast(TypeObject{type});
}

TypePtr type_from(nb::handle given) {
  const nb::object type = nb::isinstance<TypeObject>(given) ? nb::borrow(given) : type_of(given);
  return nb::cast<const TypeObject&>(type).type;
}

nb::tuple names_of(const Type& structure) {
  nb::list names;
  for (const Field& field : structure.fields) names.append(field.key);
  return nb::tuple(names);
}

std::optional<std::size_t> field_named(const Type& structure, PyObject* name) {
  if (structure.kind != Kind::structure) return std::nullopt;
  for (std::size_t i = 0; i < structure.fields.size(); ++i) {
    if (structure.fields[i].key.ptr() == name) return i;
  }
  if (!PyUnicode_Check(name) || PyUnicode_CHECK_INTERNED(name)) return std::nullopt;  // else it would have been found
  for (std::size_t i = 0; i < structure.fields.size(); ++i) {
    if (PyUnicode_Compare(structure.fields[i].key.ptr(), name) == 0) return i;
  }
  return std::nullopt;
}

std::string no_such_field(const Type& structure, PyObject* name) {
  std::string text = structure.name + " has no field " + repr_of(name);
  const nb::object close = nb::module_::import_("difflib").attr("get_close_matches")(nb::str(nb::handle(name)), names_of(structure), 1);
  if (nb::len(close) > 0) return text + ". Did you mean " + repr_of(close[0]) + "?";
  return text + ", but " + repr_of(names_of(structure));
}

}  // namespace sinew::python
