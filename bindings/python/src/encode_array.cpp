#include <nanobind/stl/vector.h>

#include <array>
#include <vector>

#include "bindings/python/src/encoder.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

std::string kind_of(const nb::object& array) {
  return text_of(array.attr("dtype").attr("kind"));
}

/// The same fields, each of which keeps whatever it is given: NumPy casts to others without a word.
nb::object unconverted(const nb::object& dtype) {
  const nb::object names = dtype.attr("names"), subdtype = dtype.attr("subdtype");
  if (!subdtype.is_none()) return numpy("dtype")(nb::make_tuple(unconverted(subdtype[0]), subdtype[1]));
  if (names.is_none()) return numpy("dtype")("O");
  nb::list fields;
  for (const nb::handle name : names) fields.append(nb::make_tuple(name, unconverted(dtype[name])));
  return numpy("dtype")(fields);
}

bool are_integers(const nb::object& kept) {
  for (const nb::handle each : kept.attr("flat")) {
    if (!PyLong_Check(each.ptr())) return false;
  }
  return true;
}

/// What was kept so, as the numbers that it is. Of integers on both sides of 2**63 NumPy would make floats.
nb::object numbers_of(Kind number, const nb::object& kept) {
  if (number < Kind::float32 && are_integers(kept)) return kept;
  return numpy("array")(kept.attr("tolist")());
}

}  // namespace

void Encoder::from_array(const Type& type, const nb::object& array) {
  const std::string kind = kind_of(array);
  const bool is_of_rows = !run_of(*type.element, 1).row->is_scalar();
  if (is_of_rows && !array.attr("dtype").attr("names").is_none()) return from_rows(type, array);
  if (!is_of_rows && std::string("biuf").find(kind) != std::string::npos) return from_numbers(type, array);
  const nb::object list = array.attr("tolist")();
  if (!PyList_Check(list.ptr())) unexpected("the elements of " + type.name, array.ptr());
  one_by_one(type, list.ptr());
}

void Encoder::require_fit(Kind number, const nb::object& array) {
  const std::string kind = kind_of(array);
  const nb::object dtype = dtype_of_number(number, false);
  const std::string given = text_of(array.attr("dtype"));
  const bool is_float = number >= Kind::float32;
  const bool is_exact = kind == "O" && !is_float && are_integers(array);
  if (!is_exact && std::string("biuf").find(kind) == std::string::npos) fail(given + " does not fit " + kind_name(number));
  if (nb::len(array.attr("ravel")()) == 0) return;
  if (kind == "f" && !is_float) fail("an array of " + given + " does not fit " + kind_name(number) + ": round it, and use astype()");
  if (kind != "f" && is_float) return;  // no integer is beyond them
  if (nb::cast<bool>(numpy("can_cast")(array.attr("dtype"), dtype, "safe"))) return;
  nb::dict of;
  if (is_float) {
    of["where"] = numpy("isfinite")(array);  // what is not is so in every float
    of["initial"] = 0;
  }
  const auto exact = [&](const nb::object& it) { return is_float ? it : nb::object(nb::int_(it)); };
  const nb::object least = exact(array.attr("min")(**of));
  const nb::object most = exact(array.attr("max")(**of));
  const nb::object limits = number == Kind::boolean ? nb::none() : numpy(is_float ? "finfo" : "iinfo")(dtype);
  const nb::object from = limits.is_none() ? nb::object(nb::int_(0)) : nb::object(limits.attr("min"));
  const nb::object to = limits.is_none() ? nb::object(nb::int_(1)) : nb::object(limits.attr("max"));
  const auto is_less = [](const nb::object& a, const nb::object& b) { return PyObject_RichCompareBool(a.ptr(), b.ptr(), Py_LT) == 1; };
  if (is_less(least, from)) fail(text_of(least) + " does not fit " + kind_name(number));
  if (is_less(to, most)) fail(text_of(most) + " does not fit " + kind_name(number));
}

void Encoder::from_numbers(const Type& type, const nb::object& array) {
  const Kind number = run_of(*type.element, 1).row->number;
  require_fit(number, array);
  const nb::object fitting = numpy("ascontiguousarray")(array, dtype_of_number(number, false));
  if (!from_buffer(type, fitting.ptr())) unexpected("the elements of " + type.name, array.ptr());
}

