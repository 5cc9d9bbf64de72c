#include "bindings/python/src/package.hpp"

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

nb::object messages_of(nb::handle subscriber) {
  return nb::module_::import_("sinew._aio").attr("Messages")(subscriber);
}

nb::object make_answer(nb::handle client) {
  return nb::module_::import_("sinew._aio").attr("Answer")(client);
}

}  // namespace sinew::python
