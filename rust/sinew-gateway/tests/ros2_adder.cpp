// A program of Fast DDS alone, for the tests of the bridge to ROS 2: it has the service `add` of example_interfaces/srv/AddTwoInts as rmw_fastrtps has services.
//   ros2_adder DOMAIN_ID serve                  answers calls until there is nothing more to read on standard input
//   ros2_adder DOMAIN_ID call CLIENTS NUMBERS   calls it so many times with each of several clients, and says how often the answer was right, and how often it was not
// Which call a reply belongs to is told beside it: the number of the request, and who asked. That is the reader of the replies, where the request says who that is, and else, as it was in Foxy at first,
// the writer of the request; every other client is such an old one.
#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastdds/rtps/common/WriteParams.h>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace dds = eprosima::fastdds::dds;
namespace rtps = eprosima::fastrtps::rtps;
using Cdr = eprosima::fastcdr::Cdr;
using std::chrono::seconds;

/// Of services, by default: more than so many that wait, and some are lost.
constexpr int depth = 10;

template <class Pointer>
Pointer made(Pointer pointer, const char* what) {
  if (pointer == nullptr) throw std::runtime_error(std::string("no ") + what);
  return pointer;
}

using Request = std::array<std::int64_t, 2>;
using Response = std::array<std::int64_t, 1>;

/// Integers of 64 bits, by Fast CDR.
template <class Message>
class Type final : public dds::TopicDataType {
 public:
  explicit Type(const std::string& name) {
    setName(name.c_str());
    m_typeSize = size;
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
  bool serialize(void* data, rtps::SerializedPayload_t* payload) override {
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->max_size);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    payload->encapsulation = cdr.endianness() == Cdr::BIG_ENDIANNESS ? CDR_BE : CDR_LE;
    cdr.serialize_encapsulation();
    for (const std::int64_t number : *static_cast<const Message*>(data)) cdr << number;
    payload->length = static_cast<std::uint32_t>(cdr.getSerializedDataLength());
    return true;
  }
  bool deserialize(rtps::SerializedPayload_t* payload, void* data) override {
    if (payload->length < size) return false;
    eprosima::fastcdr::FastBuffer buffer(reinterpret_cast<char*>(payload->data), payload->length);
    Cdr cdr(buffer, Cdr::DEFAULT_ENDIAN, Cdr::DDS_CDR);
    cdr.read_encapsulation();
    for (std::int64_t& number : *static_cast<Message*>(data)) cdr >> number;
    return true;
  }
  std::function<std::uint32_t()> getSerializedSizeProvider(void*) override {
    return [] { return size; };
  }
  bool getKey(void*, rtps::InstanceHandle_t*, bool) override { return false; }
  void* createData() override { return new Message; }
  void deleteData(void* data) override { delete static_cast<Message*>(data); }

 private:
  static constexpr std::uint32_t size = 4 + 8 * std::tuple_size_v<Message>;
};

/// With the topics of the service, on the loopback interface.
class Participant {
 public:
  explicit Participant(std::uint32_t domain) {
    auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();
    udp->interfaceWhiteList = {"127.0.0.1"};
    dds::DomainParticipantQos qos;
    qos.transport().use_builtin_transports = false;
    qos.transport().user_transports = {udp, std::make_shared<eprosima::fastdds::rtps::SharedMemTransportDescriptor>()};
    participant_ = made(factory().create_participant(domain, qos), "participant");
    requests = topic<Request>("rq/addRequest", "example_interfaces::srv::dds_::AddTwoInts_Request_");
    replies = topic<Response>("rr/addReply", "example_interfaces::srv::dds_::AddTwoInts_Response_");
    publisher_ = made(participant_->create_publisher(dds::PUBLISHER_QOS_DEFAULT), "publisher");
    subscriber_ = made(participant_->create_subscriber(dds::SUBSCRIBER_QOS_DEFAULT), "subscriber");
  }
  Participant(const Participant&) = delete;
  Participant& operator=(const Participant&) = delete;
  ~Participant() {
    participant_->delete_contained_entities();
    factory().delete_participant(participant_);
  }

