#include "bindings/python/src/decode.hpp"

#include <memory>
#include <utility>
#include <vector>

#include "bindings/python/src/memory.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/sequence.hpp"

namespace sinew::python {
namespace {

void require_bools(const std::uint8_t* data, std::uint64_t size) {
  std::uint8_t all = 0;
  for (std::uint64_t i = 0; i < size; ++i) all = static_cast<std::uint8_t>(all | data[i]);
  if (all > 1) raise_decode("a bool that is neither 0 nor 1");
}

/// Copies a value of a plain type without its padding, and moves both on.
void pack(const Type& type, const Stream& stream, std::uint64_t& offset, std::uint8_t*& to) {
  const Type* numbers = type.kind == Kind::array ? type.element.get() : &type;
  if (numbers->is_scalar()) {
    const std::uint64_t count = type.kind == Kind::array ? type.count : 1;
    const std::uint64_t size = count * numbers->alignment;
    if (count > 0) offset = aligned(offset, numbers->alignment);
    stream.read(offset, to, size);
    if (numbers->kind == Kind::boolean) require_bools(to, size);
    offset += size;
    to += size;
  } else if (type.kind == Kind::array) {
    for (std::uint64_t i = 0; i < type.count; ++i) pack(*type.element, stream, offset, to);
  } else {
    for (const Field& field : type.fields) pack(*field.type, stream, offset, to);
  }
}

nb::object packed_copy(const Run& run, const Stream& stream, std::uint64_t offset) {
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(run.count * run.row->least);
  std::uint8_t* to = bytes->data();
  if (run.count == 0) {
    // nothing follows, also no padding
  } else if (run.row->is_scalar()) {
    stream.read(aligned(offset, run.row->alignment), to, bytes->size());
    if (run.row->kind == Kind::boolean) require_bools(to, bytes->size());
  } else {
    for (std::uint64_t i = 0; i < run.count; ++i) pack(*run.row, stream, offset, to);
  }
  const std::uint8_t* const data = bytes->data();
  const std::size_t size = bytes->size();
  return array_on(memory_of(std::move(bytes), data, size), packed_dtype(*run.row, stream.is_swapped()), run.shape);
}

nb::object view(const Run& run, const StreamPtr& stream, std::uint64_t offset) {
  if (run.row->has_bool) return {};  // C4.4: who writes to the stream could make it anything, which NumPy does not bear
  const Spacing spacing = spacing_of(*run.row, run.count, offset);
  if (!spacing.is_even) return {};
  const std::uint64_t size = spacing.stride * (run.count - 1) + spacing.size;
  const std::uint8_t* const data = stream->whole(offset + spacing.lead, size);
  if (!data) return {};
  const nb::object dtype = placed_dtype(*run.row, offset + spacing.lead, stream->is_swapped());
  if (dtype.is_none()) return {};
  return array_on(memory_of(stream, data, size), dtype, run.shape, strides_of(run, spacing.size, spacing.stride));
}

nb::object read_map(const Type& type, const StreamPtr& stream, std::uint64_t offset) {
  const std::uint64_t count = read_count(type, *stream, offset);
  const Field& key = type.element->fields[0];
  const Field& value = type.element->fields[1];
  nb::dict map;
  for (std::uint64_t i = 0; i < count; ++i) {
    const nb::object name = read_scalar(*key.type, *stream, offset);
    map[name] = value_at(value.type, stream, offset);
    offset = skip(*value.type, *stream, offset);
    if (nb::len(map) != i + 1) raise_decode("a map with a key that comes twice");
  }
  return map;
}

nb::object read_vector(const TypePtr& type, const StreamPtr& stream, std::uint64_t offset) {
  if (type->is_map) return read_map(*type, stream, offset);
  if (is_array(*type)) return read_array(*type, stream, offset);
  const std::uint64_t count = read_count(*type, *stream, offset);
  return make_sequence(type, stream, offset, count);
}

}  // namespace

bool is_monostate(const Type& type) {
  return type.kind == Kind::structure && type.fields.empty() && type.name == "std/monostate";
}

bool is_array(const Type& type) {
  if (type.kind == Kind::array) return type.rows || (type.count == 0 && type.element->is_scalar());
  return type.kind == Kind::vector && type.element->rows;
}

nb::object read_array(const Type& type, const StreamPtr& stream, std::uint64_t& offset) {
  const std::uint64_t count = read_count(type, *stream, offset);
  const Run run = run_of(*type.element, count);
  const std::uint64_t end = end_of_run(*type.element, count, offset);
  if (end > offset) stream->require(offset, end - offset);
  const std::uint64_t from = std::exchange(offset, end);
  nb::object array;
  if (run.count > 0) array = view(run, stream, from);
  return array.is_valid() ? array : packed_copy(run, *stream, from);
}

nb::object read_string(const Stream& stream, std::uint64_t& offset) {
  const Text text(stream, offset);
  PyObject* const string = PyUnicode_DecodeUTF8(text.bytes().data(), static_cast<Py_ssize_t>(text.bytes().size()), "surrogateescape");
  if (!string) throw nb::python_error();
  return nb::steal(string);
}

nb::object read_scalar(const Type& type, const Stream& stream, std::uint64_t& offset) {
  if (type.kind == Kind::string) return read_string(stream, offset);
  switch (type.number) {
    case Kind::boolean: {
      const auto value = stream.number<std::uint8_t>(offset);
      if (value > 1) raise_decode("a bool that is neither 0 nor 1");
      return nb::borrow(value != 0 ? Py_True : Py_False);
    }
    case Kind::int8:
      return nb::steal(PyLong_FromLong(stream.number<std::int8_t>(offset)));
    case Kind::int16:
      return nb::steal(PyLong_FromLong(stream.number<std::int16_t>(offset)));
    case Kind::int32:
      return nb::steal(PyLong_FromLong(stream.number<std::int32_t>(offset)));
    case Kind::int64:
      return nb::steal(PyLong_FromLongLong(stream.number<std::int64_t>(offset)));
    case Kind::uint8:
      return nb::steal(PyLong_FromLong(stream.number<std::uint8_t>(offset)));
    case Kind::uint16:
      return nb::steal(PyLong_FromLong(stream.number<std::uint16_t>(offset)));
    case Kind::uint32:
      return nb::steal(PyLong_FromUnsignedLong(stream.number<std::uint32_t>(offset)));
    case Kind::uint64:
      return nb::steal(PyLong_FromUnsignedLongLong(stream.number<std::uint64_t>(offset)));
    case Kind::float32:
      return nb::steal(PyFloat_FromDouble(static_cast<double>(stream.number<float>(offset))));
    default:
      return nb::steal(PyFloat_FromDouble(stream.number<double>(offset)));
  }
}

nb::object value_at(const TypePtr& type, const StreamPtr& stream, std::uint64_t offset) {
  switch (type->kind) {
    case Kind::vector:
    case Kind::array:
      return read_vector(type, stream, offset);
    case Kind::optional:
      return read_presence(*stream, offset) ? value_at(type->element, stream, offset) : nb::none();
    case Kind::variant: {
      const TypePtr& alternative = type->fields[read_alternative(*type, *stream, offset)].type;
      return is_monostate(*alternative) ? nb::none() : value_at(alternative, stream, offset);
    }
    case Kind::structure:
      return make_message(type, stream, offset);
    default:
      return read_scalar(*type, *stream, offset);
  }
}

}  // namespace sinew::python
