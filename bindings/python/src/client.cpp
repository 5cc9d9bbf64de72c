#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include <nanobind/stl/optional.h>

#include "bindings/python/src/encode.hpp"
#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/message.hpp"
#include "bindings/python/src/options.hpp"
#include "bindings/python/src/package.hpp"
#include "bindings/python/src/service.hpp"
#include "bindings/python/src/type_object.hpp"

namespace sinew::python {
namespace {

struct Client : Endpoint<sinew_client> {
  std::string service;
  TypePtr request;
  TypePtr response;
};

/// The type of `body` in what a service's topic carries: "sinew/ServiceRequest<T>{id:uint64;body:T;}".
TypePtr body_of(const Node& node, const std::string& topic, const Deadline& deadline) {
  const TypePtr carried = parse_type(signature_of_topic(node, topic, deadline));
  for (const Field& field : carried->fields) {
    if (field.name == "body") return field.type;
  }
  raise(SINEW_TYPE_MISMATCH, "'" + topic + "' is no topic of a service: it carries " + carried->name);
}

nb::object create(nb::handle node, nb::handle named, nb::handle request, nb::handle response, const Seconds& timeout,
                  const std::optional<std::string>& ghost, std::uint64_t memory_budget) {
  const std::string service = name_from(named);
  const Node& of = nb::cast<const Node&>(node);
  const auto in = of.open();
  const Deadline deadline(timeout);
  Client made;
  made.node = nb::borrow(node);
  made.service = service;
  made.request = request.is_none() ? body_of(of, service + "@request", deadline) : type_from(request);
  made.response = response.is_none() ? body_of(of, service + "@response", deadline) : type_from(response);
  sinew_client_options options{};
  options.struct_size = sizeof options;
  options.ghost = ghost_from(ghost);
  options.memory_budget = memory_budget;
  sinew_client* client = nullptr;
  call_released([&] {
    return sinew_client_create(in.get(), service.c_str(), made.request->signature.c_str(), made.response->signature.c_str(), &options,
                               &client);
  });
  made.handle = handle_of(client, sinew_client_destroy);
  return nb::cast(std::move(made));
}

/// A call that somebody waits for.
class Waiting {
 public:
  ~Waiting() { sinew_frame_release(response_); }

  static void on_response(void* context, sinew_status status, sinew_frame* response, const char* error) {
    Waiting& it = *static_cast<Waiting*>(context);
    const std::lock_guard lock(it.mutex_);
    it.outcome_ = {status, error ? error : ""};
    it.response_ = response;
    it.is_done_ = true;
    it.changed_.notify_all();
  }

  bool wait(std::int64_t at_most_ns) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(at_most_ns), [&] { return is_done_; });
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_done_; });
  }

  const Outcome& outcome() const { return outcome_; }
  sinew_frame* take() { return std::exchange(response_, nullptr); }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_done_ = false;
  Outcome outcome_;
  sinew_frame* response_ = nullptr;
};

/// The client whose thread this is, while it tells a future and runs the callbacks of that: its next answer is told after these.
thread_local const sinew_client* told_of = nullptr;
struct Telling {
  explicit Telling(const sinew_client* client) { told_of = client; }
  ~Telling() { told_of = nullptr; }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;
};

nb::object call(const Client& self, nb::handle request, const Seconds& timeout) {
  const auto to = self.open();
  if (to.get() == told_of) {
    raise_python(PyExc_RuntimeError, "call() in a callback of a call of the same client would wait for itself: use call_async()");
  }
  Writer writer;
  encode_request(*self.request, request, writer);
  const auto extents = writer.extents();
  const std::int64_t timeout_ns = ns_of(timeout);
  Waiting waiting;
  std::uint64_t number = 0;
  call_released([&] {
    return sinew_client_call_async(to.get(), extents.data(), extents.size(), timeout_ns, Waiting::on_response, &waiting, &number);
  });
  const Deadline never{Seconds()};
  bool is_done = false;
  while (!is_done) {
    without_gil([&] { is_done = waiting.wait(never.slice_ns()); });
    if (is_done) break;
    try {
      check_signals();
      if (is_closed(self)) {
        raise(SINEW_CANCELLED, "the client, or its node, was closed while it waited for the response");
      }
    } catch (...) {
      without_gil([&] {
        sinew_client_cancel(to.get(), number);
        waiting.wait();
      });
      throw;
    }
  }
  waiting.outcome().check();
  return received(self.response, std::make_shared<const Stream>(waiting.take()));
}

/// A call whose end a future is told.
struct Promised {
  Awaited awaited;  // first: until the others have gone
  nb::object future;
  TypePtr response;
  std::shared_ptr<Writer> request;
  std::shared_ptr<PendingCalls> calls;  // of the node
  std::shared_ptr<PendingCall> call;

