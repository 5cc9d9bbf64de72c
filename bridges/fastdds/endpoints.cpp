#include "fastdds/endpoints.hpp"

#include <fastdds/rtps/common/WriteParams.h>

#include <limits>
#include <stdexcept>

#include "fastdds/message_type.hpp"
#include "fastdds/qos.hpp"

namespace sinew::fastdds {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using Returned = eprosima::fastrtps::types::ReturnCode_t;

sinew_dds_identity identity_of(const rtps::SampleIdentity& identity) {
  if (identity == rtps::SampleIdentity::unknown()) return {};
  return {guid_of(identity.writer_guid()), identity.sequence_number().to64long()};
}

/// Somebody else's: what is written here does not come back here.
template <class Status>
void tell_matched(const Participant& participant, const sinew_dds_listener& listener, const Status& status,
                  const dds::InstanceHandle_t& other) {
  const rtps::GUID_t guid = rtps::iHandle2GUID(other);
  if (participant.is_own(guid) || status.current_count_change == 0) return;
  const sinew_dds_guid told = guid_of(guid);
  listener.on_matched(listener.context, &told, status.current_count_change > 0);
}

/// To be done before an endpoint is deleted. Fast DDS 2.9 takes the endpoint's own listener away first, and a thread of its that just
/// matches the endpoint with a discovered one calls it all the same, at address 0. In a partition of its own the endpoint matches nobody's.
template <class Group>
void unmatch(Participant& participant, Group& group) noexcept {
  auto qos = group.get_qos();
  qos.partition().push_back("sinew/closed");
  group.set_qos(qos);
  participant.outlast_matching();
}

}  // namespace

Writer::Writer(Participant& participant, const sinew_dds_topic& topic, const sinew_dds_listener& listener)
    : topic_(participant, topic), listener_(listener), publisher_(participant.dds().create_publisher(dds::PUBLISHER_QOS_DEFAULT)) {
  if (publisher_ != nullptr)
    writer_ = publisher_->create_datawriter(topic_.topic, writer_qos_of(topic), this,
                                            dds::StatusMask::publication_matched() << dds::StatusMask::offered_incompatible_qos());
  if (writer_ != nullptr) return;
  if (publisher_ != nullptr) participant.dds().delete_publisher(publisher_);
  throw std::runtime_error("a writer of '" + std::string(topic.name) + "' could not be made");
}

Writer::~Writer() {
  unmatch(topic_.participant, *publisher_);
  publisher_->delete_datawriter(writer_);
  topic_.participant.dds().delete_publisher(publisher_);
}

bool Writer::write(std::span<const sinew_dds_bytes> parts, const sinew_dds_identity* related, sinew_dds_identity* identity) {
  std::size_t size = 0;
  for (const sinew_dds_bytes& part : parts) size += part.size;
  if (size < 4 || size > std::numeric_limits<std::uint32_t>::max()) return false;
  Outgoing message{parts, static_cast<std::uint32_t>(size)};
  rtps::WriteParams params;
  if (related != nullptr) {
    params.related_sample_identity().writer_guid(guid_of(related->writer));
    if (related->number > 0) params.related_sample_identity().sequence_number(rtps::SequenceNumber_t(related->number));
  }
  if (!writer_->write(&message, params)) return false;
  if (identity != nullptr) *identity = identity_of(params.sample_identity());
  return true;
}

bool Writer::is_acknowledged() {
  return writer_->wait_for_acknowledgments({0, 0}) == Returned::RETCODE_OK;
}

std::size_t Writer::forget() {
  std::size_t removed = 0;
  writer_->clear_history(&removed);
  return removed;
}

void Writer::on_publication_matched(dds::DataWriter*, const dds::PublicationMatchedStatus& status) {
  tell_matched(topic_.participant, listener_, status, status.last_subscription_handle);
}

void Writer::on_offered_incompatible_qos(dds::DataWriter*, const dds::OfferedIncompatibleQosStatus& status) {
  listener_.on_incompatible(listener_.context, name_of(status.last_policy_id));
}

Reader::Reader(Participant& participant, const sinew_dds_topic& topic, const sinew_dds_listener& listener)
    : topic_(participant, topic), listener_(listener), subscriber_(participant.dds().create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT)) {
  if (subscriber_ != nullptr)
    reader_ = subscriber_->create_datareader(topic_.topic, reader_qos_of(topic), this,
                                             dds::StatusMask::subscription_matched()
                                                 << dds::StatusMask::requested_incompatible_qos() << dds::StatusMask::data_available());
  if (reader_ != nullptr) return;
  if (subscriber_ != nullptr) participant.dds().delete_subscriber(subscriber_);
  throw std::runtime_error("a reader of '" + std::string(topic.name) + "' could not be made");
}

Reader::~Reader() {
  unmatch(topic_.participant, *subscriber_);
  subscriber_->delete_datareader(reader_);
  topic_.participant.dds().delete_subscriber(subscriber_);
}

// Threads of several transports may announce messages at a time, and hold locks of Fast DDS: none waits for another. One takes, for all of them.
void Reader::on_data_available(dds::DataReader* reader) {
  if (announced_.fetch_add(1, std::memory_order_acq_rel) > 0) return;
  std::uint32_t seen = 1;
  do {
    take_all(*reader);
  } while (!announced_.compare_exchange_strong(seen, 0, std::memory_order_acq_rel));
}

void Reader::take_all(dds::DataReader& reader) {
  Incoming message{.listener = &listener_};
  dds::SampleInfo info;
  while (reader.take_next_sample(&message, &info) == Returned::RETCODE_OK) {
    if (!info.valid_data || !message.is_wanted) {
      const sinew_dds_identity unwanted = identity_of(info.sample_identity);
      listener_.on_unwanted(listener_.context, &unwanted);
      continue;
    }
    const sinew_dds_message told{
        .size = message.size, .identity = identity_of(info.sample_identity), .related = identity_of(info.related_sample_identity)};
    listener_.on_message(listener_.context, &told);
  }
}

void Reader::on_subscription_matched(dds::DataReader*, const dds::SubscriptionMatchedStatus& status) {
  tell_matched(topic_.participant, listener_, status, status.last_publication_handle);
}

void Reader::on_requested_incompatible_qos(dds::DataReader*, const dds::RequestedIncompatibleQosStatus& status) {
  listener_.on_incompatible(listener_.context, name_of(status.last_policy_id));
}

}  // namespace sinew::fastdds
