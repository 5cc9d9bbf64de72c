// Quality of service, as rclcpp says it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sinew/error.hpp"
#include "sinew/qos.hpp"
#include "sinew/rclcpp/pointers.hpp"
#include "sinew/rclcpp/time.hpp"

namespace sinew::rclcpp {
namespace detail {
struct QosAccess;
}

/// What rclcpp's QoS() is made of.
struct KeepLast {
  std::size_t depth = 0;
  constexpr explicit KeepLast(std::size_t of) noexcept : depth(of) {}
};
struct KeepAll {};

// NOLINTBEGIN(readability-identifier-naming): rclcpp's names
enum class ReliabilityPolicy : std::uint8_t { BestEffort, Reliable, SystemDefault };
enum class DurabilityPolicy : std::uint8_t { Volatile, TransientLocal, SystemDefault };
enum class LivelinessPolicy : std::uint8_t { Automatic, ManualByTopic, SystemDefault };
// NOLINTEND(readability-identifier-naming)

/// Reliable, volatile, the newest `depth` messages, unless set otherwise. A value; what each policy does is said in sinew/qos.hpp.
///
/// A depth above 512, which is as much as can be kept, counts as 512: who creates a publisher or a subscription with one is warned once, in the log. A depth of 0 is the default's, 8. What is said of time is nothing when it is 0 or
/// less, or Duration::max().
class QoS {
 public:
  constexpr QoS(std::size_t depth) noexcept : depth_(depth) {}
  constexpr QoS(KeepLast history) noexcept : depth_(history.depth) {}
  constexpr QoS(KeepAll) noexcept : keep_all_(true) {}

  constexpr QoS& keep_last(std::size_t depth) noexcept {
    depth_ = depth;
    keep_all_ = false;
    return *this;
  }
  constexpr QoS& keep_all() noexcept {
    keep_all_ = true;
    return *this;
  }
  constexpr QoS& reliability(ReliabilityPolicy policy) noexcept {
    reliability_ = policy;
    return *this;
  }
  constexpr QoS& reliable() noexcept { return reliability(ReliabilityPolicy::Reliable); }
  constexpr QoS& best_effort() noexcept { return reliability(ReliabilityPolicy::BestEffort); }
  constexpr QoS& durability(DurabilityPolicy policy) noexcept {
    transient_local_ = policy == DurabilityPolicy::TransientLocal;
    return *this;
  }
  constexpr QoS& transient_local() noexcept { return durability(DurabilityPolicy::TransientLocal); }
  constexpr QoS& durability_volatile() noexcept { return durability(DurabilityPolicy::Volatile); }
  constexpr QoS& deadline(const Duration& longest) noexcept {
    deadline_ = longest;
    return *this;
  }
  constexpr QoS& lifespan(const Duration& longest) noexcept {
    lifespan_ = longest;
    return *this;
  }
  constexpr QoS& liveliness(LivelinessPolicy policy) noexcept {
    manual_by_topic_ = policy == LivelinessPolicy::ManualByTopic;
    return *this;
  }
  constexpr QoS& liveliness_lease_duration(const Duration& lease) noexcept {
    lease_ = lease;
    return *this;
  }

  constexpr std::size_t depth() const noexcept { return depth_; }

  template <class... None>
  const QoS& get_rmw_qos_profile(None...) const {
    static_assert(detail::never<None...>, "sinew: there is no rmw, and so no rmw_qos_profile_t: hand the rclcpp::QoS itself on");
    return *this;
  }

 private:
  friend struct detail::QosAccess;

  std::size_t depth_ = 0;
  bool keep_all_ = false, transient_local_ = false, manual_by_topic_ = false;
  ReliabilityPolicy reliability_ = ReliabilityPolicy::Reliable;
  Duration deadline_, lifespan_, lease_;
};

/// The newest 5, best effort: for what comes again soon.
class SensorDataQoS : public QoS {
 public:
  constexpr SensorDataQoS() noexcept : QoS(5) { best_effort(); }
};
/// Publishers are reliable and subscriptions best effort, as DDS has it, so that they fit others.
class SystemDefaultsQoS : public QoS {
 public:
  constexpr SystemDefaultsQoS() noexcept : QoS(0) { reliability(ReliabilityPolicy::SystemDefault); }
};
/// What create_service() and create_client() take and need not: services lose nothing.
class ServicesQoS : public QoS {
 public:
  constexpr ServicesQoS() noexcept : QoS(10) {}
};

/// What create_publisher and create_subscription do with it. Throws Error(invalid_argument) for a liveliness by topic without a lease.
SINEW_API sinew::Qos qos_of_publisher(const QoS& qos);
SINEW_API sinew::Qos qos_of_subscription(const QoS& qos);

}  // namespace sinew::rclcpp
