// Cyclone DDS by its C API, received in a listener. By the way of a run: `udp`, a message of any size over the loopback interface, in
// datagrams as large as they get; `iceoryx`, a message of a fixed size, the largest of the run, in the shared memory of iceoryx: filled in
// a loan and read in place, as the C++ API does it. RouDi runs beside then.
#include <dds/dds.h>
#include <dds/ddsc/dds_loan_api.h>
#include <dds/ddsi/ddsi_serdata.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.hpp"
#include "driver.hpp"

// Here, since Cyclone DDS has a Header, too.
namespace sinew::bench::peers {

namespace {

constexpr unsigned depth = 8;
// RouDi connects ten times a second what is new, and Cyclone DDS does not say when it has.
constexpr std::int64_t roudi_connects_ns = 500'000'000;

/// Of any size. One of fixed size has an array behind its header.
struct Message {
  Header header;
  dds_sequence_t data;
};

bool is_shared(const Run& run) {
  if (run.way != "udp" && run.way != "iceoryx") throw std::runtime_error("Cyclone DDS carries messages by udp or iceoryx");
  return run.way == "iceoryx";
}

dds_return_t checked(dds_return_t result, const char* what) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + dds_strretcode(result));
  return result;
}

/// Several subscribers have their messages from one multicast. The tag keeps apart cells that happen to have the same domain. A message may
/// be larger than what a writer by default keeps for those who have not acknowledged it, and than what it sends again at a time.
std::string settings_of(const std::string& tag, bool shared) {
  return R"(<CycloneDDS><Domain Id="any">
    <General>
      <Interfaces><NetworkInterface name="lo" multicast="true"/></Interfaces>
      <AllowMulticast>true</AllowMulticast>
      <MaxMessageSize>65500B</MaxMessageSize>
      <MaxRexmitMessageSize>65500B</MaxRexmitMessageSize>
      <FragmentSize>65000B</FragmentSize>
    </General>
    <Internal>
      <SocketReceiveBufferSize max="64MB"/>
      <SocketSendBufferSize max="64MB"/>
      <Watermarks><WhcHigh>256MB</WhcHigh></Watermarks>
      <MaxQueuedRexmitBytes>256MB</MaxQueuedRexmitBytes>
      <MaxQueuedRexmitMessages>10000</MaxQueuedRexmitMessages>
      <NackDelay>1ms</NackDelay>
    </Internal>
    <SharedMemory><Enable>)" +
         std::string(shared ? "true" : "false") + "</Enable><LogLevel>error</LogLevel></SharedMemory><Discovery><Tag>" + tag +
         "</Tag></Discovery></Domain></CycloneDDS>";
}

dds_entity_t join(const Run& run) {
  const std::size_t cell = std::hash<std::string>()(run.folder);
  setenv("CYCLONEDDS_URI", settings_of(std::to_string(cell), is_shared(run)).c_str(), 1);
  // Of higher domains the ports are those that the kernel gives to anybody.
  return checked(dds_create_participant(static_cast<dds_domainid_t>(1 + cell % 100), nullptr, nullptr), "participant");
}

/// Describes what idlc would: a struct of five numbers and a sequence of octets, or an array for the largest message of the run.
dds_entity_t topic_of(const Run& run, dds_entity_t participant) {
  const bool shared = is_shared(run);
  std::vector<std::uint32_t> operations;
  const auto add = [&](std::uint32_t type, std::uint32_t more, std::size_t offset) {
    operations.insert(operations.end(), {static_cast<std::uint32_t>(DDS_OP_ADR) | type | more, static_cast<std::uint32_t>(offset)});
  };
  add(DDS_OP_TYPE_8BY, DDS_OP_FLAG_SGN, offsetof(Header, began));
  add(DDS_OP_TYPE_8BY, DDS_OP_FLAG_SGN, offsetof(Header, sent));
  add(DDS_OP_TYPE_8BY, 0, offsetof(Header, number));
  add(DDS_OP_TYPE_8BY, 0, offsetof(Header, publisher));
  add(DDS_OP_TYPE_8BY, 0, offsetof(Header, size));
  add(shared ? DDS_OP_TYPE_ARR : DDS_OP_TYPE_SEQ, DDS_OP_SUBTYPE_1BY, offsetof(Message, data));
  if (shared) operations.push_back(static_cast<std::uint32_t>(run.largest()));
  operations.push_back(DDS_OP_RTS);

  const std::size_t size =
      shared ? (sizeof(Header) + run.largest() + alignof(Header) - 1) / alignof(Header) * alignof(Header) : sizeof(Message);
  const dds_topic_descriptor_t descriptor{.m_size = static_cast<std::uint32_t>(size),
                                          .m_align = alignof(Message),
                                          .m_flagset = shared ? DDS_TOPIC_FIXED_SIZE : 0,
                                          .m_nkeys = 0,
                                          .m_typename = "Message",
                                          .m_keys = nullptr,
                                          .m_nops = static_cast<std::uint32_t>(operations.size()),
                                          .m_ops = operations.data(),
                                          .m_meta = "",
                                          .type_information = {},
                                          .type_mapping = {},
                                          .restrict_data_representation = 0};
  return checked(dds_create_topic(participant, &descriptor, run.topic.c_str(), nullptr, nullptr), "topic");
}