  ~Promised() { calls->erase(call); }
};

void on_response(void* context, sinew_status status, sinew_frame* response, const char* error) {
  static const std::string client = "a client";
  auto* const promised = static_cast<Promised*>(context);
  StreamPtr stream = response ? std::make_shared<const Stream>(response) : nullptr;
  in_python({Py_None, client}, [&] {
    const std::unique_ptr<Promised> it(promised);
    if (!nb::cast<bool>(it->future.attr("set_running_or_notify_cancel")())) return;
    const Telling telling_it(it->call->client.lock().get());
    // Whatever goes wrong with it ends the call: who waits for the future knows of nothing else.
    const bool is_told = guarded(false, [&] {
      if (status == SINEW_CANCELLED && it->call->is_over) {
        raise(SINEW_CLOSED, "the client's node was closed while the call waited for its response");
      }
      if (status != SINEW_OK) raise(status, error ? error : "");
      it->future.attr("set_result")(received(it->response, std::move(stream)));
      return true;
    });
    if (!is_told) it->future.attr("set_exception")(caught());
  });
}

/// concurrent.futures.Future calls it when it is done, or cancelled.
struct Cancelling {
  std::weak_ptr<sinew_client> client;
  std::uint64_t call;

  void operator()(nb::handle future) const {
    const auto alive = client.lock();
    if (alive && nb::cast<bool>(future.attr("cancelled")())) without_gil([&] { sinew_client_cancel(alive.get(), call); });
  }
};

nb::object call_async(nb::handle client, nb::handle request, const Seconds& timeout) {
  const Client& self = nb::cast<const Client&>(client);
  const auto to = self.open();
  const nb::object future = make_answer(client);
  auto writer = std::make_shared<Writer>();
  encode_request(*self.request, request, *writer);
  writer->own();  // it may be sent later, and once more
  const auto extents = writer->extents();
  const std::int64_t timeout_ns = ns_of(timeout);
  const Node& node = nb::cast<const Node&>(self.node);
  const auto made = std::make_shared<PendingCall>(PendingCall{.client = to});
  std::unique_ptr<Promised> promised(new Promised{{}, future, self.response, writer, node.calls, made});
  node.calls->insert(made);
  std::uint64_t number = 0;
  call_released([&] {
    Promised* const given = promised.get();
    const sinew_status status = sinew_client_call_async(to.get(), extents.data(), extents.size(), timeout_ns, on_response, given, &number);
    if (status == SINEW_OK) promised.release();
    return status;
  });
  made->number = number;
  if (!node.handle) made->end();
  future.attr("add_done_callback")(nb::cast(Cancelling{to, number}));
  return future;
}

nb::dict statistics(const Client& self) {
  const auto of = self.open();
  sinew_client_statistics told{};
  Outcome::of(sinew_client_get_statistics(of.get(), &told)).check();
  nb::dict counts;
  counts["calls"] = told.calls;
  counts["answered"] = told.answered;
  counts["failed"] = told.failed;
  counts["resent"] = told.resent;
  counts["strays"] = told.strays;
  counts["rejected"] = told.rejected;
  counts["pending"] = told.pending;
  counts["bytes_copied"] = told.bytes_copied;
  counts["providers"] = told.providers;
  counts["detached"] = told.detached;
  return counts;
}

}  // namespace

void encode_request(const Type& type, nb::handle request, Writer& into) {
  const nb::object given = request.is_none() ? nb::object(nb::dict()) : nb::borrow(request);
  encode(type, given, into);
}

void define_client(nb::module_& module, NodeClass& node) {
  nb::class_<Client> type(module, "Client", nb::type_slots(EndpointSlots<Client>::slots), nb::is_weak_referenceable());
  define_closing<Client>(type);
  type.def_ro("service", &Client::service)
      .def_prop_ro("request", [](const Client& self) { return type_object(self.request); })
      .def_prop_ro("response", [](const Client& self) { return type_object(self.response); })
      .def("call", &call, nb::arg("request").none() = nb::none(), nb::arg("timeout").none() = nb::none())
      .def("call_async", &call_async, nb::arg("request").none() = nb::none(), nb::arg("timeout").none() = nb::none())
      .def("statistics", &statistics);
  nb::class_<Cancelling>(module, "_Cancelling", nb::is_final()).def("__call__", &Cancelling::operator());
  node.def("create_client", &create, nb::arg("service"), nb::arg("request").none() = nb::none(), nb::arg("response").none() = nb::none(),
           nb::kw_only(), nb::arg("timeout").none() = nb::none(), nb::arg("ghost").none() = nb::none(), nb::arg("memory_budget") = 0);
}

}  // namespace sinew::python
