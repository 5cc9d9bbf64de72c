#include "sinew/rclcpp/qos.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "sinew/rclcpp/logging.hpp"

namespace sinew::rclcpp {
namespace {

constexpr std::size_t deepest = 512;

std::optional<std::chrono::nanoseconds> time_of(const Duration& duration) {
  if (duration <= Duration() || duration == Duration::max()) return std::nullopt;
  return duration.to_chrono();
}

std::uint32_t depth_of(const QoS& qos) {
  if (qos.depth() > deepest)
    RCLCPP_WARN_ONCE(get_logger("sinew"), "a QoS asks to keep the newest %zu messages; 512 is the most, and so many are kept", qos.depth());
  return static_cast<std::uint32_t>(std::min(qos.depth(), deepest));
}

}  // namespace

namespace detail {
/// What both sides make of it.
struct QosAccess {
  static sinew::Qos made_of(const QoS& qos, bool is_reliable_by_default) {
    sinew::Qos made;
    if (qos.depth() > 0) made.keep_last(depth_of(qos));
    if (qos.keep_all_) made.keep_all();
    if (qos.reliability_ == ReliabilityPolicy::Reliable || (qos.reliability_ == ReliabilityPolicy::SystemDefault && is_reliable_by_default))
      made.reliable();
    if (qos.transient_local_) made.transient_local();
    if (const auto deadline = time_of(qos.deadline_)) made.deadline(*deadline);
    if (const auto lifespan = time_of(qos.lifespan_)) made.lifespan(*lifespan);
    const auto lease = time_of(qos.lease_);
    if (qos.manual_by_topic_ && !lease)
      throw Error(
          ErrorKind::invalid_argument,
          "a QoS asks for liveliness by topic without saying how long a publisher may be silent: set liveliness_lease_duration() too");
    if (lease) made.liveliness(qos.manual_by_topic_ ? Liveliness::manual_by_topic : Liveliness::automatic, *lease);
    return made;
  }
};
}  // namespace detail

sinew::Qos qos_of_publisher(const QoS& qos) {
  return detail::QosAccess::made_of(qos, true);
}

sinew::Qos qos_of_subscription(const QoS& qos) {
  return detail::QosAccess::made_of(qos, false);
}

}  // namespace sinew::rclcpp
