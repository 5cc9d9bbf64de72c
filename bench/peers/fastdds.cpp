// Fast DDS, received in a listener. By the way of a run: `udp`, a message of any size over the loopback interface, in datagrams as large as
// they get; `shm`, the same through its shared memory transport, in one piece, in a segment for twice the queue; `datasharing`, a plain
// message of a fixed size, the largest of the run, that subscribers read where the publisher filled it, in a loan.
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/utils/IPLocator.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fastdds/dds/core/LoanableSequence.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"
#include "fastdds_types.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;
namespace dds = eprosima::fastdds::dds;

constexpr unsigned depth = 8;

bool shares_data(const Run& run) {
  if (run.way != "udp" && run.way != "shm" && run.way != "datasharing")
    throw std::runtime_error("Fast DDS carries messages by udp, shm or datasharing");
  return run.way == "datasharing";
}

void require(bool holds, const char* what) {
  if (!holds) throw std::runtime_error(std::string("Fast DDS: ") + what);
}

std::shared_ptr<eprosima::fastdds::rtps::TransportDescriptorInterface> transport_of(const Run& run) {
  if (run.way == "udp") {
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList = {"127.0.0.1"};
    udp->sendBufferSize = udp->receiveBufferSize = 64u << 20;  // the kernel takes it for the most that it grants
    return udp;
  }
  // With data sharing it carries what is said about messages.
  auto shm = std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>();
  if (!shares_data(run)) {
    const std::size_t message = std::max<std::size_t>(run.largest() + 4096, 1u << 16);
    const std::size_t segment = run.role == "publish" ? 2 * depth * message : message;
    shm->max_message_size(static_cast<std::uint32_t>(message));
    shm->segment_size(static_cast<std::uint32_t>(std::clamp<std::size_t>(segment, 1u << 20, UINT32_MAX)));
  }
  return shm;
}

std::size_t cell_of(const Run& run) {
  return std::hash<std::string>()(run.folder);
}

/// Of higher domains the ports are those that the kernel gives to anybody.
std::uint32_t domain_of(const Run& run) {
  return static_cast<std::uint32_t>(1 + cell_of(run) % 100);
}

/// Where several subscribers have their messages from one multicast: the port of their domain that is meant for it.
rtps::Locator_t group_of(const Run& run) {
  rtps::Locator_t group(LOCATOR_KIND_UDPv4, rtps::PortParameters().getMulticastPort(domain_of(run)) + 1);
  rtps::IPLocator::setIPv4(group, "239.255.0.1");
  return group;
}

/// One in a domain of the cell, and its topic.
class Participant {
 public:
  explicit Participant(const Run& run) {
    dds::DomainParticipantQos qos;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports.push_back(transport_of(run));
    participant_ = factory()->create_participant(domain_of(run), qos);
    require(participant_ != nullptr, "no participant");
    const dds::TypeSupport type(shares_data(run) ? static_cast<dds::TopicDataType*>(new Plain(run.largest())) : new Sized(run.largest()));
    require(type.register_type(participant_) == ReturnCode_t::RETCODE_OK, "no type");
    // The number keeps apart cells that happen to have the same domain.
    topic_ = participant_->create_topic(run.topic + "-" + std::to_string(cell_of(run)), type.get_type_name(), dds::TOPIC_QOS_DEFAULT);
    require(topic_ != nullptr, "no topic");
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant() {
    participant_->delete_contained_entities();
    factory()->delete_participant(participant_);
  }

  dds::DataWriter* write(const dds::DataWriterQos& qos) {
    dds::DataWriter* const writer = participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT)->create_datawriter(topic_, qos);
    require(writer != nullptr, "no writer");
    return writer;
  }
  dds::DataReader* read(const dds::DataReaderQos& qos, dds::DataReaderListener* listener) {
    dds::DataReader* const reader = participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic_, qos, listener);
    require(reader != nullptr, "no reader");
    return reader;
  }

 private:
  static dds::DomainParticipantFactory* factory() { return dds::DomainParticipantFactory::get_instance(); }

  dds::DomainParticipant* participant_;
  dds::Topic* topic_;
};

