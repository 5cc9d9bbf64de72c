#include <array>
#include <iomanip>
#include <optional>
#include <sstream>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/loan.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/method.hpp"
#include "bindings/python/src/options.hpp"
#include "bindings/python/src/publisher.hpp"
#include "bindings/python/src/told.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

constexpr std::uint32_t all_events =
    SINEW_EVENT_MATCHED | SINEW_EVENT_INCOMPATIBLE_QOS | SINEW_EVENT_DEADLINE_MISSED | SINEW_EVENT_LIVELINESS_LOST | SINEW_EVENT_DETACHED;

/// "8.4 MB"
std::string shown(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> units{"bytes", "kB", "MB", "GB"};
  constexpr double thousand = 1000;
  auto number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= thousand && unit + 1 < units.size()) {
    number /= thousand;
    ++unit;
  }
  std::ostringstream text;
  text << std::setprecision(number < thousand / 10 ? 2 : 3) << number << ' ' << units[unit];
  return text.str();
}

nb::object create(nb::handle node, nb::handle named, nb::handle type, nb::handle qos, std::uint64_t memory_budget, std::uint64_t prefault,
                  const Seconds& max_blocking, const std::string& when_full, std::uint32_t withdraw_at_most, bool lock_memory,
                  const std::optional<std::string>& ghost, nb::handle on_event, std::uint32_t execution_thread) {
  const std::string topic = name_from(named);
  const auto in = nb::cast<const Node&>(node).open();
  Publisher made;
  made.node = nb::borrow(node);
  made.topic = topic;
  made.type = type_from(type);
  constexpr std::uint64_t otherwise = std::uint64_t{1} << 30;  // what the library has for 0
  made.budget = std::make_shared<const Budget>(Budget{topic, memory_budget == 0 ? otherwise : memory_budget});
  const sinew_qos asked = qos_from(qos);
  sinew_publisher_options options{};
  options.struct_size = sizeof options;
  options.execution_thread = execution_thread;
  options.memory_budget = memory_budget;
  options.prefault = prefault;
  options.max_blocking_ns = max_blocking_from(max_blocking);
  options.when_full = when_full_from(when_full);
  options.withdraw_at_most = withdraw_at_most;
  options.lock_memory = lock_memory;
  options.ghost = ghost_from(ghost);
  options.events = on_event.is_none() ? 0 : all_events;
  const CallbacksPtr callbacks = callbacks_for("the publisher of '" + topic + "'", nb::none(), on_event);
  if (callbacks) {
    options.on_event = call_on_event;
    options.context = context_of(callbacks);
    options.release = release_callbacks;
  }
  sinew_publisher* publisher = nullptr;
  call_released(
      [&] { return sinew_publisher_create(in.get(), topic.c_str(), made.type->signature.c_str(), &asked, &options, &publisher); });
  made.handle = handle_of(publisher, sinew_publisher_destroy);
  made.callbacks = callbacks;
  return nb::cast(std::move(made));
}

void publish(const Publisher& self, nb::handle value) {
  const auto to = self.open();
  if (nb::isinstance<Message>(value)) {
    const Message& message = nb::cast<const Message&>(value);
    if (message.is_whole && message.type->structure == self.type->structure) {
      const StreamPtr stream = message.stream;
      return self.budget->call(stream->size(),
                               [&] { return sinew_publisher_publish(to.get(), stream->extents().data(), stream->extents().size()); });
    }
  }
  Writer writer;
  encode(*self.type, value, writer);
  const auto extents = writer.extents();
  self.budget->call(writer.offset(), [&] { return sinew_publisher_publish(to.get(), extents.data(), extents.size()); });
}

PyObject* call_publish(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    PyObject* const message = Given{args, count, names}.only("publish", "message");
    if (!message) raise_python(PyExc_TypeError, "publish() takes a message, and none is given");
    publish(nb::cast<const Publisher&>(nb::handle(self)), message);
    return nb::none().release().ptr();
  });
}

PyObject* call_loan(PyObject* self, PyObject* args, PyObject* arrays) {
  return guarded<PyObject*>(nullptr, [&] {
    if (PyTuple_GET_SIZE(args) > 0) raise_python(PyExc_TypeError, "loan() takes arrays by their names: loan(data=1000)");
    return make_loan(self, arrays ? nb::borrow<nb::kwargs>(arrays) : nb::steal<nb::kwargs>(PyDict_New())).release().ptr();
  });
}

PyMethodDef methods[] = {{"publish", method_of(call_publish), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"loan", method_of(call_loan), METH_VARARGS | METH_KEYWORDS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_methods, methods},
                       {Py_tp_traverse, reinterpret_cast<void*>(EndpointSlots<Publisher>::traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(EndpointSlots<Publisher>::clear)},
                       {0, nullptr}};

nb::dict statistics(const Publisher& self) {
  const auto of = self.open();
  sinew_publisher_statistics told{};
  Outcome::of(sinew_publisher_get_statistics(of.get(), &told)).check();
  nb::dict counts;
  counts["published"] = told.published;
  counts["bytes"] = told.bytes;
  counts["bytes_copied"] = told.bytes_copied;
  counts["bytes_exported"] = told.bytes_exported;
  counts["refused"] = told.refused;
  counts["withdrawn"] = told.withdrawn;
  counts["subscribers"] = told.subscribers;
  counts["memory_mapped"] = told.memory_mapped;
  counts["memory_in_use"] = told.memory_in_use;
  counts["incompatible"] = told.incompatible;
  counts["deadlines_missed"] = told.deadlines_missed;
  counts["liveliness_lost"] = told.liveliness_lost;
  counts["detached"] = told.detached;
  return counts;
}

}  // namespace

void Budget::raise_too_large(std::uint64_t size) const {
  const bool is_alike = shown(size) == shown(bytes);
  const std::string wanted = is_alike ? std::to_string(size) + " bytes" : shown(size);
  const std::string there = is_alike ? std::to_string(bytes) : shown(bytes);
  raise(SINEW_NO_MEMORY, "not published on '" + topic + "': a message of " + wanted + " is larger than the memory_budget of " + there +
                             ". Create the publisher with a larger one, for several messages: they stay until they are read");
}

void define_publisher(nb::module_& module, NodeClass& node) {
  nb::class_<Publisher> type(module, "Publisher", nb::type_slots(slots), nb::is_weak_referenceable());
  define_closing<Publisher>(type);
  type.def_ro("topic", &Publisher::topic)
      .def_prop_ro("type", [](const Publisher& self) { return type_object(self.type); })
      .def("assert_liveliness", [](const Publisher& self) { sinew_publisher_assert_liveliness(self.open().get()); })
      .def("statistics", &statistics);
  node.def("create_publisher", &create, nb::arg("topic"), nb::arg("type"), nb::kw_only(), nb::arg("qos").none() = nb::none(),
           nb::arg("memory_budget") = 0, nb::arg("prefault") = 0, nb::arg("max_blocking").none() = nb::none(),
           nb::arg("when_full") = "withdraw", nb::arg("withdraw_at_most") = 0, nb::arg("lock_memory") = false,
           nb::arg("ghost").none() = nb::none(), nb::arg("on_event").none() = nb::none(), nb::arg("execution_thread") = 0);
  define_loan(module);
}

}  // namespace sinew::python
