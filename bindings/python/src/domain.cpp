#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "bindings/python/src/endpoints.hpp"
#include "bindings/python/src/told.hpp"

namespace sinew::python {
namespace {

using UpdatePtr = std::unique_ptr<sinew_domain_update, void (*)(sinew_domain_update*)>;

/// collections.namedtuple(name, members)
nb::object named_tuple(nb::module_& module, const char* name, const char* members) {
  nb::object type = nb::module_::import_("collections").attr("namedtuple")(name, members, nb::arg("module") = "sinew");
  module.attr(name) = type;
  return type;
}

// Never given back: they live as long as the process.
struct Classes {
  PyObject* node;
  PyObject* topic;
  PyObject* endpoint;
  PyObject* pair;
  PyObject* update;
};
Classes classes{};

template <typename Each>
nb::list list_of(std::size_t count, Each&& each) {
  nb::list list;
  for (std::size_t i = 0; i < count; ++i) list.append(each(i));
  return list;
}

nb::object text(const char* told) {
  return nb::steal(PyUnicode_DecodeUTF8(told, static_cast<Py_ssize_t>(std::char_traits<char>::length(told)), "surrogateescape"));
}

nb::object told(const sinew_domain_update* update) {
  const auto node = [&](std::size_t i) {
    const sinew_domain_node it = sinew_domain_update_node(update, i);
    return nb::handle(classes.node)(it.id, text(it.name), text(it.container), it.pid, it.uid, it.gid);
  };
  const auto topic = [&](std::size_t i) {
    const sinew_domain_topic it = sinew_domain_update_topic(update, i);
    return nb::handle(classes.topic)(it.id, text(it.name), text(it.type), text(it.signature), nb::bytes(it.hash, sizeof it.hash));
  };
  const auto endpoint = [&](std::size_t i) {
    const sinew_domain_endpoint it = sinew_domain_update_endpoint(update, i);
    return nb::handle(classes.endpoint)(it.id, it.node, it.topic, it.memory, it.deadline_ns, it.lifespan_ns, it.lease_ns, it.depth,
                                        it.publishes, ghost_name(it.ghost), it.reliable, it.transient_local, it.manual_by_topic);
  };
  const auto pair = [&](std::size_t i) {
    const sinew_domain_pair it = sinew_domain_update_pair(update, i);
    return nb::handle(classes.pair)(it.publisher, it.subscriber, text(it.why), delivery_name(it.delivery), it.connected);
  };
  return nb::handle(classes.update)(
      sinew_domain_update_is_anew(update), sinew_domain_update_is_complete(update), list_of(sinew_domain_update_node_count(update), node),
      list_of(sinew_domain_update_topic_count(update), topic), list_of(sinew_domain_update_endpoint_count(update), endpoint),
      list_of(sinew_domain_update_pair_count(update), pair),
      list_of(sinew_domain_update_gone_count(update), [&](std::size_t i) { return sinew_domain_update_gone(update, i); }),
      list_of(sinew_domain_update_lost_count(update), [&](std::size_t i) { return sinew_domain_update_lost(update, i); }));
}

UpdatePtr state_of(const Node& node) {
  const auto in = node.open();
  sinew_domain_update* everything = nullptr;
  call_released([&] { return sinew_domain_get(in.get(), &everything); });
  return {everything, sinew_domain_release};
}

struct Watch : Endpoint<sinew_domain_watch> {};

void on_update(void* context, const sinew_domain_update* update) {
  const Callbacks& callbacks = callbacks_in(context);
  in_python({callbacks.function, callbacks.owner}, [&] {
    const nb::object function = callbacks.function;  // it may close its watch
    function(told(update));
  });
}

nb::object watch(nb::handle node, nb::handle callback, std::uint32_t execution_thread) {
  Node& of = nb::cast<Node&>(node);
  const auto in = of.open();
  Watch made;
  made.node = nb::borrow(node);
  const CallbacksPtr callbacks = callbacks_for("a watch", callback, nb::none());
  if (!callbacks) raise(SINEW_INVALID_ARGUMENT, "a watch needs something to call");
  sinew_domain_watch_options options{};
  options.struct_size = sizeof options;
  options.execution_thread = execution_thread;
  options.on_update = on_update;
  options.context = context_of(callbacks);
  options.release = release_callbacks;
  sinew_domain_watch* created = nullptr;
  call_released([&] { return sinew_domain_watch_create(in.get(), &options, &created); });
  made.handle = handle_of(created, sinew_domain_watch_destroy);
  made.callbacks = callbacks;
  const nb::object result = nb::cast(std::move(made));
  of.kept.push_back(result);
  return result;
}

/// Waits for a topic, on a thread of the node's that programs do not use.
class TopicWait {
 public:
  TopicWait(sinew_node* node, const std::string& topic) : topic_(topic) {
    constexpr std::uint32_t thread = 1022;
    sinew_domain_watch_options options{};
    options.struct_size = sizeof options;
    options.execution_thread = thread;
    options.on_update = [](void* context, const sinew_domain_update* update) { static_cast<TopicWait*>(context)->look(update); };
    options.context = this;
    outcome_ = Outcome::of(sinew_domain_watch_create(node, &options, &watch_));
  }
  ~TopicWait() { sinew_domain_watch_destroy(watch_); }
  TopicWait(const TopicWait&) = delete;
  TopicWait& operator=(const TopicWait&) = delete;

