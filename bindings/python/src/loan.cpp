#include "bindings/python/src/loan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/memory.hpp"
#include "bindings/python/src/publisher.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

constexpr std::uint64_t alignment = 16;

struct Loan {
  std::shared_ptr<sinew_publisher> publisher;
  TypePtr type;
  sinew_loan* loan = nullptr;  // null: published, or given back
  nb::object draft;
  std::vector<nb::object> memories;  // of the arrays
  std::vector<nb::object> arrays;

  Loan() = default;
  Loan(Loan&& other) noexcept
      : publisher(std::move(other.publisher)),
        type(std::move(other.type)),
        loan(std::exchange(other.loan, nullptr)),
        draft(std::move(other.draft)),
        memories(std::move(other.memories)),
        arrays(std::move(other.arrays)) {}
  ~Loan() {
    quietly("sinew.Loan", [&] { end(); });
  }

  /// The memory is no longer the program's.
  void end() {
    if (draft.is_valid()) {
      Draft& filled = nb::cast<Draft&>(draft);
      filled.is_over = true;
      filled.values.assign(filled.values.size(), nb::object());
    }
    for (const nb::object& array : arrays) array.attr("setflags")(nb::arg("write") = false);
    for (const nb::object& memory : memories) nb::cast<Memory&>(memory).writable = false;
    arrays.clear();
    memories.clear();
    sinew_loan* const unused = std::exchange(loan, nullptr);
    if (unused) without_gil([&] { sinew_loan_release(unused); });
  }
};

/// An array of a loan, before there is memory for it.
struct Wanted {
  std::size_t field;
  nb::object dtype;
  nb::object shape;
  std::uint64_t offset;  // in the loan's body
  std::uint64_t size;
};

nb::object shape_from(nb::handle given, const Type& element) {
  if (!PyIndex_Check(given.ptr())) return nb::tuple(nb::borrow(given));
  nb::list shape;
  shape.append(given);
  for (const Type* it = &element; it->kind == Kind::array; it = it->element.get()) shape.append(it->count);
  return nb::tuple(shape);
}

Wanted wanted_array(const Type& type, nb::handle name, nb::handle shape, std::uint64_t offset) {
  const auto index = field_named(type, name.ptr());
  if (!index) raise_encode(no_such_field(type, name.ptr()));
  const Field& field = type.fields[*index];
  if (field.type->kind != Kind::vector || !field.type->element->rows) {
    raise_encode(field.name + ": only vectors of numbers, and of structures whose leaves are numbers, can be loaned, and it is " +
                 field.type->name);
  }
  Wanted wanted{*index, {}, shape_from(shape, *field.type->element), aligned(offset, alignment), 0};
  std::uint64_t total = 1;
  for (const nb::handle length : wanted.shape) {
    std::uint64_t elements = 0;
    if (!nb::try_cast(length, elements) || __builtin_mul_overflow(total, elements, &total) ||
        total > std::numeric_limits<std::uint32_t>::max()) {
      raise_encode(field.name + ": there is no array of the shape " + repr_of(wanted.shape));
    }
  }
  const Type& row = *run_of(*field.type->element, 1).row;
  wanted.dtype = dtype_of_number(Kind::uint8, false);
  if (row.is_scalar()) {
    wanted.dtype = dtype_of_number(row.number, false);
  } else {
    const Spacing spacing = spacing_of(row, 2, 0);
    const nb::object placed = placed_dtype(row, spacing.lead, false);
    wanted.dtype = spacing.is_even && !placed.is_none() ? with_itemsize(placed, spacing.stride) : packed_dtype(row, false);
  }
  wanted.size = total * nb::cast<std::uint64_t>(wanted.dtype.attr("itemsize"));
  return wanted;
}

nb::object enter(const Loan& self) {
  if (!self.loan) raise_python(PyExc_RuntimeError, "the loan has been published, or given back");
  return self.draft;
}

void leave(Loan& self, nb::handle exception, nb::handle, nb::handle) {
  if (!self.loan) return;
  if (!exception.is_none()) return self.end();
  try {
    Writer writer;
    encode(*self.type, self.draft, writer);
    const auto extents = writer.extents();
    sinew_loan* const used = std::exchange(self.loan, nullptr);
    call_released([&] { return sinew_publisher_publish_pieces(self.publisher.get(), used, extents.data(), extents.size()); });
  } catch (...) {
    self.end();
    throw;
  }
  self.end();
}

}  // namespace

nb::object make_loan(nb::handle publisher, const nb::kwargs& arrays) {
  const Publisher& of = nb::cast<const Publisher&>(publisher);
  Loan made;
  made.publisher = of.open();
  made.type = of.type;
  made.draft = make_draft(of.type);
  std::vector<Wanted> wanted;
  std::uint64_t size = 0;
  for (const auto& [name, shape] : arrays) {
    wanted.push_back(wanted_array(*of.type, name, shape, size));
    size = wanted.back().offset + wanted.back().size;
  }
  constexpr std::size_t encapsulation = 4;
  std::uint8_t* data = nullptr;
  call_released([&] { return sinew_publisher_loan(made.publisher.get(), size + encapsulation, &made.loan, &data); });
  Draft& draft = nb::cast<Draft&>(made.draft);
  for (const Wanted& it : wanted) {
    const nb::object memory = nb::cast(Memory{made.publisher, data + encapsulation + it.offset, it.size, true});
    draft.values[it.field] = array_on(memory, it.dtype, it.shape, nb::none());
    draft.is_loaned[it.field] = true;
    made.memories.push_back(memory);
    made.arrays.push_back(draft.values[it.field]);
  }
  return nb::cast(std::move(made));
}

void define_loan(nb::module_& module) {
  nb::class_<Loan>(module, "Loan", nb::is_final())
      .def("__enter__", &enter)
      .def("__exit__", &leave, nb::arg().none(), nb::arg().none(), nb::arg().none());
}

}  // namespace sinew::python
