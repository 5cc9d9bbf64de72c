#include "bindings/python/src/runtime.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <thread>
#include <utility>

#include "bindings/python/src/package.hpp"

namespace sinew::python {
namespace {

using Clock = std::chrono::steady_clock;

std::atomic<bool> ended{false};
// Threads that have released the GIL and want it again.
std::atomic<int> away{0};
// Calls whose ends are yet to be told.
std::atomic<int> awaited{0};
// Which ends the interpreter. Set before `ended`.
std::thread::id last_thread;
// A set of those that are blocked. Never let go of: threads of the library may outlive the module. With the GIL.
PyObject* users_signals = nullptr;

struct Dispatch {
  std::optional<nb::python_error> raised;
};
thread_local Dispatch* current_dispatch = nullptr;

/// Of a thread that Python did not start.
struct Known {
  PyThreadState* state = nullptr;

  Known() = default;
  ~Known() {
    if (!state || !may_enter()) return;
    PyEval_RestoreThread(state);
    PyThreadState_Clear(state);
    PyThreadState_DeleteCurrent();
  }
  Known(const Known&) = delete;
  Known& operator=(const Known&) = delete;
};
thread_local Known known;

constexpr std::int64_t longest_slice = 100'000'000;
constexpr double ns_in_second = 1e9;

}  // namespace

bool is_ended() {
  return ended.load();
}

bool may_enter() {
  return !ended.load() || (std::this_thread::get_id() == last_thread && Py_IsInitialized() != 0);
}

void end_runtime() {
  const auto wait = [](const std::atomic<int>& others) {
    constexpr int times = 1000;
    PyThreadState* const state = PyEval_SaveThread();
    for (int i = 0; i < times && others.load() > 0; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    PyEval_RestoreThread(state);
  };
  wait(awaited);
  last_thread = std::this_thread::get_id();
  ended.store(true);
  wait(away);
}

Awaited::Awaited() {
  awaited.fetch_add(1);
}

Awaited::~Awaited() {
  awaited.fetch_sub(1);
}

Released::Released() : state_(PyEval_SaveThread()) {
  away.fetch_add(1);
}

Released::~Released() {
  if (ended.load() && std::this_thread::get_id() != last_thread) {
    away.fetch_sub(1);
    while (true) std::this_thread::sleep_for(std::chrono::hours(1));
  }
  PyEval_RestoreThread(state_);
  away.fetch_sub(1);
}

void note_signals() {
  const nb::module_ signals = nb::module_::import_("signal");
  nb::object blocked = signals.attr("pthread_sigmask")(signals.attr("SIG_BLOCK"), nb::tuple());
  Py_XDECREF(std::exchange(users_signals, blocked.release().ptr()));
}

void stay_known() {
  if (known.state || PyGILState_GetThisThreadState()) return;
  PyGILState_Ensure();
  // The library blocks all signals on its threads; what a callback starts would hear of no SIGTERM. Python itself handles them on its main thread, whoever hears of them.
  quietly("sinew", [] {
    const nb::module_ signals = nb::module_::import_("signal");
    signals.attr("pthread_sigmask")(signals.attr("SIG_SETMASK"), nb::handle(users_signals));
  });
  known.state = PyEval_SaveThread();
}

void report(nb::python_error& error, const Called& culprit) noexcept {
  if (current_dispatch && !error.matches(PyExc_Exception)) {
    if (!current_dispatch->raised) current_dispatch->raised.emplace(error);
    return;
  }
  nb::object told = nb::borrow(culprit.function);
  quietly("sinew", [&] { told = make_culprit(culprit.function, culprit.owner); });
  error.restore();
  PyErr_WriteUnraisable(told.ptr());
}

void dispatch(sinew_status (*call)(sinew_node*), sinew_node* node) {
  Dispatch now;
  Dispatch* const outer = std::exchange(current_dispatch, &now);
  Outcome outcome;
  {
    const Released released;
    outcome = Outcome::of(call(node));
  }
  current_dispatch = outer;
  if (now.raised) throw std::move(*now.raised);
  outcome.check();
}

std::int64_t ns_of(const Seconds& seconds) {
  if (!seconds) return -1;
  if (std::isnan(*seconds)) raise_python(PyExc_ValueError, "a time that is no number");
  const double ns = std::max(0.0, *seconds) * ns_in_second;
  return ns < static_cast<double>(std::numeric_limits<std::int64_t>::max()) ? static_cast<std::int64_t>(ns) : -1;
}

Deadline::Deadline(const Seconds& timeout)
    : is_never_(ns_of(timeout) < 0), end_(is_never_ ? Clock::time_point::max() : [&] {
        const auto now = Clock::now();
        const std::chrono::nanoseconds wanted(ns_of(timeout));
        return wanted > Clock::time_point::max() - now ? Clock::time_point::max() : now + wanted;
      }()) {}

std::int64_t Deadline::slice_ns() const {
  if (is_never_) return longest_slice;
  const std::int64_t left = std::chrono::duration_cast<std::chrono::nanoseconds>(end_ - Clock::now()).count();
  return std::clamp<std::int64_t>(left, 0, longest_slice);
}

bool Deadline::is_over() const {
  return !is_never_ && Clock::now() >= end_;
}

void check_signals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace sinew::python