  const Outcome& outcome() const { return outcome_; }

  /// Empty: not yet.
  std::string wait(std::int64_t at_most_ns) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(at_most_ns), [&] { return !found_.empty(); });
    return found_;
  }

 private:
  void look(const sinew_domain_update* update) {
    for (std::size_t i = 0; i < sinew_domain_update_topic_count(update); ++i) {
      const sinew_domain_topic it = sinew_domain_update_topic(update, i);
      if (it.name != topic_) continue;
      const std::lock_guard lock(mutex_);
      found_ = it.signature;
      changed_.notify_all();
    }
  }

  const std::string topic_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string found_;
  Outcome outcome_;
  sinew_domain_watch* watch_ = nullptr;
};

constexpr std::string_view request_suffix = "@request";

/// What a service is called whose requests go over this topic; empty where they do not.
std::string_view service_of(std::string_view topic) {
  return topic.ends_with(request_suffix) ? topic.substr(0, topic.size() - request_suffix.size()) : std::string_view();
}

/// Topics that programs subscribe to: not those of services.
std::string_view topic_itself(std::string_view topic) {
  return topic.find('@') == std::string_view::npos ? topic : std::string_view();
}

std::string names_there(const Node& node, std::string_view (*name_of)(std::string_view topic)) {
  const UpdatePtr state = state_of(node);
  std::string names;
  constexpr std::size_t most = 20;
  std::size_t told = 0;
  for (std::size_t i = 0; i < sinew_domain_update_topic_count(state.get()); ++i) {
    const std::string_view name = name_of(sinew_domain_update_topic(state.get(), i).name);
    if (name.empty()) continue;
    if (told++ == most) return "there are " + names + " and others";
    names += (told > 1 ? ", '" : "'") + std::string(name) + "'";
  }
  return names.empty() ? "there is none" : "there are " + names;
}

[[noreturn]] void raise_unknown(const Node& node, const std::string& topic) {
  const std::string_view service = service_of(topic);
  raise(SINEW_NOTHING,
        service.empty()
            ? "nobody published or subscribed to '" + topic + "' in time, so its type is not known. Of topics " +
                  names_there(node, topic_itself) +
                  ". Wait longer, or give the type: one that only another machine has comes over a gateway when it is given"
            : "nobody provided or called the service '" + std::string(service) + "' in time, so its types are not known. Of services " +
                  names_there(node, service_of) +
                  ". Wait longer, or give the types: one that only another machine has comes over a gateway when they are given");
}

}  // namespace

std::string signature_of_topic(const Node& node, const std::string& topic, const Deadline& deadline) {
  {
    const UpdatePtr state = state_of(node);
    for (std::size_t i = 0; i < sinew_domain_update_topic_count(state.get()); ++i) {
      const sinew_domain_topic it = sinew_domain_update_topic(state.get(), i);
      if (it.name == topic) return it.signature;
    }
  }
  const auto in = node.open();
  std::unique_ptr<TopicWait, void (*)(TopicWait*)> wait(nullptr, [](TopicWait* it) { without_gil([&] { delete it; }); });
  without_gil([&] { wait.reset(new TopicWait(in.get(), topic)); });
  wait->outcome().check();
  while (true) {
    std::string found;
    without_gil([&] { found = wait->wait(deadline.slice_ns()); });
    if (!found.empty()) return found;
    check_signals();
    node.open();
    if (deadline.is_over()) raise_unknown(node, topic);
  }
}

void define_domain(nb::module_& module, NodeClass& node) {
  classes.node = named_tuple(module, "DomainNode", "id name container pid uid gid").release().ptr();
  classes.topic = named_tuple(module, "DomainTopic", "id name type signature hash").release().ptr();
  classes.endpoint =
      named_tuple(module, "DomainEndpoint",
                  "id node topic memory deadline_ns lifespan_ns lease_ns depth publishes ghost reliable transient_local manual_by_topic")
          .release()
          .ptr();
  classes.pair = named_tuple(module, "DomainPair", "publisher subscriber why delivery connected").release().ptr();
  classes.update = named_tuple(module, "DomainUpdate", "anew complete nodes topics endpoints pairs gone lost").release().ptr();
  nb::class_<Watch> type(module, "Watch", nb::type_slots(EndpointSlots<Watch>::slots), nb::is_weak_referenceable());
  define_closing<Watch>(type);
  node.def("domain", [](const Node& self) { return told(state_of(self).get()); })
      .def("watch", &watch, nb::arg("callback"), nb::kw_only(), nb::arg("execution_thread") = 0);
}

}  // namespace sinew::python
