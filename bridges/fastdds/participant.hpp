// A participant, and what it hears of others.
#pragma once

#include <cstdint>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/topic/Topic.hpp>
#include <map>
#include <mutex>
#include <string>

#include "raw_dds.h"

namespace sinew::fastdds {

sinew_dds_guid guid_of(const eprosima::fastrtps::rtps::GUID_t& guid);
eprosima::fastrtps::rtps::GUID_t guid_of(const sinew_dds_guid& guid);

/// Tells of participants and endpoints of others.
class Discovery final : public eprosima::fastdds::dds::DomainParticipantListener {
 public:
  explicit Discovery(const sinew_dds_discovery& told) : told_(told) {}

  void on_participant_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                                eprosima::fastrtps::rtps::ParticipantDiscoveryInfo&& info) override;
  void on_publisher_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                              eprosima::fastrtps::rtps::WriterDiscoveryInfo&& info) override;
  void on_subscriber_discovery(eprosima::fastdds::dds::DomainParticipant* participant,
                               eprosima::fastrtps::rtps::ReaderDiscoveryInfo&& info) override;

 private:
  template <class Info>
  void tell(const Info& info, bool writes, bool is_gone);

  const sinew_dds_discovery told_;
  /// Participants and endpoints are heard of by threads of their own.
  std::mutex one_at_a_time_;
};

class Participant {
 public:
  /// Throws std::runtime_error with half a sentence.
  Participant(const sinew_dds_options& options, const sinew_dds_discovery& discovery);
  ~Participant();
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;

  sinew_dds_guid guid() const { return guid_of(participant_->guid()); }
  bool is_own(const eprosima::fastrtps::rtps::GUID_t& guid) const { return guid.guidPrefix == participant_->guid().guidPrefix; }
  eprosima::fastdds::dds::DomainParticipant& dds() { return *participant_; }

  /// The topic, which a writer and a reader may have both. To be given back when they are gone. Throws likewise.
  eprosima::fastdds::dds::Topic* take_topic(const std::string& name, const std::string& type);
  void give_back(eprosima::fastdds::dds::Topic* topic) noexcept;

  /// Waits for the threads of Fast DDS that match endpoints by what they knew of them before. Not to be called by one of them.
  void outlast_matching() noexcept;

 private:
  Discovery discovery_;
  eprosima::fastdds::dds::DomainParticipant* participant_ = nullptr;
  eprosima::fastdds::dds::Publisher* publisher_ = nullptr;
  /// Nobody's: see outlast_matching.
  eprosima::fastdds::dds::Topic* unheard_ = nullptr;
  std::mutex mutex_;
  std::map<eprosima::fastdds::dds::Topic*, unsigned> topics_;
  std::map<std::string, unsigned> types_;
};

}  // namespace sinew::fastdds
