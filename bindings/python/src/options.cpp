#include "bindings/python/src/options.hpp"

#include <limits>

namespace sinew::python {
namespace {

template <typename Value>
Value attribute(nb::handle given, const char* name, Value otherwise) {
  const nb::object value = nb::getattr(given, name, nb::none());
  if (value.is_none()) return otherwise;
  Value read{};
  if (!nb::try_cast(value, read)) raise(SINEW_INVALID_ARGUMENT, std::string("qos.") + name + " cannot be " + repr_of(value));
  return read;
}

std::int64_t duration(nb::handle given, const char* name) {
  constexpr double none = 0;
  const std::int64_t ns = ns_of(attribute(given, name, none));
  return ns < 0 ? std::numeric_limits<std::int64_t>::max() : ns;
}

}  // namespace

std::string name_from(nb::handle given) {
  std::string name;
  if (!nb::isinstance<nb::str>(given) || !nb::try_cast(given, name)) {
    raise_python(PyExc_TypeError, "the name of a topic or service comes first, then types, as in create_publisher('cmd_vel', Twist): " +
                                      repr_of(given) + " is no name");
  }
  return name;
}

sinew_qos qos_from(nb::handle given) {
  sinew_qos qos{};
  qos.struct_size = sizeof qos;
  if (given.is_none()) return qos;
  qos.depth = attribute(given, "depth", qos.depth);
  qos.keep_all = attribute(given, "keep_all", false);
  qos.reliable = attribute(given, "reliable", false);
  qos.transient_local = attribute(given, "transient_local", false);
  qos.manual_by_topic = attribute(given, "manual_by_topic", false);
  qos.deadline_ns = duration(given, "deadline");
  qos.lifespan_ns = duration(given, "lifespan");
  qos.lease_ns = duration(given, "lease");
  return qos;
}

std::int64_t max_blocking_from(const Seconds& given) {
  if (!given) return 0;
  const std::int64_t ns = ns_of(given);
  if (ns < 0) return std::numeric_limits<std::int64_t>::max();
  return ns == 0 ? -1 : ns;  // 0 is the default there, and less is not at all
}

std::uint32_t when_full_from(const std::string& given) {
  if (given == "withdraw") return SINEW_WHEN_FULL_WITHDRAW;
  if (given == "withdraw_some") return SINEW_WHEN_FULL_WITHDRAW_SOME;
  if (given == "refuse") return SINEW_WHEN_FULL_REFUSE;
  if (given == "wait") return SINEW_WHEN_FULL_WAIT;
  raise(SINEW_INVALID_ARGUMENT, "when_full cannot be '" + given + "': it is 'withdraw', 'withdraw_some', 'refuse' or 'wait'");
}

std::uint8_t ghost_from(const std::optional<std::string>& given) {
  if (!given) return SINEW_GHOST_NO;
  if (given == "carrier") return SINEW_GHOST_CARRIER;
  if (given == "observer") return SINEW_GHOST_OBSERVER;
  raise(SINEW_INVALID_ARGUMENT, "ghost cannot be '" + *given + "': it is 'carrier', 'observer' or None");
}

}  // namespace sinew::python
