// How statuses of the C interface become exceptions of Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <sinew.h>

#include <string>

namespace sinew::python {

namespace nb = nanobind;

/// Adds the classes to the module.
void define_errors(nb::module_& module);

/// All of these need the GIL.
[[noreturn]] void raise(sinew_status status, const std::string& text);
/// A stream is not of its type.
[[noreturn]] void raise_decode(const std::string& text);
/// A value does not fit its type.
[[noreturn]] void raise_encode(const std::string& text);
[[noreturn]] void raise_python(PyObject* type, const std::string& text);
/// The exception that is being raised, which it no longer is.
nb::object caught();

/// str() and repr(), for sentences.
std::string text_of(nb::handle value);
std::string repr_of(nb::handle value);

/// What a call of the C interface said, with its text, to be taken along while the GIL is not held.
struct Outcome {
  sinew_status status = SINEW_OK;
  std::string text;

  static Outcome of(sinew_status status) { return {status, status == SINEW_OK ? std::string() : std::string(sinew_last_error())}; }
  void check() const {
    if (status != SINEW_OK) raise(status, text);
  }
};

/// For destructors and what the garbage collector calls: whatever is being raised goes on, and what the body raises is told and forgotten.
template <typename Body>
void quietly(const char* where, Body&& body) noexcept {
  const nb::error_scope raised;
  try {
    body();
  } catch (nb::python_error& error) {
    error.discard_as_unraisable(where);
  }
}

/// Runs the body of a slot of a type; what it throws becomes Python's error, and `failed` is returned.
template <typename Result, typename Body>
Result guarded(Result failed, Body&& body) noexcept {
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

}  // namespace sinew::python
