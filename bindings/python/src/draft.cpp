#include "bindings/python/src/draft.hpp"

#include <string>
#include <utility>

#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/errors.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

Draft& draft_of(PyObject* self) {
  Draft& draft = *nb::inst_ptr<Draft>(self);
  require_fields(draft);
  return draft;
}

nb::object get_field(Draft& draft, std::size_t index) {
  nb::object& value = draft.values[index];
  if (value.is_valid()) return value;
  const TypePtr& type = draft.type->fields[index].type;
  if (type->kind != Kind::structure) return nb::none();
  value = make_draft(type);
  return value;
}

void set_field(Draft& draft, std::size_t index, PyObject* value) {
  if (draft.loaned[index].data) {
    const nb::object array = draft.values[index];
    if (value == array.ptr()) return;  // draft.data += 1
    if (!value) raise_python(PyExc_AttributeError, "an array of a loan cannot be deleted: its memory is a part of the message");
    assign(draft.type->fields[index], array, value);
  } else if (value) {
    draft.values[index] = nb::borrow(value);
  } else {
    draft.values[index].reset();
  }
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Draft& it = *nb::inst_ptr<Draft>(self);
    if (const auto index = field_named(*it.type, name)) return get_field(draft_of(self), *index).release().ptr();
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();
      raise_python(PyExc_AttributeError, no_such_field(*it.type, name));
    }
    return found;
  });
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return guarded<int>(-1, [&] {
    Draft& draft = draft_of(self);
    const auto index = field_named(*draft.type, name);
    if (!index) raise_python(PyExc_AttributeError, no_such_field(*draft.type, name));
    set_field(draft, *index, value);
    return 0;
  });
}

PyObject* get_item(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    Draft& draft = draft_of(self);
    if (const auto index = field_named(*draft.type, name)) return get_field(draft, *index).release().ptr();
    raise_python(PyExc_KeyError, no_such_field(*draft.type, name));
  });
}

int set_item(PyObject* self, PyObject* name, PyObject* value) {
  return guarded<int>(-1, [&] {
    Draft& draft = draft_of(self);
    const auto index = field_named(*draft.type, name);
    if (!index) raise_python(PyExc_KeyError, no_such_field(*draft.type, name));
    set_field(draft, *index, value);
    return 0;
  });
}

PyObject* show(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Draft& draft = *nb::inst_ptr<Draft>(self);
    constexpr std::size_t most = 200;
    constexpr std::size_t long_text = 2000;
    std::string text = "<draft of " + draft.type->name;
    const char* ahead = ": ";
    for (std::size_t i = 0; i < draft.values.size(); ++i) {
      if (!draft.values[i].is_valid()) continue;
      if (text.size() > long_text) {
        text += ", ...";
        break;
      }
      const std::string shown = repr_of(draft.values[i]);
      text += std::exchange(ahead, ", ") + draft.type->fields[i].name + "=" + (shown.size() > most ? shown.substr(0, most) + "..." : shown);
    }
    text += ">";
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  });
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object& value : nb::inst_ptr<Draft>(self)->values) Py_VISIT(value.ptr());
  return 0;
}

int clear(PyObject* self) {
  for (nb::object& value : nb::inst_ptr<Draft>(self)->values) value.reset();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                       {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                       {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                       {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                       {Py_tp_repr, reinterpret_cast<void*>(show)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

int traverse_variant(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (nb::inst_ready(self)) Py_VISIT(nb::inst_ptr<Variant>(self)->value.ptr());
  return 0;
}

int clear_variant(PyObject* self) {
  nb::inst_ptr<Variant>(self)->value.reset();
  return 0;
}

/// Arrays of a loan become its own.
nb::object copy_of(const Draft& draft, nb::handle memo) {
  require_fields(draft);
  const nb::object deepcopy = nb::module_::import_("copy").attr("deepcopy");
  nb::object made = make_draft(draft.type);
  for (std::size_t i = 0; i < draft.values.size(); ++i) {
    if (draft.values[i].is_valid()) draft_in(made.ptr())->values[i] = deepcopy(draft.values[i], memo);
  }
  return made;
}

PyTypeObject* draft_type = nullptr;

PyType_Slot variant_slots[] = {
    {Py_tp_traverse, reinterpret_cast<void*>(traverse_variant)}, {Py_tp_clear, reinterpret_cast<void*>(clear_variant)}, {0, nullptr}};

}  // namespace

void define_draft(nb::module_& module) {
  nb::class_<Draft> type(module, "Draft", nb::type_slots(slots), nb::is_final());
  draft_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  type.def_prop_ro("_type", [](const Draft& self) { return type_object(self.type); })
      .def("__dir__", [](const Draft& self) { return nb::list(names_of(*self.type)); })
      .def("__copy__", [](const Draft& self) { return copy_of(self, nb::none()); })
      .def("__deepcopy__", &copy_of, nb::arg("memo"));
  nb::class_<Variant>(module, "Variant", nb::type_slots(variant_slots))
      .def(nb::init<std::size_t, nb::object>(), nb::arg("index"), nb::arg("value").none() = nb::none())
      .def_rw("index", &Variant::index)
      .def_rw("value", &Variant::value, nb::arg().none())
      .def("__deepcopy__",
           [](const Variant& self, nb::handle memo) {
             return Variant{self.index, nb::module_::import_("copy").attr("deepcopy")(self.value, memo)};
           })
      .def("__repr__",
           [](const Variant& self) { return "sinew.Variant(" + std::to_string(self.index) + ", " + repr_of(self.value) + ")"; });
}

Draft* draft_in(PyObject* value) {
  return Py_IS_TYPE(value, draft_type) ? nb::inst_ptr<Draft>(value) : nullptr;
}

void require_fields(const Draft& draft) {
  if (draft.is_over) raise_python(PyExc_RuntimeError, "the loan has been published, or given back: its fields are gone");
}

nb::object make_draft(TypePtr type) {
  if (type->kind != Kind::structure) raise(SINEW_INVALID_ARGUMENT, "a draft is of a structure, and '" + type->name + "' is none");
  const std::size_t count = type->fields.size();
  return nb::cast(Draft{std::move(type), std::vector<nb::object>(count), std::vector<Draft::Loaned>(count), false});
}

}  // namespace sinew::python