  dds::DataWriter* write(dds::Topic* topic, dds::DataWriterListener* listener) {
    return made(publisher_->create_datawriter(topic, qos_of<dds::DataWriterQos>(), listener), "writer");
  }
  dds::DataReader* read(dds::Topic* topic, dds::DataReaderListener* listener) {
    return made(subscriber_->create_datareader(topic, qos_of<dds::DataReaderQos>(), listener), "reader");
  }

  dds::Topic *requests, *replies;

 private:
  static dds::DomainParticipantFactory& factory() { return *dds::DomainParticipantFactory::get_instance(); }

  template <class Message>
  dds::Topic* topic(const char* name, const char* type) {
    if (dds::TypeSupport(new Type<Message>(type)).register_type(participant_) != ReturnCode_t::RETCODE_OK)
      throw std::runtime_error("no type");
    return made(participant_->create_topic(name, type, dds::TOPIC_QOS_DEFAULT), "topic");
  }
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
  dds::Publisher* publisher_;
  dds::Subscriber* subscriber_;
};

/// Readers that a writer is connected with.
class Connected final : public dds::DataWriterListener {
 public:
  void on_publication_matched(dds::DataWriter*, const dds::PublicationMatchedStatus& status) override {
    const rtps::GUID_t reader = rtps::iHandle2GUID(status.last_subscription_handle);
    const std::lock_guard lock(mutex_);
    status.current_count_change > 0 ? void(readers_.insert(reader)) : void(readers_.erase(reader));
    changed_.notify_all();
  }
  /// What is written before that does not reach it.
  bool wait_for(const rtps::GUID_t& reader) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, seconds(1), [&] { return readers_.contains(reader); });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<rtps::GUID_t> readers_;
};

class Server final : dds::DataReaderListener {
 public:
  explicit Server(std::uint32_t domain)
      : participant_(domain),
        writer_(participant_.write(participant_.replies, &connected_)),
        reader_(participant_.read(participant_.requests, this)) {
    answering_ = std::jthread([this](const std::stop_token& stop) { answer_all(stop); });
  }
  ~Server() override { reader_->set_listener(nullptr); }

 private:
  struct Call {
    Request request;
    rtps::SampleIdentity identity;
    bool is_of_reader;
  };

  void on_data_available(dds::DataReader* reader) override {
    Call call{};
    dds::SampleInfo info;
    while (reader->take_next_sample(&call.request, &info) == ReturnCode_t::RETCODE_OK) {
      if (!info.valid_data) continue;
      call.identity = info.sample_identity;
      const rtps::GUID_t& asking = info.related_sample_identity.writer_guid();
      call.is_of_reader = asking != rtps::GUID_t::unknown();
      if (call.is_of_reader) call.identity.writer_guid(asking);
      const std::lock_guard lock(mutex_);
      calls_.push_back(call);
      come_.notify_one();
    }
  }
  // Not in the listener: it waits for what discovery tells.
  void answer_all(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (come_.wait(lock, stop, [&] { return !calls_.empty(); })) {
      const Call call = calls_.front();
      calls_.pop_front();
      lock.unlock();
      answer(call);
      lock.lock();
    }
  }
  void answer(const Call& call) {
    if (call.is_of_reader && !connected_.wait_for(call.identity.writer_guid())) {
      std::fprintf(stderr, "ros2_adder: a client has no reader for its reply\n");
      return;
    }
    Response response{call.request[0] + call.request[1]};
    rtps::WriteParams params;
    params.related_sample_identity(call.identity);
    if (!writer_->write(&response, params)) std::fprintf(stderr, "ros2_adder: a reply is not written\n");
  }

  std::mutex mutex_;
  std::condition_variable_any come_;
  std::deque<Call> calls_;
  Connected connected_;
  Participant participant_;
  dds::DataWriter* writer_;
  dds::DataReader* reader_;
  std::jthread answering_;  // first to end
};

