#include "bindings/python/src/sequence.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "bindings/python/src/decode.hpp"
#include "bindings/python/src/type_object.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

const Sequence& sequence_of(PyObject* self) {
  return *nb::inst_ptr<Sequence>(self);
}

Py_ssize_t length(PyObject* self) {
  return static_cast<Py_ssize_t>(sequence_of(self).count);
}

nb::object element_of(const Sequence& sequence, std::uint64_t index) {
  return value_at(sequence.type->element, sequence.stream, sequence.begin_of(index));
}

PyObject* get_item(PyObject* self, Py_ssize_t index) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Sequence& sequence = sequence_of(self);
    if (index < 0 || static_cast<std::uint64_t>(index) >= sequence.count) {
      raise_python(PyExc_IndexError, "the sequence has " + std::to_string(sequence.count) + " elements");
    }
    return element_of(sequence, static_cast<std::uint64_t>(index)).release().ptr();
  });
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const auto count = static_cast<Py_ssize_t>(sequence_of(self).count);
    if (PySlice_Check(key)) {
      Py_ssize_t start = 0;
      Py_ssize_t stop = 0;
      Py_ssize_t step = 0;
      if (PySlice_Unpack(key, &start, &stop, &step) < 0) throw nb::python_error();
      const Py_ssize_t size = PySlice_AdjustIndices(count, &start, &stop, step);
      nb::list list;
      for (Py_ssize_t i = 0; i < size; ++i) list.append(nb::steal(get_item(self, start + i * step)));
      return list.release().ptr();
    }
    const Py_ssize_t index = PyNumber_AsSsize_t(key, PyExc_IndexError);
    if (index == -1 && PyErr_Occurred()) throw nb::python_error();
    return get_item(self, index < 0 ? index + count : index);
  });
}

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    if (!nb::isinstance<Sequence>(other)) {
      if (!PyList_Check(other) && !PyTuple_Check(other)) Py_RETURN_NOTIMPLEMENTED;
      const nb::object list = nb::steal(PySequence_List(self));
      const nb::object others = nb::steal(PySequence_List(other));
      if (!list.is_valid() || !others.is_valid()) throw nb::python_error();
      return PyObject_RichCompare(list.ptr(), others.ptr(), operation);
    }
    const Sequence& a = sequence_of(self);
    const Sequence& b = sequence_of(other);
    bool equal = a.count == b.count && a.type->element->structure == b.type->element->structure;
    Place in_a{a.stream, a.offset};
    Place in_b{b.stream, b.offset};
    for (std::uint64_t i = 0; equal && i < a.count; ++i) equal = equal_values(*a.type->element, in_a, in_b);
    return nb::borrow(equal == (operation == Py_EQ) ? Py_True : Py_False).release().ptr();
  });
}

PyObject* show(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Sequence& sequence = sequence_of(self);
    std::string text = "<" + sequence.type->element->name + "[" + std::to_string(sequence.count) + "]>";
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  });
}

PyType_Slot slots[] = {
    {Py_sq_length, reinterpret_cast<void*>(length)},       {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_sq_item, reinterpret_cast<void*>(get_item)},       {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
    {Py_tp_richcompare, reinterpret_cast<void*>(compare)}, {Py_tp_hash, reinterpret_cast<void*>(PyObject_HashNotImplemented)},
    {Py_tp_repr, reinterpret_cast<void*>(show)},           {0, nullptr}};

}  // namespace

std::uint64_t Sequence::begin_of(std::uint64_t index) const {
  if (type->element->plain) return end_of_run(*type->element, index, offset);
  if (begins.empty()) begins.push_back(offset);
  while (begins.size() <= index) begins.push_back(skip(*type->element, *stream, begins.back()));
  return begins[index];
}

void define_sequence(nb::module_& module) {
  nb::class_<Sequence> type(module, "Sequence", nb::type_slots(slots), nb::is_final());
  type.def_prop_ro("_type", [](const Sequence& self) { return type_object(self.type); })
      .def(
          "_alternative",
          [](const Sequence& self, std::uint64_t index) {
            if (self.type->element->kind != Kind::variant) raise_python(PyExc_TypeError, "the elements are no variants");
            if (index >= self.count) raise_python(PyExc_IndexError, "the sequence has " + std::to_string(self.count) + " elements");
            std::uint64_t offset = self.begin_of(index);
            return read_alternative(*self.type->element, *self.stream, offset);
          },
          nb::arg("index"));
  type.def(
          "index",
          [](nb::handle self, nb::handle value) {
            const Py_ssize_t index = PySequence_Index(self.ptr(), value.ptr());
            if (index < 0) throw nb::python_error();
            return index;
          },
          nb::arg("value").none())
      .def(
          "count",
          [](nb::handle self, nb::handle value) {
            const Py_ssize_t count = PySequence_Count(self.ptr(), value.ptr());
            if (count < 0) throw nb::python_error();
            return count;
          },
          nb::arg("value").none());
  nb::module_::import_("collections.abc").attr("Sequence").attr("register")(nb::type<Sequence>());
}

nb::object make_sequence(TypePtr type, StreamPtr stream, std::uint64_t offset, std::uint64_t count) {
  return nb::cast(Sequence{std::move(type), std::move(stream), offset, count, {}});
}

}  // namespace sinew::python
