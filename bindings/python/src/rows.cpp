#include "bindings/python/src/rows.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {
namespace {

nb::object number_dtype(Kind number, bool is_swapped) {
  constexpr std::array<const char*, 11> codes{"?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"};
  const bool is_little = (std::endian::native == std::endian::little) != is_swapped;
  const char* const code = codes[static_cast<std::size_t>(number)];
  return numpy("dtype")(number == Kind::boolean ? std::string(code) : (is_little ? "<" : ">") + std::string(code));
}

nb::tuple tuple_of(const std::vector<std::uint64_t>& numbers) {
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromUnsignedLongLong(numbers[i]));
  }
  return nb::borrow<nb::tuple>(tuple);
}

/// As a member of a row, at an offset from the row's begin.
struct Member {
  nb::object dtype;  // None: NumPy cannot say it
  std::uint64_t end;
};

nb::object with_shape(const nb::object& dtype, const Run& run) {
  return run.shape.empty() ? dtype : numpy("dtype")(nb::make_tuple(dtype, tuple_of(run.shape)));
}

nb::object placed(const Type& type, std::uint64_t offset, bool is_swapped) {
  if (type.kind == Kind::array) {
    const Run run = run_of(type);
    const Spacing spacing = spacing_of(*run.row, run.count, offset);
    // NumPy's arrays within rows have no strides of their own.
    if (run.count > 1 && (!spacing.is_even || spacing.stride != spacing.size)) return nb::none();
    const nb::object row = placed_dtype(*run.row, offset, is_swapped);
    return row.is_none() ? row : with_shape(row, run);
  }
  if (type.kind != Kind::structure) return dtype_of_number(type.number, is_swapped);
  nb::list names;
  nb::list formats;
  nb::list offsets;
  std::uint64_t end = offset;
  for (const Field& field : type.fields) {
    const Extent& extent = field.type->at[end % 8];
    const nb::object dtype = placed_dtype(*field.type, end + extent.lead, is_swapped);
    if (dtype.is_none()) return dtype;
    names.append(field.key);
    formats.append(dtype);
    offsets.append(end + extent.lead - offset);
    end += extent.size;
  }
  nb::dict layout;
  layout["names"] = names;
  layout["formats"] = formats;
  layout["offsets"] = offsets;
  layout["itemsize"] = end - offset;
  return numpy("dtype")(layout);
}

}  // namespace

nb::object numpy(const char* name) {
  static PyObject* const module = PyImport_ImportModule("numpy");
  if (!module) throw nb::python_error();
  return nb::getattr(nb::handle(module), name);
}

nb::object dtype_of_number(Kind number, bool is_swapped) {
  // Never given back: they live as long as the process.
  static std::array<std::array<PyObject*, 11>, 2> known{};
  PyObject*& dtype = known[is_swapped ? 1 : 0][static_cast<std::size_t>(number)];
  if (!dtype) dtype = number_dtype(number, is_swapped).release().ptr();
  return nb::borrow(dtype);
}

nb::object packed_dtype(const Type& type, bool is_swapped) {
  if (type.is_scalar()) return dtype_of_number(type.number, is_swapped);
  nb::object& dtype = type.packed[is_swapped ? 1 : 0];
  if (dtype.is_valid()) return dtype;
  if (type.kind == Kind::array) {
    const Run run = run_of(type);
    dtype = with_shape(packed_dtype(*run.row, is_swapped), run);
    return dtype;
  }
  nb::list members;
  for (const Field& field : type.fields) members.append(nb::make_tuple(field.key, packed_dtype(*field.type, is_swapped)));
  dtype = numpy("dtype")(members);
  return dtype;
}

nb::object placed_dtype(const Type& type, std::uint64_t offset, bool is_swapped) {
  if (type.is_scalar()) return dtype_of_number(type.number, is_swapped);
  nb::object& dtype = type.placed[is_swapped ? 1 : 0][offset % 8];
  if (!dtype.is_valid()) dtype = placed(type, offset % 8, is_swapped);
  return dtype;
}

nb::object with_itemsize(const nb::object& dtype, std::uint64_t size) {
  nb::dict layout;
  nb::list formats;
  nb::list offsets;
  const nb::object names = dtype.attr("names");
  for (const nb::handle name : names) {
    const nb::object member = dtype.attr("fields")[name];
    formats.append(member[0]);
    offsets.append(member[1]);
  }
  layout["names"] = names;
  layout["formats"] = formats;
  layout["offsets"] = offsets;
  layout["itemsize"] = size;
  return numpy("dtype")(layout);
}

Run run_of(const Type& element, std::uint64_t count) {
  Run run{&element, count, {count}};
  for (; run.row->kind == Kind::array; run.row = run.row->element.get()) {
    run.shape.push_back(run.row->count);
    run.count *= run.row->count;
  }
  return run;
}

Run run_of(const Type& array) {
  return run_of(*array.element, array.count);
}

std::string misgrouped(const Type& type, std::span<const std::uint64_t> shape) {
  const std::vector<std::uint64_t> wanted = run_of(*type.element, 1).shape;
  if (shape.size() != wanted.size() || std::equal(wanted.begin() + 1, wanted.end(), shape.begin() + 1)) return "";
  return "an array of the shape " + repr_of(tuple_of({shape.begin(), shape.end()})) + " does not fit " + type.name;
}

Spacing spacing_of(const Type& row, std::uint64_t count, std::uint64_t offset) {
  const Extent& first = row.at[offset % 8];
  const std::uint64_t size = first.size - first.lead;
  const std::uint64_t stride = size + row.at[(offset + first.size) % 8].lead;
  return {first.lead, size, stride, count <= 1 || stride % row.alignment == 0};
}

std::vector<std::uint64_t> strides_of(const Run& run, std::uint64_t size, std::uint64_t stride) {
  if (size == stride) return {};
  std::vector<std::uint64_t> strides(run.shape.size());
  for (std::size_t i = strides.size(); i-- > 0; stride *= run.shape[i]) strides[i] = stride;
  return strides;
}

}  // namespace sinew::python
