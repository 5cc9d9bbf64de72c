#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/encoder.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/package.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

bool is_mapping(PyObject* value) {
  static PyObject* const type = nb::object(nb::module_::import_("collections.abc").attr("Mapping")).release().ptr();
  return PyDict_Check(value) || PyObject_IsInstance(value, type) == 1;
}

/// A row of a structured array, whose fields are items.
bool is_row(PyObject* value) {
  static PyObject* const type = numpy("void").release().ptr();
  return PyObject_IsInstance(value, type) == 1 && !nb::getattr(nb::handle(value), "dtype").attr("names").is_none();
}

/// Things that are clearly no structures.
bool is_none_or_simple(PyObject* value) {
  return value == Py_None || PyLong_Check(value) || PyFloat_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value) ||
         PyList_Check(value) || PyTuple_CheckExact(value) || PyType_Check(value);
}

}  // namespace

void Encoder::field(const Type& structure, std::size_t index, PyObject* value) {
  const Into into(*this, {&structure.fields[index].name, 0});
  this->value(*structure.fields[index].type, value);
}

void Encoder::structure(const Type& type, PyObject* value) {
  if (const Draft* const draft = draft_in(value)) {
    require_fields(*draft);
    const bool is_same = draft->type.get() == &type;
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      if (is_same && draft->loaned[i].data && from_loaned(type.fields[i], draft->loaned[i])) continue;
      const auto at = is_same ? i : field_named(*draft->type, type.fields[i].key.ptr());
      const nb::object given = at ? draft->values[*at] : nb::object();
      given.is_valid() ? field(type, i, given.ptr()) : defaults(*type.fields[i].type);
    }
  } else if (nb::isinstance<Message>(value)) {
    const Message& message = nb::cast<const Message&>(nb::handle(value));
    bool has_any = type.is_empty();
    for (std::size_t i = 0; i < type.fields.size(); ++i) {
      const auto at = message.type.get() == &type ? i : field_named(*message.type, type.fields[i].key.ptr());
      if (!at) {
        defaults(*type.fields[i].type);
        continue;
      }
      has_any = true;
      const TypePtr& theirs = message.type->fields[*at].type;
      field(type, i, exact_value(*type.fields[i].type, theirs, message.stream, message.begin_of(*at)).ptr());
    }
    if (!has_any) unexpected("something with the fields of " + type.name + ", of which there is none", value);
  } else if (is_mapping(value) || is_row(value)) {
    from_mapping(type, value);
  } else if (is_none_or_simple(value)) {
    unexpected("a message, mapping or object with the fields of " + type.name, value);
  } else {
    from_attributes(type, value);
  }
}

void Encoder::from_mapping(const Type& type, PyObject* mapping) {
  const nb::object names =
      PyDict_Check(mapping) || is_mapping(mapping) ? nb::borrow(mapping) : nb::getattr(nb::handle(mapping), "dtype").attr("names");
  for (const nb::handle name : names) {
    if (!field_named(type, name.ptr())) fail(no_such_field(type, name.ptr()));
  }
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const nb::object& key = type.fields[i].key;
    const int is_there = PySequence_Contains(names.ptr(), key.ptr());
    if (is_there < 0) throw nb::python_error();
    if (is_there == 0) {
      defaults(*type.fields[i].type);
      continue;
    }
    const nb::object given = nb::steal(PyObject_GetItem(mapping, key.ptr()));
    if (!given.is_valid()) throw nb::python_error();
    field(type, i, given.ptr());
  }
}

void Encoder::require_class(const Type& type, PyTypeObject* cls) {
  const nb::object reference = nb::steal(PyWeakref_NewRef(reinterpret_cast<PyObject*>(cls), nullptr));
  if (!reference.is_valid()) throw nb::python_error();
  for (const nb::object& known : type.classes) {
    if (known.is(reference)) return;
  }
  const nb::object declared = type_of_class(reinterpret_cast<PyObject*>(cls));
  if (!declared.is_none()) {
    const TypePtr& theirs = nb::cast<const TypeObject&>(declared).type;
    if (theirs->structure != type.structure) {
      fail(theirs->name == type.name ? "this " + type.name + " has other fields than what is expected, " + type.signature
                                     : "a " + theirs->name + " is no " + type.name + ": give one of those, or a dict with its fields");
    }
  }
  constexpr std::size_t most = 8;
  if (type.classes.size() == most) type.classes.erase(type.classes.begin());
  type.classes.push_back(reference);
}

void Encoder::from_attributes(const Type& type, PyObject* object) {
  require_class(type, Py_TYPE(object));
  // Of what says nothing any dataclass will do; others are to have something to say.
  bool has_any = type.fields.empty() || (type.is_empty() && nb::hasattr(nb::handle(object), "__dataclass_fields__"));
  for (std::size_t i = 0; i < type.fields.size(); ++i) {
    const nb::object given = nb::steal(PyObject_GetAttr(object, type.fields[i].key.ptr()));
    if (given.is_valid()) {
      has_any = true;
      field(type, i, given.ptr());
    } else if (PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();
      defaults(*type.fields[i].type);
    } else {
      throw nb::python_error();
    }
  }
  if (!has_any) unexpected("something with the fields of " + type.name + ", of which there is none", object);
}

}  // namespace sinew::python