class Client final : dds::DataReaderListener {
 public:
  Client(Participant& participant, bool is_old)
      : reader_(participant.read(participant.replies, this)), writer_(participant.write(participant.requests, nullptr)), is_old_(is_old) {}
  ~Client() override { reader_->set_listener(nullptr); }

  bool is_connected() {
    dds::PublicationMatchedStatus writes;
    dds::SubscriptionMatchedStatus reads;
    writer_->get_publication_matched_status(writes);
    reader_->get_subscription_matched_status(reads);
    return writes.current_count > 0 && reads.current_count > 0;
  }
  /// Waits until there is room for one more that is not answered.
  void call(std::int64_t a, std::int64_t b) {
    std::unique_lock lock(mutex_);
    wait(lock, depth - 1);
    rtps::WriteParams params;
    if (!is_old_) params.related_sample_identity().writer_guid(reader_->guid());
    Request request{a, b};
    // The reply may be there first, but it waits for the lock.
    if (!writer_->write(&request, params)) throw std::runtime_error("a request is not written");
    expected_[params.sample_identity().sequence_number().to64long()] = a + b;
  }
  void wait_for_all() {
    std::unique_lock lock(mutex_);
    wait(lock, 0);
  }

  unsigned right = 0, wrong = 0;

 private:
  void wait(std::unique_lock<std::mutex>& lock, std::size_t most) {
    if (!answered_.wait_for(lock, seconds(20), [&] { return expected_.size() <= most; }))
      throw std::runtime_error("a call is not answered");
  }
  void on_data_available(dds::DataReader* reader) override {
    Response response{};
    dds::SampleInfo info;
    while (reader->take_next_sample(&response, &info) == ReturnCode_t::RETCODE_OK) {
      const rtps::SampleIdentity& call = info.related_sample_identity;
      // All clients read all replies.
      if (!info.valid_data || (call.writer_guid() != reader_->guid() && call.writer_guid() != writer_->guid())) continue;
      const std::lock_guard lock(mutex_);
      const auto found = expected_.find(call.sequence_number().to64long());
      found != expected_.end() && found->second == response[0] ? ++right : ++wrong;
      if (found != expected_.end()) expected_.erase(found);
      answered_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<std::uint64_t, std::int64_t> expected_;  // by the numbers of the requests
  dds::DataReader* reader_;
  dds::DataWriter* writer_;
  bool is_old_;
};

void serve(std::uint32_t domain) {
  const Server server(domain);
  while (std::getchar() != EOF) {
  }
}

void call(std::uint32_t domain, int clients, int numbers) {
  Participant participant(domain);
  std::vector<std::unique_ptr<Client>> all;
  for (int at = 0; at < clients; ++at) all.push_back(std::make_unique<Client>(participant, at % 2 == 1));
  for (const auto& client : all) {
    while (!client->is_connected()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  for (int number = 0; number < numbers; ++number) {
    for (int at = 0; at < clients; ++at) all[at]->call(1'000'000 * at, number);
  }
  unsigned right = 0, wrong = 0;
  for (const auto& client : all) {
    client->wait_for_all();
    right += client->right;
    wrong += client->wrong;
  }
  std::printf("%u right, %u wrong\n", right, wrong);
  std::fflush(stdout);  // what comes behind does not matter any more
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> asked(argv + 1, argv + argc);
  try {
    if (asked.size() == 2 && asked[1] == "serve") return serve(std::stoul(asked[0])), 0;
    if (asked.size() == 4 && asked[1] == "call") return call(std::stoul(asked[0]), std::stoi(asked[2]), std::stoi(asked[3])), 0;
    std::fprintf(stderr, "usage: ros2_adder DOMAIN_ID serve | ros2_adder DOMAIN_ID call CLIENTS NUMBERS\n");
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ros2_adder: %s\n", error.what());
    return 1;
  }
}
