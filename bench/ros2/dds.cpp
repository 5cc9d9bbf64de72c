#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <stdexcept>
#include <utility>

#include "clock.hpp"
#include "ends.hpp"

namespace sinew::bench::ros2 {
namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;

constexpr int depth = 10;

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("Fast DDS: ") + what);
}

/// What rmw_fastrtps does with generated code: CDR, whose memory grows with the message.
class StampedType final : public dds::TopicDataType {
 public:
  StampedType() {
    setName("bench_msgs::msg::dds_::Stamped_");
    m_typeSize = before_data;
  }
  bool serialize(void* sample, rtps::SerializedPayload_t* payload) override {
    const Stamped& message = *static_cast<const Stamped*>(sample);
    const auto length = static_cast<std::uint32_t>(message.data.size());
    if (before_data + length > payload->max_size) return false;
    constexpr rtps::octet little_endian[] = {0, 1, 0, 0};
    payload->encapsulation = CDR_LE;
    payload->length = before_data + length;
    std::memcpy(payload->data, little_endian, sizeof little_endian);
    std::memcpy(payload->data + 4, &message.sent, sizeof message.sent);
    std::memcpy(payload->data + 12, &message.number, sizeof message.number);
    std::memcpy(payload->data + 20, &length, sizeof length);
    if (length > 0) std::memcpy(payload->data + before_data, message.data.data(), length);
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* payload, void* sample) override {
    Stamped& message = *static_cast<Stamped*>(sample);
    std::uint32_t length = 0;
    if (payload->length < before_data) return false;
    std::memcpy(&message.sent, payload->data + 4, sizeof message.sent);
    std::memcpy(&message.number, payload->data + 12, sizeof message.number);
    std::memcpy(&length, payload->data + 20, sizeof length);
    if (length > payload->length - before_data) return false;
    message.data.resize(length);
    if (length > 0) std::memcpy(message.data.data(), payload->data + before_data, length);
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void* sample) override {
    return [sample] { return before_data + static_cast<std::uint32_t>(static_cast<const Stamped*>(sample)->data.size()); };
  }
  void* createData() override { return new Stamped; }
  void deleteData(void* sample) override { delete static_cast<Stamped*>(sample); }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }

 private:
  static constexpr std::uint32_t before_data = 24;
};

class Participant {
 public:
  explicit Participant(std::uint32_t domain)
      : participant_(dds::DomainParticipantFactory::get_instance()->create_participant(domain, dds::PARTICIPANT_QOS_DEFAULT)) {
    require(participant_ != nullptr, "no participant");
    require(dds::TypeSupport(new StampedType).register_type(participant_) == ReturnCode_t::RETCODE_OK, "no type");
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant() {
    participant_->delete_contained_entities();
    dds::DomainParticipantFactory::get_instance()->delete_participant(participant_);
  }

  dds::DataWriter* write() {
    dds::DataWriter* const writer =
        participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT)->create_datawriter(topic_of(topic), qos_of<dds::DataWriterQos>());
    require(writer != nullptr, "no writer");
    return writer;
  }
  void read(const std::string& name, dds::DataReaderListener* listener) {
    if (subscriber_ == nullptr) subscriber_ = participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT);
    require(subscriber_->create_datareader(topic_of(name), qos_of<dds::DataReaderQos>(), listener) != nullptr, "no reader");
  }

 private:
  dds::Topic* topic_of(const std::string& name) {
    dds::Topic* const made = participant_->create_topic("rt/" + name, "bench_msgs::msg::dds_::Stamped_", dds::TOPIC_QOS_DEFAULT);
    require(made != nullptr, "no topic");
    return made;
  }
  /// As rmw_fastrtps has it by default, also that writers send from the thread that publishes.
  template <class Qos>
  static Qos qos_of() {
    Qos qos;
    qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
    qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
    qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
    qos.history().depth = depth;
    qos.endpoint().history_memory_policy = rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
    qos.data_sharing().off();
    return qos;
  }

  dds::DomainParticipant* participant_;
  dds::Subscriber* subscriber_ = nullptr;
};

class DdsPublisher final : public Publisher {
 public:
  DdsPublisher(std::uint32_t domain, std::size_t size) : participant_(domain), writer_(participant_.write()) { message_.data.resize(size); }
  bool is_connected() override {
    dds::PublicationMatchedStatus status;
    writer_->get_publication_matched_status(status);
    return status.current_count > 0;
  }
  void publish(std::uint64_t number) override {
    std::memset(message_.data.data(), static_cast<int>(number % 255), message_.data.size());
    message_.number = number;
    message_.sent = now_ns();
    require(writer_->write(&message_), "not written");
  }

 private:
  Participant participant_;
  dds::DataWriter* writer_;
  Stamped message_;
};

class DdsSubscriber final : public Subscriber, dds::DataReaderListener {
 public:
  DdsSubscriber(std::uint32_t domain, OnMessage on_message) : on_message_(std::move(on_message)), participant_(domain) {
    if (on_message_) participant_.read(topic, this);
  }
  void add(const std::string& name) { participant_.read(name, nullptr); }
  void on_data_available(dds::DataReader* reader) override {
    dds::SampleInfo info;
    while (reader->take_next_sample(&message_, &info) == ReturnCode_t::RETCODE_OK) {
      if (info.valid_data) on_message_(message_);
    }
  }

 private:
  OnMessage on_message_;
  Stamped message_;
  Participant participant_;  // last: nothing comes any more before the rest is gone
};

}  // namespace

std::unique_ptr<Publisher> publish_in_dds(std::uint32_t domain, std::size_t size) {
  return std::make_unique<DdsPublisher>(domain, size);
}

std::unique_ptr<Subscriber> subscribe_in_dds(std::uint32_t domain, OnMessage on_message) {
  return std::make_unique<DdsSubscriber>(domain, std::move(on_message));
}

std::unique_ptr<Subscriber> idle_in_dds(std::uint32_t domain, unsigned topics) {
  auto subscriber = std::make_unique<DdsSubscriber>(domain, OnMessage());
  for (unsigned number = 0; number < topics; ++number) subscriber->add("idle_" + std::to_string(number));
  return subscriber;
}

}  // namespace sinew::bench::ros2
