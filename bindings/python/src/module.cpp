// sinew._native: see _native.pyi.
#include "bindings/python/src/draft.hpp"
#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/errors.hpp"
#include "bindings/python/src/memory.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/method.hpp"
#include "bindings/python/src/runtime.hpp"
#include "bindings/python/src/sequence.hpp"
#include "bindings/python/src/stream.hpp"
#include "bindings/python/src/told.hpp"
#include "bindings/python/src/type_object.hpp"
#include "bindings/python/src/values.hpp"

namespace sinew::python {
namespace {

nb::object as_dict(nb::handle value) {
  if (nb::isinstance<Message>(value)) {
    const Message& message = nb::cast<const Message&>(value);
    Place at{message.stream, message.offset};
    const nb::object plain = plain_value(message.type, at, Copied::dicts);
    if (message.is_whole) require_end(at);
    return plain;
  }
  if (nb::isinstance<Sequence>(value)) {
    const Sequence& sequence = nb::cast<const Sequence&>(value);
    Place at{sequence.stream, sequence.offset};
    nb::list list;
    for (std::uint64_t i = 0; i < sequence.count; ++i) list.append(plain_value(sequence.type->element, at, Copied::dicts));
    return list;
  }
  if (!nb::isinstance<Draft>(value)) raise_python(PyExc_TypeError, "asdict() takes a Message, a Sequence or a Draft");
  const Draft& draft = nb::cast<const Draft&>(value);
  require_fields(draft);
  nb::dict members;
  for (std::size_t i = 0; i < draft.values.size(); ++i) {
    const nb::object& given = draft.values[i];
    if (!given.is_valid()) continue;
    const bool is_deep = nb::isinstance<Message>(given) || nb::isinstance<Sequence>(given) || nb::isinstance<Draft>(given);
    members[draft.type->fields[i].key] = is_deep ? as_dict(given) : nb::module_::import_("copy").attr("deepcopy")(given);
  }
  return members;
}

void end() {
  close_nodes();
  end_runtime();
}

}  // namespace
}  // namespace sinew::python

NB_MODULE(_native, module) {
  using namespace sinew::python;
  define_errors(module);
  define_memory(module);
  define_type(module);
  define_message(module);
  define_sequence(module);
  define_draft(module);
  define_told(module);
  define_node(module);
  module.def("asdict", &as_dict, nb::arg("value"));
  module.def("_describe", &describe, nb::arg("method"), nb::arg("text"));
  // As Python's own ResourceWarning: programs that end while a thread of theirs holds something are right, and have better things to say.
  nb::set_leak_warnings(nb::cast<bool>(nb::module_::import_("sys").attr("flags").attr("dev_mode")));
  // A fork takes part in nothing, and gives nothing back.
  nb::module_::import_("os").attr("register_at_fork")(nb::arg("after_in_child") = nb::cpp_function([] {
                                                        nb::set_leak_warnings(false);
                                                        Stream::forget_frames();
                                                      }));
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(&end));
}
