#include "bindings/python/src/node.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/endpoints.hpp"

namespace sinew::python {
namespace {

// All that there are. Under the GIL.
std::vector<Node*>& nodes() {
  static auto* const all = new std::vector<Node*>();
  return *all;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  for (const nb::object& child : nb::inst_ptr<Node>(self)->kept) Py_VISIT(child.ptr());
  return 0;
}

int clear(PyObject* self) {
  if (!nb::inst_ready(self)) return 0;  // its __init__ has failed
  quietly("sinew.Node", [&] { nb::inst_ptr<Node>(self)->close(); });
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {Py_tp_clear, reinterpret_cast<void*>(clear)}, {0, nullptr}};

int descriptor(const Node& self) {
  const auto handle = self.open();
  int fd = -1;
  call_released([&] { return sinew_node_fd(handle.get(), &fd); });
  return fd;
}

/// While it is there, this thread spins the node.
class Spinning {
 public:
  explicit Spinning(Node& node) : node_(node) { ++node_.spinning; }
  ~Spinning() {
    if (--node_.spinning == 0) node_.is_stopped = false;
  }
  Spinning(const Spinning&) = delete;
  Spinning& operator=(const Spinning&) = delete;

 private:
  Node& node_;
};

/// As sinew_node_spin(), and Ctrl-C is noticed.
void spin(Node& self) {
  const nb::object alive = nb::find(self);
  const Spinning spinning(self);
  constexpr std::chrono::milliseconds at_most(100);
  nb::object poll;
  if (self.by_caller) {
    const nb::module_ select = nb::module_::import_("select");
    poll = select.attr("poll")();
    poll.attr("register")(descriptor(self), select.attr("POLLIN"));
  }
  while (self.handle && !self.is_stopped) {
    if (self.by_caller) {
      poll.attr("poll")(at_most.count());
      if (self.handle && !self.is_stopped) dispatch(sinew_node_dispatch, self.open().get());
    } else {
      // Not by what Python has for waiting: that ends a thread in the midst of C++ when the interpreter has ended.
      without_gil([&] { std::this_thread::sleep_for(at_most); });
      check_signals();
    }
  }
}

}  // namespace

Node::Node(const std::string& name, const std::optional<std::string>& domain, bool by_caller_) : by_caller(by_caller_) {
  if (is_ended()) raise(SINEW_CLOSED, "the interpreter is about to end: no node can be made");
  sinew_node_options options{};
  options.struct_size = sizeof options;
  options.by_caller = by_caller;
  options.domain = domain ? domain->c_str() : nullptr;
  note_signals();
  sinew_node* made = nullptr;
  call_released([&] { return sinew_node_create(name.c_str(), &options, &made); });
  handle = handle_of(made, sinew_node_destroy);
  nodes().push_back(this);
}

Node::~Node() {
  std::erase(nodes(), this);
  quietly("sinew.Node", [&] { close(); });
}

void PendingCall::end() {
  is_over = true;
  const auto alive = client.lock();
  if (alive && number != 0) without_gil([&] { sinew_client_cancel(alive.get(), number); });
}

std::shared_ptr<sinew_node> Node::let_go() {
  std::shared_ptr<sinew_node> gone = std::exchange(handle, nullptr);
  for (const auto& call : std::exchange(*calls, {})) call->end();
  return gone;
}

void Node::close() {
  const std::shared_ptr<sinew_node> gone = let_go();
  // What they call back may hold this node: that goes now, and not when the interpreter looks for circles.
  // Not by `close`, which is a function of Python that may be gone when the interpreter ends.
  for (const nb::object& child : std::exchange(kept, {})) child.attr("__exit__")();
}

std::shared_ptr<sinew_node> Node::open() const {
  if (!handle) raise(SINEW_CLOSED, "the node has been closed");
  return handle;
}

void Node::forget(nb::handle child) {
  const auto found = std::ranges::find_if(kept, [&](const nb::object& it) { return it.is(child); });
  if (found == kept.end()) return;
  const nb::object gone = std::move(*found);
  kept.erase(found);
}

void close_nodes() {
  std::vector<nb::object> all;
  for (Node* const node : nodes()) all.push_back(nb::find(*node));
  // First of all of them: callbacks of one may wait for what another one has.
  std::vector<std::shared_ptr<sinew_node>> gone;
  for (const nb::object& node : all) gone.push_back(nb::inst_ptr<Node>(node)->let_go());
  for (const nb::object& node : all) nb::inst_ptr<Node>(node)->close();
}

void define_node(nb::module_& module) {
  NodeClass type(module, "Node", nb::type_slots(slots), nb::is_weak_referenceable());
  type.def(nb::init<const std::string&, const std::optional<std::string>&, bool>(), nb::arg("name"), nb::kw_only(),
           nb::arg("domain").none() = nb::none(), nb::arg("by_caller") = false)
      .def_prop_ro("name", [](const Node& self) { return std::string(sinew_node_name(self.open().get())); })
      .def_prop_ro("closed", [](const Node& self) { return !self.handle; })
      .def("close", &Node::close)
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__exit__", [](Node& self, const nb::args&) { self.close(); })
      .def("fileno", &descriptor)
      .def("dispatch", [](const Node& self) { dispatch(sinew_node_dispatch, self.open().get()); })
      .def("spin", &spin)
      .def("stop", [](Node& self) { self.is_stopped = true; })
      .def(
          "disconnect",
          [](const Node& self, const std::string& name) {
            const auto handle = self.open();
            call_released([&] { return sinew_node_disconnect(handle.get(), name.c_str()); });
          },
          nb::arg("name"));
  define_publisher(module, type);
  define_subscriber(module, type);
  define_client(module, type);
  define_provider(module, type);
  define_domain(module, type);
  define_timer(module, type);
  define_counters(module, type);
}

}  // namespace sinew::python
