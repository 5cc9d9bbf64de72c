#include "bindings/python/src/told.hpp"

#include <array>

namespace sinew::python {
namespace {

struct Event {
  sinew_event told;
  std::string node;
  std::string text;
};

const char* event_name(std::uint32_t kind) {
  switch (kind) {
    case SINEW_EVENT_MATCHED:
      return "matched";
    case SINEW_EVENT_INCOMPATIBLE_QOS:
      return "incompatible_qos";
    case SINEW_EVENT_DEADLINE_MISSED:
      return "deadline_missed";
    case SINEW_EVENT_LIVELINESS_LOST:
      return "liveliness_lost";
    case SINEW_EVENT_LIVELINESS_CHANGED:
      return "liveliness_changed";
    case SINEW_EVENT_MESSAGE_LOST:
      return "message_lost";
    default:
      return "detached";
  }
}

template <auto Member>
auto told(const Event& event) {
  return event.told.*Member;
}

std::string shown(const Event& event) {
  return std::string("<sinew.Event ") + event_name(event.told.kind) + (event.text.empty() ? "" : ": " + event.text) + ">";
}

}  // namespace

const char* delivery_name(std::int32_t delivery) {
  constexpr std::array<const char*, 4> names{"pointer", "native", "view", "copy"};
  return delivery >= 0 && static_cast<std::size_t>(delivery) < names.size() ? names[static_cast<std::size_t>(delivery)] : "unknown";
}

const char* ghost_name(std::uint8_t ghost) {
  constexpr std::array<const char*, 3> names{nullptr, "carrier", "observer"};
  return ghost < names.size() ? names[ghost] : "unknown";
}

MessageInfo MessageInfo::of(const sinew_frame* frame) {
  const sinew_message_info info = sinew_frame_info(frame);
  return {info.publisher, info.sequence, info.source_time_ns, info.receive_time_ns, info.missed, info.delivery};
}

void define_told(nb::module_& module) {
  nb::class_<MessageInfo>(module, "MessageInfo", nb::is_final())
      .def_ro("publisher", &MessageInfo::publisher)
      .def_ro("sequence", &MessageInfo::sequence)
      .def_ro("source_time_ns", &MessageInfo::source_time_ns)
      .def_ro("receive_time_ns", &MessageInfo::receive_time_ns)
      .def_ro("missed", &MessageInfo::missed)
      .def_prop_ro("delivery", [](const MessageInfo& self) { return delivery_name(self.delivery); })
      .def("__repr__", [](const MessageInfo& self) {
        return "<sinew.MessageInfo " + std::to_string(self.sequence) + " from '" + self.publisher + "', as " +
               delivery_name(self.delivery) + ">";
      });
  nb::class_<Event>(module, "Event", nb::is_final())
      .def_prop_ro("kind", [](const Event& self) { return event_name(self.told.kind); })
      .def_prop_ro("total_count", &told<&sinew_event::total_count>)
      .def_prop_ro("total_count_change", &told<&sinew_event::total_count_change>)
      .def_prop_ro("current_count", &told<&sinew_event::current_count>)
      .def_prop_ro("current_count_change", &told<&sinew_event::current_count_change>)
      .def_prop_ro("not_alive_count", &told<&sinew_event::not_alive_count>)
      .def_prop_ro("not_alive_count_change", &told<&sinew_event::not_alive_count_change>)
      .def_prop_ro("pushed_out", &told<&sinew_event::pushed_out>)
      .def_prop_ro("withdrawn", &told<&sinew_event::withdrawn>)
      .def_prop_ro("expired", &told<&sinew_event::expired>)
      .def_ro("node", &Event::node)
      .def_ro("text", &Event::text)
      .def("__repr__", &shown);
}

void call_on_event(void* context, const sinew_event* event) {
  const Callbacks& callbacks = callbacks_in(context);
  in_python({callbacks.on_event, callbacks.owner}, [&] {
    const nb::object function = callbacks.on_event;  // it may close its endpoint
    function(nb::cast(Event{*event, event->node, event->text}));
  });
}

CallbacksPtr callbacks_for(const std::string& owner, nb::handle function, nb::handle on_event) {
  if (function.is_none() && on_event.is_none()) return nullptr;
  return std::make_shared<Callbacks>(Callbacks{owner, nb::borrow(function), nb::borrow(on_event)});
}

}  // namespace sinew::python
