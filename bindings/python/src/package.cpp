#include "bindings/python/src/package.hpp"

#include <nanobind/stl/string.h>

namespace sinew::python {

nb::object type_of(nb::handle declared) {
  return nb::module_::import_("sinew.declared").attr("type_of")(declared);
}

nb::object type_of_class(nb::handle cls) {
  return nb::module_::import_("sinew.declared").attr("type_of_class")(cls);
}

nb::object qos_asked(nb::handle given) {
  return nb::module_::import_("sinew.qos").attr("asked")(given);
}

std::string why_no_message(nb::handle node, const std::string& topic, std::uint64_t connected) {
  return nb::cast<std::string>(nb::module_::import_("sinew._absence").attr("no_message")(node, topic, connected));
}

nb::object make_culprit(nb::handle function, const std::string& owner) {
  return nb::module_::import_("sinew._arguments").attr("Culprit")(function, owner);
}

nb::object messages_of(nb::handle subscriber) {
  return nb::module_::import_("sinew._aio").attr("Messages")(subscriber);
}

nb::object make_answer(nb::handle client) {
  return nb::module_::import_("sinew._aio").attr("Answer")(client);
}

}  // namespace sinew::python
