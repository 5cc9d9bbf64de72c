// Writers and readers of messages of which only the bytes are known.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <span>

#include "fastdds/participant.hpp"
#include "raw_dds.h"

namespace sinew::fastdds {

/// A topic that is given back.
class TakenTopic {
 public:
  TakenTopic(Participant& of, const sinew_dds_topic& asked) : participant(of), topic(of.take_topic(asked.name, asked.type)) {}
  ~TakenTopic() { participant.give_back(topic); }
  TakenTopic(const TakenTopic&) = delete;
  TakenTopic& operator=(const TakenTopic&) = delete;

  Participant& participant;
  eprosima::fastdds::dds::Topic* const topic;
};

class Writer : eprosima::fastdds::dds::DataWriterListener {
 public:
  /// Throws std::runtime_error with half a sentence.
  Writer(Participant& participant, const sinew_dds_topic& topic, const sinew_dds_listener& listener);
  ~Writer() override;
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  sinew_dds_guid guid() const { return guid_of(writer_->guid()); }
  bool write(std::span<const sinew_dds_bytes> parts, const sinew_dds_identity* related, sinew_dds_identity* identity);
  bool is_acknowledged();
  std::size_t forget();

 private:
  void on_publication_matched(eprosima::fastdds::dds::DataWriter* writer,
                              const eprosima::fastdds::dds::PublicationMatchedStatus& status) override;
  void on_offered_incompatible_qos(eprosima::fastdds::dds::DataWriter* writer,
                                   const eprosima::fastdds::dds::OfferedIncompatibleQosStatus& status) override;

  TakenTopic topic_;
  const sinew_dds_listener listener_;
  /// Its own, for unmatch().
  eprosima::fastdds::dds::Publisher* publisher_;
  eprosima::fastdds::dds::DataWriter* writer_ = nullptr;
};

class Reader : eprosima::fastdds::dds::DataReaderListener {
 public:
  /// Throws likewise.
  Reader(Participant& participant, const sinew_dds_topic& topic, const sinew_dds_listener& listener);
  ~Reader() override;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  sinew_dds_guid guid() const { return guid_of(reader_->guid()); }

 private:
  void on_data_available(eprosima::fastdds::dds::DataReader* reader) override;
  void take_all(eprosima::fastdds::dds::DataReader& reader);
  void on_subscription_matched(eprosima::fastdds::dds::DataReader* reader,
                               const eprosima::fastdds::dds::SubscriptionMatchedStatus& status) override;
  void on_requested_incompatible_qos(eprosima::fastdds::dds::DataReader* reader,
                                     const eprosima::fastdds::dds::RequestedIncompatibleQosStatus& status) override;

  TakenTopic topic_;
  const sinew_dds_listener listener_;
  /// How often messages were announced that the thread that takes has yet to look for.
  std::atomic<std::uint32_t> announced_ = 0;
  /// Its own, likewise.
  eprosima::fastdds::dds::Subscriber* subscriber_;
  eprosima::fastdds::dds::DataReader* reader_ = nullptr;
};

}  // namespace sinew::fastdds