/// What a writer and a reader have in common. Fast DDS reserves memory for all of the `messages`.
template <class Qos>
Qos qos_of(const Run& run, unsigned messages) {
  Qos qos;
  qos.reliability().kind = dds::RELIABLE_RELIABILITY_QOS;
  qos.durability().kind = dds::VOLATILE_DURABILITY_QOS;
  qos.history().kind = dds::KEEP_LAST_HISTORY_QOS;
  qos.history().depth = static_cast<std::int32_t>(messages);
  auto& limits = qos.resource_limits();
  limits.max_samples = limits.max_samples_per_instance = limits.allocated_samples = static_cast<std::int32_t>(messages);
  limits.max_instances = 1;
  shares_data(run) ? qos.data_sharing().on("") : qos.data_sharing().off();
  return qos;
}

void write_copies(const Run& run, dds::DataWriter& writer) {
  Message message;
  message.data.reserve(run.largest());
  publish_all(run, [&](Header& header, Work& work) {
    work.fill(header, message.data);
    header.sent = now_ns();
    message.header = header;
    require(writer.write(&message), "not written");
  });
}

void write_loans(const Run& run, dds::DataWriter& writer) {
  publish_all(run, [&](Header& header, Work& work) {
    void* loan = nullptr;
    require(writer.loan_sample(loan) == ReturnCode_t::RETCODE_OK, "no memory for the next message");
    work.fill(header, {static_cast<std::uint8_t*>(loan) + sizeof header, header.size});
    header.sent = now_ns();
    std::memcpy(loan, &header, sizeof header);  // which is not aligned
    require(writer.write(loan), "not written");
  });
}

void publish(const Run& run) {
  Participant participant(run);
  auto qos = qos_of<dds::DataWriterQos>(run, depth);
  if (!shares_data(run)) {
    // What was lost on the way is soon known, and sent again.
    qos.reliable_writer_qos().times.heartbeatPeriod = {0, 10'000'000};
    qos.reliable_writer_qos().times.nackResponseDelay = {0, 0};
  }
  dds::DataWriter* const writer = participant.write(qos);
  connect([&] {
    dds::PublicationMatchedStatus status;
    writer->get_publication_matched_status(status);
    return status.current_count == static_cast<std::int32_t>(run.subscribers);
  });
  shares_data(run) ? write_loans(run, *writer) : write_copies(run, *writer);
}

/// Copies what came into the same memory again and again, or holds it while it is read where it lies.
class Reader final : public dds::DataReaderListener {
 public:
  Reader(const Run& run, Arrivals& arrivals) : run_(run), arrivals_(arrivals) { message_.data.resize(run.largest()); }

  void on_data_available(dds::DataReader* reader) override { take_all(*reader); }
  void take_all(dds::DataReader& reader) { shares_data(run_) ? take_loans(reader) : take_copies(reader); }

 private:
  void take_copies(dds::DataReader& reader) {
    dds::SampleInfo info;
    while (reader.take_next_sample(&message_, &info) == ReturnCode_t::RETCODE_OK) {
      if (info.valid_data) arrivals_.add(message_.header, message_.data);
    }
  }
  void take_loans(dds::DataReader& reader) {
    dds::LoanableSequence<std::uint8_t> samples;
    dds::SampleInfoSeq infos;
    while (reader.take(samples, infos, 1) == ReturnCode_t::RETCODE_OK) {
      if (infos[0].valid_data) {
        Header header;
        std::memcpy(&header, &samples[0], sizeof header);
        arrivals_.add(header, {&samples[0] + sizeof header, header.size});
      }
      reader.return_loan(samples, infos);
    }
  }

  const Run& run_;
  Arrivals& arrivals_;
  Message message_;
};

void subscribe(const Run& run, Arrivals& arrivals) {
  Reader listener(run, arrivals);
  Participant participant(run);
  // All publishers share what a reader keeps.
  auto qos = qos_of<dds::DataReaderQos>(run, depth * run.publishers);
  qos.reliable_reader_qos().times.heartbeatResponseDelay = {0, 0};
  if (run.way == "udp") qos.endpoint().multicast_locator_list.push_back(group_of(run));
  dds::DataReader* const reader = participant.read(qos, run.spins ? nullptr : &listener);
  connect([&] {
    dds::SubscriptionMatchedStatus status;
    reader->get_subscription_matched_status(status);
    return status.current_count == static_cast<std::int32_t>(run.publishers);
  });
  for (; run.spins && arrivals.more(); spin_hint()) listener.take_all(*reader);
  arrivals.wait();
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe});
}
