// Where the library and the interpreter meet: the GIL, waiting, callbacks.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bindings/python/src/errors.hpp"

namespace sinew::python {

namespace nb = nanobind;

/// Set when the interpreter is about to end, and all nodes are closed: from then on, the library's threads leave it alone, and those of programs do not come back to it.
bool is_ended();
/// Whether this thread may have the GIL: also the one that ends the interpreter may, until it has.
bool may_enter();
/// Nodes are closed: gives what the library still has to call back for that, and threads that are on their way back from it, a second each.
void end_runtime();

/// While it is there, the library is about to call back, and objects of Python wait for that.
class Awaited {
 public:
  Awaited();
  ~Awaited();
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;
};

/// While it is there, this thread does not have the GIL, which it had.
class Released {
 public:
  Released();
  /// Does not return when the interpreter has ended: Python would end the thread right here, which C++ does not bear.
  ~Released();
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* const state_;
};

/// Runs it without the GIL, whether this thread has it or not.
template <typename Body>
void without_gil(Body&& body) {
  std::optional<Released> released;
  if (PyGILState_Check() == 1) released.emplace();
  body();
}

/// Calls without the GIL, and raises what comes of it.
template <typename Call>
void call_released(Call&& call) {
  Outcome outcome;
  {
    const Released released;
    outcome = Outcome::of(call());
  }
  outcome.check();
}

/// An object of the C interface, that goes away when nobody uses it any more; without the GIL, as that may wait for callbacks.
template <typename Object>
std::shared_ptr<Object> handle_of(Object* object, void (*destroy)(Object*)) {
  return {object, [destroy](Object* it) { without_gil([&] { destroy(it); }); }};
}

/// What was called, and by whom, as people say it: "the subscriber of 'chat'".
struct Called {
  nb::handle function;
  const std::string& owner;
};

/// What a callback raised: to whoever dispatches on this thread if it ends programs (KeyboardInterrupt), else to sys.unraisablehook. With the GIL.
void report(nb::python_error& error, const Called& culprit) noexcept;

/// Runs callbacks on this thread, without the GIL, and raises what ends programs.
void dispatch(sinew_status (*call)(sinew_node*), sinew_node* node);

/// Threads of the library that run callbacks from now on hear the signals that this one does, as threads of Python do that it starts. With the GIL.
void note_signals();

/// Lets this thread, one of the library's, be known to the interpreter until it ends: else the interpreter makes a state and a stack for it at each callback, and throws them away.
void stay_known();

/// The body of a callback, which runs with the GIL. Nothing happens when the interpreter has ended.
template <typename Body>
void in_python(const Called& culprit, Body&& body) noexcept {
  if (!may_enter()) return;
  stay_known();
  const nb::gil_scoped_acquire acquired;
  try {
    body();
  } catch (nb::python_error& error) {
    report(error, culprit);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    nb::python_error wrapped;
    report(wrapped, culprit);
  }
}

/// For `release` of the C interface: deletes what has objects of Python. When the interpreter has ended, they are left alone.
template <typename Context>
void release_context(void* context) {
  if (!may_enter()) return;
  const nb::gil_scoped_acquire acquired;
  delete static_cast<Context*>(context);
}

using Seconds = std::optional<double>;

/// Less than 0 is for ever.
std::int64_t ns_of(const Seconds& seconds);

/// How long something may still take.
class Deadline {
 public:
  explicit Deadline(const Seconds& timeout);
  /// What to wait for now, at most: short enough for Ctrl-C to be noticed.
  std::int64_t slice_ns() const;
  bool is_over() const;

 private:
  const bool is_never_;
  const std::chrono::steady_clock::time_point end_;
};

/// Raises KeyboardInterrupt after Ctrl-C, and whatever else handlers of signals raise.
void check_signals();

}  // namespace sinew::python
