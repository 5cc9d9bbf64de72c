#include "bindings/python/src/message.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/type_object.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

const Message& message_of(PyObject* self) {
  return *nb::inst_ptr<Message>(self);
}

nb::object field_of(const Message& message, std::size_t index) {
  return value_at(message.type->fields[index].type, message.stream, message.begin_of(index));
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Message& message = message_of(self);
    if (const auto index = field_named(*message.type, name)) return field_of(message, *index).release().ptr();
    PyObject* const found = PyObject_GenericGetAttr(self, name);
    if (!found && PyErr_ExceptionMatches(PyExc_AttributeError)) {
      PyErr_Clear();
      raise_python(PyExc_AttributeError, no_such_field(*message.type, name));
    }
    return found;
  });
}

PyObject* get_item(PyObject* self, PyObject* name) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Message& message = message_of(self);
    if (const auto index = field_named(*message.type, name)) return field_of(message, *index).release().ptr();
    raise_python(PyExc_KeyError, no_such_field(*message.type, name));
  });
}

constexpr const char* unchangeable =
    "a received message cannot be changed: its fields lie in memory of its publisher. copy.deepcopy(message) makes one that can be, and "
    "published";

int set_attribute(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_AttributeError, unchangeable);
  return -1;
}

int set_item(PyObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, unchangeable);
  return -1;
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if ((operation != Py_EQ && operation != Py_NE) || !nb::isinstance<Message>(other)) Py_RETURN_NOTIMPLEMENTED;
    const Message& a = message_of(self);
    const Message& b = message_of(other);
    Place in_a{a.stream, a.offset};
    Place in_b{b.stream, b.offset};
    const bool equal = a.type->structure == b.type->structure && equal_values(*a.type, in_a, in_b);
    return nb::borrow(equal == (operation == Py_EQ) ? Py_True : Py_False).release().ptr();
  });
}

PyObject* show(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Message& message = message_of(self);
    std::string text;
    try {
      Place at{message.stream, message.offset};
      show_value(*message.type, at, text);
    } catch (nb::python_error& error) {
      text += std::string("<") + error.what() + ">";
    }
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  });
}

PyType_Slot slots[] = {{Py_tp_getattro, reinterpret_cast<void*>(get_attribute)},
                       {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
                       {Py_mp_subscript, reinterpret_cast<void*>(get_item)},
                       {Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)},
                       {Py_tp_richcompare, reinterpret_cast<void*>(compare)},
                       {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
                       {Py_tp_repr, reinterpret_cast<void*>(show)},
                       {0, nullptr}};

std::size_t alternative_of(const Message& message, const nb::str& name) {
  const auto index = field_named(*message.type, name.ptr());
  if (!index) raise_python(PyExc_AttributeError, no_such_field(*message.type, name.ptr()));
  const Type& type = *message.type->fields[*index].type;
  if (type.kind != Kind::variant) raise_python(PyExc_TypeError, "the field is no variant, but " + type.name);
  std::uint64_t offset = message.begin_of(*index);
  return read_alternative(type, *message.stream, offset);
}

nb::bytes stream_of(const Message& message) {
  return encoded(*message.type, nb::cast(message, nb::rv_policy::copy));
}

StreamPtr stream_from(const nb::bytes& bytes) {
  const auto* const data = static_cast<const std::uint8_t*>(bytes.data());
  return std::make_shared<const Stream>(std::vector<std::uint8_t>(data, data + bytes.size()));
}

Message whole_message(TypePtr type, StreamPtr stream) {
  if (type->kind != Kind::structure) raise(SINEW_INVALID_ARGUMENT, "a Message is a structure, and '" + type->name + "' is none");
  stream->check();
  return {std::move(type), std::move(stream), 0, {}, true};
}

nb::object copy_of(const Message& message) {
  Place at{message.stream, message.offset};
  nb::object draft = plain_value(message.type, at, Copied::drafts);
  if (message.is_whole) require_end(at);
  return draft;
}

}  // namespace

std::uint64_t Message::begin_of(std::size_t field) const {
  if (begins.empty()) begins.push_back(offset);
  while (begins.size() <= field) begins.push_back(skip(*type->fields[begins.size() - 1].type, *stream, begins.back()));
  return begins[field];
}

void define_message(nb::module_& module) {
  nb::class_<Message>(module, "Message", nb::type_slots(slots), nb::is_final())
      .def_prop_ro("_type", [](const Message& self) { return type_object(self.type); })
      .def_prop_ro("_fields", [](const Message& self) { return names_of(*self.type); })
      .def("_alternative", &alternative_of, nb::arg("name"))
      .def("_stream", &stream_of)
      .def("__dir__",
           [](const Message& self) {
             nb::list names(names_of(*self.type));
             for (const char* name : {"_type", "_fields", "_alternative", "_stream"}) names.append(name);
             return names;
           })
      .def("__copy__", &copy_of)
      .def(
          "__deepcopy__", [](const Message& self, const nb::object&) { return copy_of(self); }, nb::arg("memo"))
      .def(
          "__init__",
          [](Message* self, const std::string& signature, const nb::bytes& stream) {
            new (self) Message(whole_message(parse_type(signature), stream_from(stream)));
          },
          nb::arg("signature"), nb::arg("stream"))
      .def("__reduce__",
           [](const Message& self) { return nb::make_tuple(nb::type<Message>(), nb::make_tuple(self.type->signature, stream_of(self))); });
}

nb::object make_message(TypePtr type, StreamPtr stream, std::uint64_t offset) {
  return nb::cast(Message{std::move(type), std::move(stream), offset, {}, false});
}

nb::object received(TypePtr type, StreamPtr stream) {
  if (type->kind != Kind::structure) {
    stream->check();
    return value_at(type, stream, 0);
  }
  return nb::cast(whole_message(std::move(type), std::move(stream)));
}

}  // namespace sinew::python
