#include "bindings/python/src/loan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/memory.hpp"
#include "bindings/python/src/method.hpp"
#include "bindings/python/src/publisher.hpp"
#include "bindings/python/src/rows.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

constexpr std::uint64_t alignment = 16;

/// What arrays of a loan are views on when it has ended. Invariant: no array refers to memory that may be unmapped, or belong to another message: whoever has one keeps this, and this keeps the memory from the end of the loan on.
struct LoanMemory {
  sinew_loan_memory* kept = nullptr;  // null: the loan has not ended, or nobody had an array then
  sinew_loan* unpublished = nullptr;  // where it could not be kept otherwise

  LoanMemory() = default;
  ~LoanMemory() {
    if (kept || unpublished) without_gil([&] { sinew_loan_memory_release(kept), sinew_loan_release(unpublished); });
  }
  LoanMemory(const LoanMemory&) = delete;
  LoanMemory& operator=(const LoanMemory&) = delete;
};

struct Loan {
  std::shared_ptr<sinew_publisher> publisher;
  std::shared_ptr<const Budget> budget;
  TypePtr type;
  sinew_loan* loan = nullptr;  // null: published, or given back
  std::shared_ptr<LoanMemory> memory = std::make_shared<LoanMemory>();
  nb::object draft;
  std::vector<nb::object> memories;  // of the arrays
  std::vector<nb::object> arrays;
  std::vector<nb::object> values;  // of the draft, but for the arrays, while they are being published

  Loan() = default;
  Loan(Loan&& other) noexcept
      : publisher(std::move(other.publisher)),
        budget(std::move(other.budget)),
        type(std::move(other.type)),
        loan(std::exchange(other.loan, nullptr)),
        memory(std::move(other.memory)),
        draft(std::move(other.draft)),
        memories(std::move(other.memories)),
        arrays(std::move(other.arrays)) {}
  ~Loan() {
    quietly("sinew.Loan", [&] { end(); });
  }

  /// Before the memory is no longer the program's: from now on nobody gets an array, or publishes one, and who has one can only read it.
  void close() {
    if (draft.is_valid()) {
      Draft& filled = *draft_in(draft.ptr());
      filled.is_over = true;
      values.assign(filled.values.size(), nb::object());
      values.swap(filled.values);
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (filled.loaned[i].data) values[i].reset();
      }
      std::ranges::fill(filled.loaned, Draft::Loaned());
    }
    bool any_left = false;
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      make_readonly(arrays[i]);
      nb::inst_ptr<Memory>(memories[i])->writable = false;
      any_left |= Py_REFCNT(arrays[i].ptr()) > 1 || Py_REFCNT(memories[i].ptr()) > 2;  // ours, and the array's of its memory
    }
    // Only then: it takes time, and of the publisher's memory.
    if (any_left && loan) {
      const Outcome outcome = Outcome::of(sinew_loan_keep(loan, &memory->kept));
      if (!memory->kept) memory->unpublished = std::exchange(loan, nullptr);
      outcome.check();
    }
    arrays.clear();
    memories.clear();
  }

  /// The memory is no longer the program's.
  void end() {
    try {
      close();
    } catch (...) {
      give_back();
      throw;
    }
    give_back();
  }

 private:
  void give_back() {
    arrays.clear();
    memories.clear();
    values.clear();
    sinew_loan* const unused = std::exchange(loan, nullptr);
    if (unused) without_gil([&] { sinew_loan_release(unused); });
  }
};

/// An array of a loan, before there is memory for it.
struct Wanted {
  std::size_t field;
  nb::object dtype;
  std::vector<std::uint64_t> shape;
  std::uint64_t offset;  // in the loan's body
  std::uint64_t size;
};

