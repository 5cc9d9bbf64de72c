#include <new>
#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/options.hpp"
#include "bindings/python/src/service.hpp"
#include "bindings/python/src/told.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

struct Provider : Endpoint<sinew_provider> {
  std::string service;
  TypePtr request;
  TypePtr response;
};

/// The context of the library's callbacks.
struct Providing : Callbacks {
  TypePtr request;
  TypePtr response;
  bool is_deferred;
};

/// A request that is to be answered. Under the GIL.
struct Call {
  sinew_call* call = nullptr;  // null: answered
  nb::object request;
  MessageInfo info;
  TypePtr response;

  Call(sinew_call* given, nb::object request_, MessageInfo info_, TypePtr response_)
      : call(given), request(std::move(request_)), info(std::move(info_)), response(std::move(response_)) {}
  Call(Call&& other) noexcept
      : call(std::exchange(other.call, nullptr)),
        request(std::move(other.request)),
        info(std::move(other.info)),
        response(std::move(other.response)) {}
  ~Call() {
    sinew_call* const unanswered = std::exchange(call, nullptr);
    if (unanswered) without_gil([&] { sinew_call_release(unanswered); });
  }

  sinew_call* ended() {
    if (!call) raise_python(PyExc_RuntimeError, "the call has been answered");
    return std::exchange(call, nullptr);
  }

  void answer(nb::handle value) {
    if (lacks(value)) raise_encode("the response is None, and " + wanted());
    Writer writer;
    encode_request(*response, value, writer);
    const auto extents = writer.extents();
    sinew_call* const it = ended();
    call_released([&] { return sinew_call_answer(it, extents.data(), extents.size()); });
  }

  /// None says something only where there is nothing to say.
  bool lacks(nb::handle value) const { return value.is_none() && !response->is_empty(); }
  std::string wanted() const { return "has to be a " + response->name + ", or a dict with its fields: {} has their defaults"; }

  void fail(const std::string& text) {
    sinew_call* const it = ended();
    call_released([&] { return sinew_call_fail(it, text.c_str()); });
  }
};

/// A copy: the request goes with the call, and arrays of it may stay.
StreamPtr copied(const sinew_frame* frame) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < sinew_frame_extent_count(frame); ++i) {
    const sinew_extent extent = sinew_frame_extent(frame, i);
    bytes.insert(bytes.end(), extent.data, extent.data + extent.size);
  }
  return std::make_shared<const Stream>(std::move(bytes));
}

std::string told(const nb::python_error& error) {
  return text_of(error.type().attr("__name__")) + ": " + text_of(error.value());
}

void answer_by(const nb::object& handler, Call& call) {
  try {
    const nb::object response = handler(call.request);
    if (call.lacks(response)) return call.fail("the handler returned None, and what it returns " + call.wanted());
    call.answer(response);
  } catch (nb::python_error& error) {
    // What ends programs (KeyboardInterrupt) is not for the client alone.
    const bool is_ours = error.matches(PyExc_Exception);
    if (call.call) call.fail(told(error));
    if (!is_ours) throw;
  }
}

void on_request(void* context, sinew_call* given) {
  const Providing& by = callbacks_in<Providing>(context);
  const sinew_frame* const frame = sinew_call_request(given);
  std::optional<MessageInfo> info;
  StreamPtr stream;
  try {
    info = MessageInfo::of(frame);
    stream = copied(frame);
  } catch (const std::bad_alloc&) {
    sinew_call_fail(given, "the provider has no memory to copy the request");
    return;
  }
  bool is_taken = false;
  in_python({by.function, by.owner}, [&] {
    const nb::object handler = by.function;  // it may close its provider
    const bool is_deferred = by.is_deferred;
    Call call(given, nb::none(), *std::move(info), by.response);
    is_taken = true;
    call.request = received(by.request, std::move(stream));
    is_deferred ? static_cast<void>(handler(nb::cast(std::move(call)))) : answer_by(handler, call);
  });
  if (!is_taken) sinew_call_release(given);
}

nb::object create(nb::handle node, nb::handle named, nb::handle request, nb::handle response, nb::handle handler, bool deferred,
                  bool at_most_once, std::uint64_t memory_budget, const std::optional<std::string>& ghost, std::uint32_t execution_thread) {
  const std::string service = name_from(named);
  Node& of = nb::cast<Node&>(node);
  const auto in = of.open();
  Provider made;
  made.node = nb::borrow(node);
  made.service = service;
  made.request = type_from(request);
  made.response = type_from(response);
  sinew_provider_options options{};
  options.struct_size = sizeof options;
  options.execution_thread = execution_thread;
  options.memory_budget = memory_budget;
  options.at_most_once = at_most_once;
  options.ghost = ghost_from(ghost);
  options.on_request = on_request;
  const auto callbacks = std::make_shared<Providing>(
      Providing{{"the provider of '" + service + "'", nb::borrow(handler), nb::none()}, made.request, made.response, deferred});
  options.context = context_of(callbacks);
  options.release = release_callbacks;
  sinew_provider* provider = nullptr;
  call_released([&] {
    return sinew_provider_create(in.get(), service.c_str(), made.request->signature.c_str(), made.response->signature.c_str(), &options,
                                 &provider);
  });
  made.handle = handle_of(provider, sinew_provider_destroy);
  made.callbacks = callbacks;
  const nb::object result = nb::cast(std::move(made));
  of.kept.push_back(result);
  return result;
}

nb::dict statistics(const Provider& self) {
  const auto of = self.open();
  sinew_provider_statistics told{};
  Outcome::of(sinew_provider_get_statistics(of.get(), &told)).check();
  nb::dict counts;
  counts["answered"] = told.answered;
  counts["threw"] = told.threw;
  counts["cancelled"] = told.cancelled;
  counts["undelivered"] = told.undelivered;
  counts["excess"] = told.excess;
  counts["rejected"] = told.rejected;
  counts["running"] = told.running;
  counts["bytes_copied"] = told.bytes_copied;
  counts["clients"] = told.clients;
  counts["detached"] = told.detached;
  return counts;
}

}  // namespace

void define_provider(nb::module_& module, NodeClass& node) {
  nb::class_<Provider> type(module, "Provider", nb::type_slots(EndpointSlots<Provider>::slots), nb::is_weak_referenceable());
  define_closing<Provider>(type);
  type.def_ro("service", &Provider::service)
      .def_prop_ro("request", [](const Provider& self) { return type_object(self.request); })
      .def_prop_ro("response", [](const Provider& self) { return type_object(self.response); })
      .def("statistics", &statistics);
  nb::class_<Call>(module, "Call", nb::is_final())
      .def_ro("request", &Call::request)
      .def_ro("info", &Call::info)
      .def_prop_ro("cancelled", [](const Call& self) { return !self.call || sinew_call_is_cancelled(self.call); })
      .def("answer", &Call::answer, nb::arg("response").none())
      .def("fail", &Call::fail, nb::arg("text"));
  node.def("provide", &create, nb::arg("service"), nb::arg("request"), nb::arg("response"), nb::arg("handler"), nb::kw_only(),
           nb::arg("deferred") = false, nb::arg("at_most_once") = false, nb::arg("memory_budget") = 0, nb::arg("ghost").none() = nb::none(),
           nb::arg("execution_thread") = 0);
}

}  // namespace sinew::python
