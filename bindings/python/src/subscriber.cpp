#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/method.hpp"
#include "bindings/python/src/options.hpp"
#include "bindings/python/src/package.hpp"
#include "bindings/python/src/told.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

struct Subscriber : Endpoint<sinew_subscriber> {
  std::string topic;
  TypePtr type;
  Seconds timeout;
};

/// The context of the library's callbacks.
struct Receiving : Callbacks {
  TypePtr type;
  bool with_info;
};

void on_frame(void* context, sinew_frame* frame) {
  const Receiving& to = callbacks_in<Receiving>(context);
  const std::optional<MessageInfo> info = to.with_info ? std::optional(MessageInfo::of(frame)) : std::nullopt;
  StreamPtr stream = std::make_shared<const Stream>(frame);
  in_python({to.function, to.owner}, [&] {
    const nb::object function = to.function;  // it may close its subscriber
    const nb::object message = received(to.type, std::move(stream));
    info ? function(message, nb::cast(*info)) : function(message);
  });
}

/// Whether it takes a second argument without needing to be told.
bool takes_info(nb::handle function) {
  try {
    const nb::object signature = nb::module_::import_("inspect").attr("signature")(function);
    signature.attr("bind")(nb::none(), nb::none());
    return true;
  } catch (nb::python_error& error) {
    if (error.matches(PyExc_TypeError) || error.matches(PyExc_ValueError)) return false;
    throw;
  }
}

constexpr std::uint32_t all_events = SINEW_EVENT_MATCHED | SINEW_EVENT_INCOMPATIBLE_QOS | SINEW_EVENT_DEADLINE_MISSED |
                                     SINEW_EVENT_LIVELINESS_CHANGED | SINEW_EVENT_MESSAGE_LOST | SINEW_EVENT_DETACHED;

nb::object create(nb::handle node, nb::handle named, nb::handle type, nb::handle callback, const Seconds& timeout, nb::handle qos,
                  std::uint32_t every, double max_rate, const std::optional<std::string>& ghost, nb::handle on_event,
                  std::uint32_t execution_thread) {
  const std::string topic = name_from(named);
  Node& of = nb::cast<Node&>(node);
  const auto in = of.open();
  Subscriber made;
  made.node = nb::borrow(node);
  made.topic = topic;
  made.timeout = timeout;
  made.type = type.is_none() ? parse_type(signature_of_topic(of, topic, Deadline(timeout))) : type_from(type);
  const sinew_qos asked = qos_from(qos);
  sinew_subscriber_options options{};
  options.struct_size = sizeof options;
  options.execution_thread = execution_thread;
  options.every = every;
  options.max_rate = max_rate;
  options.ghost = ghost_from(ghost);
  options.events = on_event.is_none() ? 0 : all_events;
  std::shared_ptr<Receiving> callbacks;
  if (!callback.is_none() || !on_event.is_none()) {
    callbacks = std::make_shared<Receiving>(Receiving{{"the subscriber of '" + topic + "'", nb::borrow(callback), nb::borrow(on_event)},
                                                      made.type,
                                                      !callback.is_none() && takes_info(callback)});
    options.on_frame = callback.is_none() ? nullptr : on_frame;
    options.on_event = on_event.is_none() ? nullptr : call_on_event;
    options.context = context_of(callbacks);
    options.release = release_callbacks;
  }
  sinew_subscriber* subscriber = nullptr;
  call_released(
      [&] { return sinew_subscriber_create(in.get(), topic.c_str(), made.type->signature.c_str(), &asked, &options, &subscriber); });
  made.handle = handle_of(subscriber, sinew_subscriber_destroy);
  made.callbacks = callbacks;
  const nb::object result = nb::cast(std::move(made));
  if (callbacks) of.kept.push_back(result);
  return result;
}

/// Of who has waited long for a message; who looks again and again is not to ask the manager each time.
std::string why_nothing(const Subscriber& self, const Seconds& waited) {
  constexpr double long_time = 0.5;
  const std::shared_ptr<sinew_subscriber> of = self.handle;
  sinew_subscriber_statistics told{};
  if (!of || !waited || *waited < long_time || sinew_subscriber_get_statistics(of.get(), &told) != SINEW_OK) return "";
  return why_no_message(self.node, self.topic, told.publishers);
}

[[noreturn]] void raise_in_vain(const Subscriber& self, const Seconds& waited) {
  raise(SINEW_NOTHING, "no message came on '" + self.topic + "' in time" + why_nothing(self, waited));
}