dds_qos_t* qos_of(unsigned messages) {
  dds_qos_t* const qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, static_cast<std::int32_t>(messages));
  return qos;
}

void write_copies(const Run& run, dds_entity_t writer) {
  std::vector<std::uint8_t> payload(run.largest());
  Message message{
      .header = {},
      .data = {._maximum = static_cast<std::uint32_t>(payload.size()), ._length = 0, ._buffer = payload.data(), ._release = false}};
  publish_all(run, [&](Header& header, Work& work) {
    message.data._length = static_cast<std::uint32_t>(header.size);
    work.fill(header, {payload.data(), header.size});
    header.sent = now_ns();
    message.header = header;
    checked(dds_write(writer, &message), "write");
  });
}

void write_loans(const Run& run, dds_entity_t writer) {
  if (!dds_is_loan_available(writer)) throw std::runtime_error("Cyclone DDS lends no memory");
  publish_all(run, [&](Header& header, Work& work) {
    void* loan = nullptr;
    checked(dds_loan_sample(writer, &loan), "loan");
    work.fill(header, {static_cast<std::uint8_t*>(loan) + sizeof header, header.size});
    header.sent = now_ns();
    new (loan) Header(header);
    checked(dds_write(writer, loan), "write");
  });
}

/// What came by udp is copied into the same memory again and again; what lies in shared memory is read there, while this holds it.
class Reader {
 public:
  Reader(const Run& run, Arrivals& arrivals) : run_(run), arrivals_(arrivals), payload_(run.largest()) {}

  void take_all(dds_entity_t reader) { is_shared(run_) ? take_loans(reader) : take_copies(reader); }

 private:
  void take_copies(dds_entity_t reader) {
    Message message{
        .header = {},
        .data = {._maximum = static_cast<std::uint32_t>(payload_.size()), ._length = 0, ._buffer = payload_.data(), ._release = false}};
    void* into = &message;
    dds_sample_info_t info;
    while (dds_take(reader, &into, &info, 1, 1) > 0) {
      if (info.valid_data) arrivals_.add(message.header, {message.data._buffer, message.data._length});
    }
  }
  void take_loans(dds_entity_t reader) {
    ddsi_serdata* taken = nullptr;
    dds_sample_info_t info;
    while (dds_takecdr(reader, &taken, 1, &info, DDS_ANY_STATE) > 0) {
      if (info.valid_data) {
        const void* const chunk = taken->iox_chunk;
        if (chunk == nullptr) throw std::runtime_error("a message came by the network");
        const Header& header = *static_cast<const Header*>(chunk);
        arrivals_.add(header, {static_cast<const std::uint8_t*>(chunk) + sizeof header, header.size});
      }
      ddsi_serdata_unref(taken);
    }
  }

  const Run& run_;
  Arrivals& arrivals_;
  std::vector<std::uint8_t> payload_;
};

/// Says that it is connected once `matched()` others are there.
void connect_to(unsigned others, const Run& run, const std::function<unsigned()>& matched) {
  std::int64_t since = 0;
  connect([&] {
    if (matched() != others) return false;
    if (since == 0) since = now_ns();
    return !is_shared(run) || now_ns() - since > roudi_connects_ns;
  });
}

void publish(const Run& run) {
  const dds_entity_t participant = join(run);
  dds_qos_t* const qos = qos_of(depth);
  const dds_entity_t writer = checked(dds_create_writer(participant, topic_of(run, participant), qos, nullptr), "writer");
  connect_to(run.subscribers, run, [&] {
    dds_publication_matched_status_t status;
    checked(dds_get_publication_matched_status(writer, &status), "status");
    return status.current_count;
  });
  is_shared(run) ? write_loans(run, writer) : write_copies(run, writer);
  dds_delete_qos(qos);
  dds_delete(participant);
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const dds_entity_t participant = join(run);
  Reader reader(run, arrivals);
  // All publishers share what a reader keeps.
  dds_qos_t* const qos = qos_of(depth * run.publishers);
  dds_listener_t* const listener = dds_create_listener(&reader);
  if (!run.spins)
    dds_lset_data_available(listener, [](dds_entity_t entity, void* known) { static_cast<Reader*>(known)->take_all(entity); });
  const dds_entity_t entity = checked(dds_create_reader(participant, topic_of(run, participant), qos, listener), "reader");
  connect_to(run.publishers, run, [&] {
    dds_subscription_matched_status_t status;
    checked(dds_get_subscription_matched_status(entity, &status), "status");
    return status.current_count;
  });
  for (; run.spins && arrivals.more(); spin_hint()) reader.take_all(entity);
  arrivals.wait();
  dds_delete(participant);
  dds_delete_listener(listener);
  dds_delete_qos(qos);
}

}  // namespace

}  // namespace sinew::bench::peers

int main(int argc, char** argv) {
  using namespace sinew::bench::peers;
  return drive(argc, argv, {publish, subscribe});
}
