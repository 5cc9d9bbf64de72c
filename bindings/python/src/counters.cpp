#include <utility>

#include "bindings/python/src/endpoints.hpp"

namespace sinew::python {
namespace {

struct Counters : Endpoint<sinew_domain_counters> {};

using CountsPtr = std::unique_ptr<sinew_domain_counts, void (*)(sinew_domain_counts*)>;

nb::dict of_publisher(const sinew_publisher_counts& told) {
  nb::dict counts;
  counts["publisher"] = told.publisher;
  counts["identity"] = told.identity;
  counts["messages"] = told.messages;
  counts["bytes"] = told.bytes;
  counts["bytes_copied"] = told.bytes_copied;
  counts["bytes_exported"] = told.bytes_exported;
  counts["refused"] = told.refused;
  counts["withdrawn"] = told.withdrawn;
  counts["newest_ns"] = told.newest_ns;
  return counts;
}

nb::dict of_pair(const sinew_pair_counts& told) {
  nb::dict counts;
  counts["publisher"] = told.publisher;
  counts["subscriber"] = told.subscriber;
  counts["publisher_identity"] = told.publisher_identity;
  counts["subscriber_identity"] = told.subscriber_identity;
  counts["messages"] = told.messages;
  counts["missed"] = told.missed;
  counts["withdrawn"] = told.withdrawn;
  counts["expired"] = told.expired;
  counts["skipped"] = told.skipped;
  counts["over_quota"] = told.over_quota;
  counts["bytes_copied"] = told.bytes_copied;
  counts["held"] = told.held;
  counts["latency_total_ns"] = told.latency_total_ns;
  nb::list latency;
  for (const std::uint32_t bucket : told.latency) latency.append(bucket);
  counts["latency"] = latency;
  return counts;
}

nb::object create(nb::handle node) {
  const auto in = nb::cast<const Node&>(node).open();
  Counters made;
  made.node = nb::borrow(node);
  sinew_domain_counters* created = nullptr;
  call_released([&] { return sinew_domain_counters_create(in.get(), &created); });
  made.handle = handle_of(created, sinew_domain_counters_destroy);
  return nb::cast(std::move(made));
}

nb::object read(const Counters& self) {
  const auto of = self.open();
  sinew_domain_counts* told = nullptr;
  call_released([&] { return sinew_domain_counters_read(of.get(), &told); });
  const CountsPtr counts(told, sinew_domain_counts_release);
  nb::list publishers;
  nb::list pairs;
  for (std::size_t i = 0; i < sinew_domain_counts_publisher_count(told); ++i)
    publishers.append(of_publisher(sinew_domain_counts_publisher(told, i)));
  for (std::size_t i = 0; i < sinew_domain_counts_pair_count(told); ++i) pairs.append(of_pair(sinew_domain_counts_pair(told, i)));
  return nb::make_tuple(publishers, pairs);
}

}  // namespace

void define_counters(nb::module_& module, NodeClass& node) {
  nb::class_<Counters> type(module, "Counters", nb::type_slots(EndpointSlots<Counters>::slots), nb::is_weak_referenceable());
  define_closing<Counters>(type);
  type.def("read", &read);
  node.def("counters", &create);
}

}  // namespace sinew::python