std::vector<std::uint64_t> shape_from(nb::handle given, const Field& field) {
  const auto misfit = [&] { raise_encode(field.name + ": there is no array of the shape " + repr_of(given)); };
  std::vector<std::uint64_t> shape;
  const auto append = [&](nb::handle length) {
    if (!nb::try_cast(length, shape.emplace_back())) misfit();
  };
  if (PyIndex_Check(given.ptr())) {
    append(given);
    for (const Type* it = field.type->element.get(); it->kind == Kind::array; it = it->element.get()) shape.push_back(it->count);
  } else {
    for (const nb::handle length : nb::tuple(nb::borrow(given))) append(length);
  }
  std::uint64_t total = 1;
  for (const std::uint64_t length : shape) {
    if (__builtin_mul_overflow(total, length, &total) || total > std::numeric_limits<std::uint32_t>::max()) misfit();
  }
  const std::string wrong = misgrouped(*field.type, shape);
  if (!wrong.empty()) raise_encode(field.name + ": " + wrong);
  return shape;
}

Wanted wanted_array(const Type& type, nb::handle name, nb::handle shape, std::uint64_t offset) {
  const auto index = field_named(type, name.ptr());
  if (!index) raise_encode(no_such_field(type, name.ptr()));
  const Field& field = type.fields[*index];
  if (field.type->kind != Kind::vector || !field.type->element->rows) {
    raise_encode(field.name + ": only vectors of numbers, and of structures whose leaves are numbers, can be loaned, and it is " +
                 field.type->name);
  }
  Wanted wanted{*index, {}, shape_from(shape, field), aligned(offset, alignment), 1};
  for (const std::uint64_t length : wanted.shape) wanted.size *= length;
  const Type& row = *run_of(*field.type->element, 1).row;
  if (row.is_scalar()) {
    wanted.dtype = dtype_of_number(row.number, false);
    wanted.size *= row.alignment;
  } else {
    const Spacing spacing = spacing_of(row, 2, 0);
    const nb::object placed = placed_dtype(row, spacing.lead, false);
    wanted.dtype = spacing.is_even && !placed.is_none() ? with_itemsize(placed, spacing.stride) : packed_dtype(row, false);
    wanted.size *= nb::cast<std::uint64_t>(wanted.dtype.attr("itemsize"));
  }
  return wanted;
}

void publish(Loan& self) {
  try {
    Writer writer;
    encode(*self.type, self.draft, writer);
    const auto extents = writer.extents();
    self.close();
    sinew_loan* const used = std::exchange(self.loan, nullptr);
    self.budget->call(writer.offset(),
                      [&] { return sinew_publisher_publish_pieces(self.publisher.get(), used, extents.data(), extents.size()); });
  } catch (...) {
    self.end();
    throw;
  }
  self.end();
}

PyObject* enter(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Loan& loan = *nb::inst_ptr<Loan>(self);
    if (!loan.loan) raise_python(PyExc_RuntimeError, "the loan has been published, or given back");
    return nb::object(loan.draft).release().ptr();
  });
}

PyObject* leave(PyObject* self, PyObject* const* exception, Py_ssize_t count) {
  return guarded<PyObject*>(nullptr, [&] {
    Loan& loan = *nb::inst_ptr<Loan>(self);
    if (loan.loan && count > 0 && exception[0] != Py_None) {
      loan.end();
    } else if (loan.loan) {
      publish(loan);
    }
    return nb::none().release().ptr();
  });
}

// Not by way of nanobind, which looks at what is given, so that a message leaves a little sooner.
PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, nullptr}, {"__exit__", method_of(leave), METH_FASTCALL, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};

}  // namespace

nb::object make_loan(nb::handle publisher, const nb::kwargs& arrays) {
  const Publisher& of = nb::cast<const Publisher&>(publisher);
  Loan made;
  made.publisher = of.open();
  made.budget = of.budget;
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
  made.budget->call(size, [&] { return sinew_publisher_loan(made.publisher.get(), size + encapsulation, &made.loan, &data); });
  Draft& draft = *draft_in(made.draft.ptr());
  for (const Wanted& it : wanted) {
    std::uint8_t* const at = data + encapsulation + it.offset;
    const nb::object memory = nb::cast(Memory{made.memory, at, it.size, true});
    draft.values[it.field] = array_on(memory, it.dtype, it.shape);
    draft.loaned[it.field] = {at, it.size};
    made.memories.push_back(memory);
    made.arrays.push_back(draft.values[it.field]);
  }
  return nb::cast(std::move(made));
}

void define_loan(nb::module_& module) {
  nb::class_<Loan>(module, "Loan", nb::type_slots(slots), nb::is_final());
}

}  // namespace sinew::python
