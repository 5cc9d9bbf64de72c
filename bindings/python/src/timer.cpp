#include <utility>

#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/told.hpp"

namespace sinew::python {
namespace {

struct Timer : Endpoint<sinew_timer> {};

void on_time(void* context) {
  const Callbacks& callbacks = callbacks_in(context);
  in_python({callbacks.function, callbacks.owner}, [&] {
    const nb::object function = callbacks.function;  // it may close its timer
    function();
  });
}

nb::object create(nb::handle node, double period, nb::handle callback, std::uint32_t execution_thread) {
  Node& of = nb::cast<Node&>(node);
  const auto in = of.open();
  Timer made;
  made.node = nb::borrow(node);
  const std::int64_t period_ns = ns_of(period);
  sinew_timer_options options{};
  options.struct_size = sizeof options;
  options.execution_thread = execution_thread;
  options.on_time = on_time;
  const CallbacksPtr callbacks = callbacks_for("a timer", callback, nb::none());
  if (!callbacks) raise(SINEW_INVALID_ARGUMENT, "a timer needs something to call");
  options.context = context_of(callbacks);
  options.release = release_callbacks;
  sinew_timer* timer = nullptr;
  call_released([&] { return sinew_timer_create(in.get(), period_ns, &options, &timer); });
  made.handle = handle_of(timer, sinew_timer_destroy);
  made.callbacks = callbacks;
  const nb::object result = nb::cast(std::move(made));
  of.kept.push_back(result);
  return result;
}

}  // namespace

void define_timer(nb::module_& module, NodeClass& node) {
  nb::class_<Timer> type(module, "Timer", nb::type_slots(EndpointSlots<Timer>::slots), nb::is_weak_referenceable());
  define_closing<Timer>(type);
  type.def("cancel", [](const Timer& self) { sinew_timer_cancel(self.open().get()); })
      .def("reset", [](const Timer& self) { sinew_timer_reset(self.open().get()); })
      .def_prop_ro("missed", [](const Timer& self) { return sinew_timer_missed(self.open().get()); });
  node.def("create_timer", &create, nb::arg("period"), nb::arg("callback"), nb::kw_only(), nb::arg("execution_thread") = 0);
}

}  // namespace sinew::python
