// Nodes, and what is common to all that is created of them.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "bindings/python/src/runtime.hpp"
#include "bindings/python/src/type.hpp"

namespace sinew::python {

/// A call whose end a future is told. Under the GIL.
struct PendingCall {
  std::weak_ptr<sinew_client> client;
  std::uint64_t number = 0;  ///< 0: it is being made
  bool is_over = false;      ///< its node was closed

  void end();
};
using PendingCalls = std::set<std::shared_ptr<PendingCall>>;

/// What Python calls Node. Under the GIL.
struct Node {
  std::shared_ptr<sinew_node> handle;  ///< none: closed
  std::vector<nb::object> kept;        ///< what it calls back, until that is closed
  std::shared_ptr<PendingCalls> calls = std::make_shared<PendingCalls>();
  bool by_caller = false;
  bool is_stopped = false;  ///< until no spin() runs any more that is to notice
  unsigned spinning = 0;    ///< threads

  Node(const std::string& name, const std::optional<std::string>& domain, bool by_caller);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  void close();
  /// Its handle. Callbacks may be waiting for something of it, for as long as others wait for these: from now on they do not.
  std::shared_ptr<sinew_node> let_go();
  /// Raises Closed.
  std::shared_ptr<sinew_node> open() const;
  void forget(nb::handle child);
};

void define_node(nb::module_& module);
/// Closes all there are. When the interpreter is about to end.
void close_nodes();

/// The functions that the library calls back for one endpoint. They are the library's, which may let go of them when the endpoint is closed, or its node.
struct Callbacks {
  std::string owner;  ///< "the subscriber of 'chat'"
  nb::object function;
  nb::object on_event;
};
/// As the `context` of the C interface, with release_callbacks().
using CallbacksPtr = std::shared_ptr<Callbacks>;
inline void* context_of(CallbacksPtr callbacks) {
  return new CallbacksPtr(std::move(callbacks));
}
inline void release_callbacks(void* context) {
  release_context<CallbacksPtr>(context);
}
template <typename It = Callbacks>
const It& callbacks_in(void* context) {
  return static_cast<const It&>(**static_cast<const CallbacksPtr*>(context));
}

/// What Publisher, Subscriber and so on are.
template <typename Object>
struct Endpoint {
  nb::object node;
  std::shared_ptr<Object> handle;      ///< none: closed
  std::weak_ptr<Callbacks> callbacks;  ///< for the garbage collector

  Endpoint() = default;
  Endpoint(Endpoint&&) noexcept = default;
  Endpoint& operator=(Endpoint&&) noexcept = default;

  /// Those that others use right now, on other threads, go away when they no longer do.
  void close() {
    callbacks.reset();
    const std::shared_ptr<Object> gone = std::exchange(handle, nullptr);
  }
  /// Raises Closed.
  std::shared_ptr<Object> open() const {
    if (!handle) raise(SINEW_CLOSED, "it has been closed");
    return handle;
  }
};

template <typename Object>
bool is_closed(const Endpoint<Object>& it) {
  return !it.handle || !nb::cast<const Node&>(it.node).handle;
}

/// For `close` of those that a node may keep.
template <typename It>
void close_kept(nb::handle self) {
  const nb::object alive = nb::borrow(self);
  It& it = *nb::inst_ptr<It>(self);
  if (it.node.is_valid()) nb::cast<Node&>(it.node).forget(self);  // else the garbage collector has been here before the node's end
  it.close();
}

/// Slots of the types of endpoints: their cycles are through what they call back, and through the node.
template <typename It>
struct EndpointSlots {
  static int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    if (!nb::inst_ready(self)) return 0;
    const It& it = *nb::inst_ptr<It>(self);
    Py_VISIT(it.node.ptr());
    if (const CallbacksPtr callbacks = it.callbacks.lock()) {
      Py_VISIT(callbacks->function.ptr());
      Py_VISIT(callbacks->on_event.ptr());
    }
    return 0;
  }
  static int clear(PyObject* self) {
    It& it = *nb::inst_ptr<It>(self);
    it.close();
    it.node.reset();
    return 0;
  }
  static inline PyType_Slot slots[] = {
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};
};

/// `close`, `closed` and `with`.
template <typename It, typename Class>
void define_closing(Class& type) {
  type.def("close", [](nb::handle self) { close_kept<It>(self); })
      .def_prop_ro("closed", [](const It& self) { return is_closed(self); })
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](nb::handle self, const nb::args&) { close_kept<It>(self); });
}

/// The signature of a topic, from the domain's state; waits until there is one. Raises Timeout.
std::string signature_of_topic(const Node& node, const std::string& topic, const Deadline& deadline);

}  // namespace sinew::python