void Encoder::from_rows(const Type& type, const nb::object& array) {
  const Type& row = *run_of(*type.element, 1).row;
  const auto total = nb::cast<std::uint64_t>(array.attr("size"));
  begin(type, nb::cast<std::vector<std::uint64_t>>(array.attr("shape")));
  if (total == 0 || rows_in_place(row, total, array)) return;
  const Spacing spacing = spacing_of(row, total, out_.offset());
  const nb::object placed = placed_dtype(row, out_.offset() + spacing.lead, false);
  const bool is_even = spacing.is_even && !placed.is_none();
  const nb::object dtype = is_even ? with_itemsize(placed, spacing.stride) : packed_dtype(row, false);
  const nb::object target = numpy("zeros")(total, dtype);
  assign(row, target, array.attr("reshape")(-1));
  Py_buffer buffer;
  if (PyObject_GetBuffer(target.ptr(), &buffer, PyBUF_SIMPLE) < 0) throw nb::python_error();
  if (is_even) {
    out_.zeros(spacing.lead);
    return out_.refer(buffer, spacing.stride * (total - 1) + spacing.size);
  }
  const auto* from = static_cast<const std::uint8_t*>(buffer.buf);
  for (std::uint64_t i = 0; i < total; ++i) spread(row, from);
  PyBuffer_Release(&buffer);
}

bool Encoder::rows_in_place(const Type& row, std::uint64_t count, const nb::object& array) {
  const Spacing spacing = spacing_of(row, count, out_.offset());
  if (!spacing.is_even) return false;
  const nb::object placed = placed_dtype(row, out_.offset() + spacing.lead, false);
  const nb::object dtype = array.attr("dtype");
  if (placed.is_none() || !(dtype.equal(placed) || dtype.equal(with_itemsize(placed, spacing.stride)))) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(array.ptr(), &buffer, PyBUF_STRIDES) < 0) throw nb::python_error();
  bool is_alike = true;
  auto step = static_cast<Py_ssize_t>(spacing.stride);
  for (int i = buffer.ndim; i-- > 0;) {
    is_alike = is_alike && (buffer.shape[i] == 1 || buffer.strides[i] == step);
    step *= buffer.shape[i];
  }
  if (!is_alike) {
    PyBuffer_Release(&buffer);
    return false;
  }
  out_.zeros(spacing.lead);
  out_.refer(buffer, spacing.stride * (count - 1) + spacing.size);
  return true;
}

void Encoder::assign(const Field& field, const nb::object& loaned, nb::handle value) {
  const Into into(*this, {&field.name, 0});
  const Type& row = *run_of(*field.type->element, 1).row;
  if (row.is_scalar()) {
    nb::object numbers = numpy("asarray")(value);
    const bool is_list = PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
    if (is_list && kind_of(numbers) == "f") numbers = numbers_of(row.number, numpy("array")(value, numpy("dtype")("O")));
    require_fit(row.number, numbers);
    loaned[nb::ellipsis()] = numbers;
  } else if (nb::hasattr(value, "dtype") && !value.attr("dtype").attr("names").is_none()) {
    assign(row, loaned, numpy("asarray")(value));
  } else {
    assign(row, loaned, numpy("array")(value, unconverted(loaned.attr("dtype"))));
  }
}

void Encoder::assign(const Type& type, const nb::object& target, const nb::object& source) {
  const nb::object names = source.attr("dtype").attr("names");
  if (names.is_none()) fail("expected an array with the fields of " + type.name);
  for (const nb::handle name : names) {
    const auto index = field_named(type, name.ptr());
    if (!index) fail(no_such_field(type, name.ptr()));
    const Field& field = type.fields[*index];
    const Into into(*this, {&field.name, 0});
    const nb::object shape = source.attr("dtype")[name].attr("shape");
    if (!shape.equal(target.attr("dtype")[name].attr("shape"))) {
      fail("an array of the shape " + repr_of(shape) + " does not fit " + field.type->name);
    }
    const Type* of = field.type.get();
    while (of->kind == Kind::array) of = of->element.get();
    if (of->is_scalar()) {
      const nb::object given = source[name];
      const nb::object numbers = kind_of(given) == "O" ? numbers_of(of->number, given) : given;
      if (!numbers.attr("shape").equal(given.attr("shape"))) fail(std::string("a sequence does not fit ") + kind_name(of->number));
      require_fit(of->number, numbers);
      target[name] = numbers;
    } else {
      assign(*of, target[name], source[name]);
    }
  }
  for (const Field& field : type.fields) {
    if (PySequence_Contains(names.ptr(), field.key.ptr()) == 0) target[field.key] = nb::int_(0);
  }
}

void Encoder::spread(const Type& type, const std::uint8_t*& from) {
  if (type.is_scalar()) {
    out_.align(type.alignment);
    out_.put(from, type.alignment);
    from += type.alignment;
  } else if (type.kind == Kind::array) {
    for (std::uint64_t i = 0; i < type.count; ++i) spread(*type.element, from);
  } else {
    for (const Field& field : type.fields) spread(*field.type, from);
  }
}

}  // namespace sinew::python
