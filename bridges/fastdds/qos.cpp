#include "fastdds/qos.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace sinew::fastdds {
namespace {

namespace dds = eprosima::fastdds::dds;
using eprosima::fastrtps::Duration_t;

constexpr std::int64_t second = 1'000'000'000;
/// Messages that are kept of a topic of which all are: what others have not got yet, or what came out of order.
constexpr std::int32_t most = 1024;

Duration_t duration_of(std::int64_t ns) {
  if (ns <= 0 || ns / second >= std::numeric_limits<std::int32_t>::max()) return eprosima::fastrtps::c_TimeInfinite;
  return {static_cast<std::int32_t>(ns / second), static_cast<std::uint32_t>(ns % second)};
}

/// Strangers tell it: what is no time is for ever.
std::int64_t ns_of(const Duration_t& time) {
  if (time == eprosima::fastrtps::c_TimeInfinite || time.seconds < 0 || time.nanosec >= second) return 0;
  return time.seconds * second + time.nanosec;
}

template <class Qos>
Qos qos_of_topic(const sinew_dds_topic& topic) {
  const sinew_dds_qos& asked = topic.qos;
  Qos qos;
  qos.reliability().kind = asked.reliable ? dds::RELIABLE_RELIABILITY_QOS : dds::BEST_EFFORT_RELIABILITY_QOS;
  qos.durability().kind = asked.transient_local ? dds::TRANSIENT_LOCAL_DURABILITY_QOS : dds::VOLATILE_DURABILITY_QOS;
  const auto depth = static_cast<std::int32_t>(std::min<std::uint32_t>(asked.depth, std::numeric_limits<std::int32_t>::max()));
  qos.history().kind = depth == 0 ? dds::KEEP_ALL_HISTORY_QOS : dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = std::max(depth, 1);
  auto& limits = qos.resource_limits();
  limits.max_samples = limits.max_samples_per_instance = depth == 0 ? most : depth;
  limits.max_instances = 1;
  limits.allocated_samples = 1;
  qos.deadline().period = duration_of(asked.deadline);
  qos.liveliness().lease_duration = duration_of(asked.lease);
  qos.liveliness().announcement_period = duration_of(asked.lease / 3 * 2);
  if (topic.user_data.size > 0)
    qos.user_data().data_vec(std::vector<std::uint8_t>(topic.user_data.data, topic.user_data.data + topic.user_data.size));
  // It is for types of one size, and leaves files when the process dies.
  qos.data_sharing().off();
  qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
  return qos;
}

template <class Qos>
sinew_dds_qos qos_of_discovered(const Qos& qos) {
  return {.reliable = qos.m_reliability.kind == dds::RELIABLE_RELIABILITY_QOS,
          .transient_local = qos.m_durability.kind >= dds::TRANSIENT_LOCAL_DURABILITY_QOS,
          .depth = 0,
          .lease = ns_of(qos.m_liveliness.lease_duration),
          .deadline = ns_of(qos.m_deadline.period),
          .lifespan = ns_of(qos.m_lifespan.duration)};
}

}  // namespace

dds::DataWriterQos writer_qos_of(const sinew_dds_topic& topic) {
  auto qos = qos_of_topic<dds::DataWriterQos>(topic);
  qos.lifespan().duration = duration_of(topic.qos.lifespan);
  qos.reliability().max_blocking_time = duration_of(second / 10);
  // What was lost on the way is soon known, and sent again.
  qos.reliable_writer_qos().times.heartbeatPeriod = duration_of(second / 10);
  return qos;
}

dds::DataReaderQos reader_qos_of(const sinew_dds_topic& topic) {
  return qos_of_topic<dds::DataReaderQos>(topic);
}

sinew_dds_qos qos_of(const dds::WriterQos& qos) {
  return qos_of_discovered(qos);
}

sinew_dds_qos qos_of(const dds::ReaderQos& qos) {
  return qos_of_discovered(qos);
}

const char* name_of(dds::QosPolicyId_t policy) {
  switch (policy) {
    case dds::DURABILITY_QOS_POLICY_ID:
      return "durability";
    case dds::DEADLINE_QOS_POLICY_ID:
      return "deadline";
    case dds::LIVELINESS_QOS_POLICY_ID:
      return "liveliness";
    case dds::RELIABILITY_QOS_POLICY_ID:
      return "reliability";
    case dds::OWNERSHIP_QOS_POLICY_ID:
      return "ownership";
    case dds::PRESENTATION_QOS_POLICY_ID:
      return "presentation";
    case dds::PARTITION_QOS_POLICY_ID:
      return "partition";
    case dds::DESTINATIONORDER_QOS_POLICY_ID:
      return "destination order";
    case dds::DATAREPRESENTATION_QOS_POLICY_ID:
      return "data representation";
    default:
      return "another policy";
  }
}

}  // namespace sinew::fastdds
