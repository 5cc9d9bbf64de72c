#include "bindings/python/src/options.hpp"

#include <algorithm>
#include <limits>

#include "bindings/python/src/package.hpp"

namespace sinew::python {
namespace {

std::int64_t duration(nb::handle qos, const char* name) {
  const nb::object value = qos.attr(name);
  if (value.is_none()) return 0;
  const std::int64_t ns = ns_of(nb::cast<double>(value));
  if (ns < 0) return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(ns, 1);  // 0 is none there
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
  const nb::object asked = qos_asked(given);
  const auto is = [&](const char* name) { return nb::cast<bool>(asked.attr(name)); };
  qos.depth = nb::cast<std::uint32_t>(asked.attr("depth"));
  qos.keep_all = is("keep_all");
  qos.reliable = is("reliable");
  qos.transient_local = is("transient_local");
  qos.manual_by_topic = is("manual_by_topic");
  qos.deadline_ns = duration(asked, "deadline");
  qos.lifespan_ns = duration(asked, "lifespan");
  qos.lease_ns = duration(asked, "lease");
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
