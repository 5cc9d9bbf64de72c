#include "fastdds/participant.hpp"

#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

#include <algorithm>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "fastdds/message_type.hpp"
#include "fastdds/qos.hpp"

namespace sinew::fastdds {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using Returned = eprosima::fastrtps::types::ReturnCode_t;

dds::DomainParticipantFactory& factory() {
  return *dds::DomainParticipantFactory::get_instance();
}

sinew_dds_bytes bytes_of(const std::vector<rtps::octet>& data) {
  return {data.data(), data.size()};
}

dds::DomainParticipantQos qos_of(const sinew_dds_options& options) {
  // Of FASTRTPS_DEFAULT_PROFILES_FILE and the like, as rmw_fastrtps has them.
  factory().load_profiles();
  dds::DomainParticipantQos qos = factory().get_default_participant_qos();
  qos.name(options.name);
  if (options.user_data.size > 0)
    qos.user_data().data_vec(std::vector<rtps::octet>(options.user_data.data, options.user_data.data + options.user_data.size));
  std::istringstream interfaces(options.interfaces);
  std::vector<std::string> addresses;
  for (std::string address; std::getline(interfaces, address, ',');) addresses.push_back(address);
  if (!addresses.empty()) {
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList = addresses;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.clear();
    qos.transport().user_transports.push_back(udp);
    qos.transport().user_transports.push_back(std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>());
  }
  return qos;
}

}  // namespace

sinew_dds_guid guid_of(const rtps::GUID_t& guid) {
  sinew_dds_guid made;
  std::memcpy(made.bytes, guid.guidPrefix.value, sizeof guid.guidPrefix.value);
  std::memcpy(made.bytes + sizeof guid.guidPrefix.value, guid.entityId.value, sizeof guid.entityId.value);
  return made;
}

rtps::GUID_t guid_of(const sinew_dds_guid& guid) {
  rtps::GUID_t made;
  std::memcpy(made.guidPrefix.value, guid.bytes, sizeof made.guidPrefix.value);
  std::memcpy(made.entityId.value, guid.bytes + sizeof made.guidPrefix.value, sizeof made.entityId.value);
  return made;
}

// --- discovery -----------------------------------------------------------------------------------------------------------------------

void Discovery::on_participant_discovery(dds::DomainParticipant* participant, rtps::ParticipantDiscoveryInfo&& info) {
  if (info.info.m_guid == participant->guid()) return;
  const std::lock_guard lock(one_at_a_time_);
  const sinew_dds_guid guid = guid_of(info.info.m_guid);
  if (info.status == rtps::ParticipantDiscoveryInfo::REMOVED_PARTICIPANT ||
      info.status == rtps::ParticipantDiscoveryInfo::DROPPED_PARTICIPANT) {
    told_.on_participant_gone(told_.context, &guid);
    return;
  }
  const sinew_dds_stranger stranger{guid, {info.info.m_VendorId[0], info.info.m_VendorId[1]}, bytes_of(info.info.m_userData.data_vec())};
  told_.on_participant(told_.context, &stranger);
}

void Discovery::on_publisher_discovery(dds::DomainParticipant* participant, rtps::WriterDiscoveryInfo&& info) {
  if (info.info.guid().guidPrefix == participant->guid().guidPrefix) return;
  tell(info.info, true, info.status == rtps::WriterDiscoveryInfo::REMOVED_WRITER);
}

void Discovery::on_subscriber_discovery(dds::DomainParticipant* participant, rtps::ReaderDiscoveryInfo&& info) {
  if (info.info.guid().guidPrefix == participant->guid().guidPrefix) return;
  tell(info.info, false, info.status == rtps::ReaderDiscoveryInfo::REMOVED_READER);
}

template <class Info>
void Discovery::tell(const Info& info, bool writes, bool is_gone) {
  const std::lock_guard lock(one_at_a_time_);
  const sinew_dds_guid guid = guid_of(info.guid());
  if (is_gone) {
    told_.on_endpoint_gone(told_.context, &guid);
    return;
  }
  const std::vector<rtps::octet> user_data = info.m_qos.m_userData.data_vec();
  const sinew_dds_endpoint endpoint{
      guid, writes, info.topicName().c_str(), info.typeName().c_str(), fastdds::qos_of(info.m_qos), bytes_of(user_data)};
  told_.on_endpoint(told_.context, &endpoint);
}

// --- the participant -----------------------------------------------------------------------------------------------------------------

Participant::Participant(const sinew_dds_options& options, const sinew_dds_discovery& discovery) : discovery_(discovery) {
  participant_ = factory().create_participant(options.domain, qos_of(options), &discovery_, dds::StatusMask::none());
  if (participant_ == nullptr)
    throw std::runtime_error("no participant could be made in domain " + std::to_string(options.domain) +
                             " (its UDP ports are taken, or no interface has one of the addresses)");
  publisher_ = participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT);
  const dds::TypeSupport nothing(new MessageType("sinew::Nothing"));
  if (nothing.register_type(participant_) == Returned::RETCODE_OK)
    unheard_ = participant_->create_topic("sinew/unheard", nothing.get_type_name(), dds::TOPIC_QOS_DEFAULT);
  if (publisher_ != nullptr && unheard_ != nullptr) return;
  participant_->delete_contained_entities();
  factory().delete_participant(participant_);
  throw std::runtime_error("no publisher could be made");
}

Participant::~Participant() {
  participant_->delete_contained_entities();
  factory().delete_participant(participant_);
}

dds::Topic* Participant::take_topic(const std::string& name, const std::string& type) {
  const std::lock_guard lock(mutex_);
  const auto same = std::ranges::find_if(topics_, [&](const auto& each) { return each.first->get_name() == name; });
  if (same != topics_.end()) {
    if (same->first->get_type_name() != type)
      throw std::runtime_error("the topic '" + name + "' is here with the type " + same->first->get_type_name() + " already, and " + type +
                               " is asked for");
    ++same->second;
    return same->first;
  }
  if (types_[type]++ == 0) {
    const dds::TypeSupport support(new MessageType(type));
    if (support.register_type(participant_) != Returned::RETCODE_OK) {
      types_.erase(type);
      throw std::runtime_error("the type " + type + " could not be made known");
    }
  }
  dds::Topic* const topic = participant_->create_topic(name, type, dds::TOPIC_QOS_DEFAULT);
  if (topic == nullptr) {
    if (--types_[type] == 0) {
      types_.erase(type);
      participant_->unregister_type(type);
    }
    throw std::runtime_error("the topic '" + name + "' could not be made");
  }
  topics_.emplace(topic, 1);
  return topic;
}

void Participant::give_back(dds::Topic* topic) noexcept {
  const std::lock_guard lock(mutex_);
  const auto taken = topics_.find(topic);
  if (taken == topics_.end() || --taken->second > 0) return;
  topics_.erase(taken);
  const std::string type = topic->get_type_name();
  participant_->delete_topic(topic);
  if (--types_[type] > 0) return;
  types_.erase(type);
  participant_->unregister_type(type);
}

// They go through the endpoints under a lock that is shared among them; to be entered in the list, or to leave it, takes the lock alone.
void Participant::outlast_matching() noexcept {
  dds::DataWriterQos qos;
  qos.resource_limits().allocated_samples = 1;
  dds::DataWriter* const entered = publisher_->create_datawriter(unheard_, qos, nullptr, dds::StatusMask::none());
  if (entered != nullptr) publisher_->delete_datawriter(entered);
}

}  // namespace sinew::fastdds