/// The next message, once there is one. None when it, or its node, is closed.
nb::object next(const Subscriber& self, const Seconds& timeout) {
  const Deadline deadline(timeout);
  while (!is_closed(self)) {
    const std::shared_ptr<sinew_subscriber> from = self.handle;
    sinew_frame* frame = nullptr;
    Outcome outcome;
    {
      const Released released;
      outcome = Outcome::of(sinew_subscriber_take(from.get(), deadline.slice_ns(), &frame));
    }
    if (outcome.status == SINEW_OK) {
      const nb::object info = nb::cast(MessageInfo::of(frame));
      return nb::make_tuple(received(self.type, std::make_shared<const Stream>(frame)), info);
    }
    if (outcome.status == SINEW_CLOSED) break;
    if (outcome.status != SINEW_NOTHING) outcome.check();
    check_signals();
    if (deadline.is_over()) raise_in_vain(self, timeout);
  }
  return nb::none();
}

/// Whether take() may have a message now, or has to say that none comes any more.
bool wait(const Subscriber& self, double timeout) {
  const Deadline deadline{Seconds(timeout)};
  while (!is_closed(self)) {
    const std::shared_ptr<sinew_subscriber> of = self.handle;
    Outcome outcome;
    {
      const Released released;
      outcome = Outcome::of(sinew_subscriber_wait(of.get(), deadline.slice_ns()));
    }
    if (outcome.status != SINEW_NOTHING) {
      outcome.check();
      return true;
    }
    check_signals();
    if (deadline.is_over()) return false;
  }
  return true;
}

nb::object take(const Subscriber& self, const Seconds& timeout) {
  nb::object taken = next(self, timeout);
  if (taken.is_none()) {
    raise(SINEW_CLOSED, "the subscriber of '" + self.topic +
                            "', or its node, is closed, or of the process that this one was forked from: no message comes any more");
  }
  return taken;
}

PyObject* call_take(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    PyObject* const given = Given{args, count, names}.only("take", "timeout");
    Seconds timeout;
    if (given && given != Py_None) {
      timeout = PyFloat_AsDouble(given);
      if (*timeout == -1.0 && PyErr_Occurred()) throw nb::python_error();
    }
    return take(nb::cast<const Subscriber&>(nb::handle(self)), timeout).release().ptr();
  });
}

PyMethodDef methods[] = {{"take", method_of(call_take), METH_FASTCALL | METH_KEYWORDS, nullptr}, {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_methods, methods},
                       {Py_tp_traverse, reinterpret_cast<void*>(EndpointSlots<Subscriber>::traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(EndpointSlots<Subscriber>::clear)},
                       {0, nullptr}};

nb::object iterate(const Subscriber& self) {
  nb::object taken = next(self, self.timeout);
  if (taken.is_none()) throw nb::stop_iteration();
  return taken;
}

nb::dict statistics(const Subscriber& self) {
  const auto of = self.open();
  sinew_subscriber_statistics told{};
  Outcome::of(sinew_subscriber_get_statistics(of.get(), &told)).check();
  nb::dict counts;
  counts["received"] = told.received;
  counts["missed"] = told.missed;
  counts["withdrawn"] = told.withdrawn;
  counts["skipped"] = told.skipped;
  counts["expired"] = told.expired;
  counts["bytes_copied"] = told.bytes_copied;
  counts["over_quota"] = told.over_quota;
  counts["rejected"] = told.rejected;
  counts["publishers"] = told.publishers;
  counts["held"] = told.held;
  counts["waiting"] = told.waiting;
  counts["incompatible"] = told.incompatible;
  counts["deadlines_missed"] = told.deadlines_missed;
  counts["publishers_alive"] = told.publishers_alive;
  counts["publishers_not_alive"] = told.publishers_not_alive;
  counts["detached"] = told.detached;
  return counts;
}

}  // namespace

void define_subscriber(nb::module_& module, NodeClass& node) {
  nb::class_<Subscriber> type(module, "Subscriber", nb::type_slots(slots), nb::is_weak_referenceable());
  define_closing<Subscriber>(type);
  type.def_ro("topic", &Subscriber::topic)
      .def_prop_ro("type", [](const Subscriber& self) { return type_object(self.type); })
      .def("_wait", &wait, nb::arg("timeout"))
      .def("_raise_in_vain", [](const Subscriber& self) { raise_in_vain(self, self.timeout); })
      .def_ro("timeout", &Subscriber::timeout)
      .def("__aiter__", &messages_of)
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &iterate)
      .def("statistics", &statistics);
  node.def("subscribe", &create, nb::arg("topic"), nb::arg("type").none() = nb::none(), nb::arg("callback").none() = nb::none(),
           nb::kw_only(), nb::arg("timeout").none() = nb::none(), nb::arg("qos").none() = nb::none(), nb::arg("every") = 0,
           nb::arg("max_rate") = 0.0, nb::arg("ghost").none() = nb::none(), nb::arg("on_event").none() = nb::none(),
           nb::arg("execution_thread") = 0);
}

}  // namespace sinew::python
