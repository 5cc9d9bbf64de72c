// The control protocol: every message between a node and the manager, and between the two ends of a pair.
//
// Normative text: spec/wire.md. A message is one SOCK_SEQPACKET packet: header (type:u32 ext:u32 id:u64, little-endian), then the
// payload of its type, fields in the order declared here; a field called `id` travels as the header's id, which is 0 in all other
// messages. Integers are little-endian; a string is u32 length and bytes (no NUL inside); a bool is one byte 0 or 1, and so is a choice of two.
// Encoding and decoding are pure functions of bytes: no system calls, no clock, and any input gives a message or a complaint.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace sinew::wire {

inline constexpr std::uint32_t protocol_version = 1;
inline constexpr std::size_t max_name = 255;         ///< bytes of a node or topic name
inline constexpr std::size_t max_type_name = 4096;   ///< bytes of a type's name
inline constexpr std::size_t max_signature = 32768;  ///< bytes of a type's signature
inline constexpr std::size_t max_container = 255;    ///< bytes of a container's name
inline constexpr std::size_t max_text = 16384;       ///< bytes of an error text; longer ones are cut by the encoder

/// Nanoseconds of a hundred years: no duration is longer, so that it can be added to the time of any clock.
inline constexpr std::int64_t max_duration = 36'525 * std::int64_t{86'400'000'000'000};

/// What a message type is, as far as strangers need it: names for people, hashes for machines.
struct TypeDescription {
  std::string name;                     ///< "robot/Image"
  std::string signature;                ///< "robot/Image{header:robot/Header{stamp_ns:uint64;...};...}", see spec/types.md
  std::array<std::uint8_t, 16> hash{};  ///< of the structure without type names; two ends connect when it is equal
  std::uint64_t layout = 0;  ///< of offsets, sizes and standard library; the native path needs it equal; 0: none, there are no objects
  friend bool operator==(const TypeDescription&, const TypeDescription&) = default;
};

/// Whether messages that were published before a subscriber came are for it too. The numbers of both kinds are the protocol's.
enum class Durability : std::uint8_t {
  volatile_ = 0,  // NOLINT(readability-identifier-naming): the word itself is taken
  transient_local = 1
};
/// Who shows that a publisher is alive: its process, or the publisher itself by what it publishes.
enum class Liveliness : std::uint8_t { automatic = 0, manual_by_topic = 1 };

/// The part of a QoS that the other end must know: what a publisher offers or a subscriber asks for. Durations are in nanoseconds; 0: none.
struct Qos {
  std::uint32_t depth = 0;  ///< keep-last depth; 0 means keep-all
  bool reliable = false;
  Durability durability = Durability::volatile_;
  std::int64_t deadline = 0;  ///< longest time between two messages
  std::int64_t lifespan = 0;  ///< of messages; a subscriber's means nothing
  Liveliness liveliness = Liveliness::automatic;
  std::int64_t lease = 0;  ///< longest time without a sign of life
  friend bool operator==(const Qos&, const Qos&) = default;
};

/// Where a window lies. A window belongs to one publisher at a time.
struct Window {
  std::uint64_t base = 0, size = 0;
  friend bool operator==(const Window&, const Window&) = default;
};

/// Whether an interface is only there as long as others are: a carrier brings messages into the domain and takes them out, an observer looks. The numbers are the protocol's.
enum class Ghost : std::uint8_t { no = 0, carrier = 1, observer = 2 };

/// How messages come from a publisher to a subscriber. The numbers are the protocol's.
enum class Path : std::uint8_t { none = 0, pointer = 1, native = 2, view = 3, copy = 4 };

// --- node to manager ---------------------------------------------------------------------------------------------------------------

/// First message of a session. Its form never changes, so that versions can be told apart.
struct RegisterNode {
  std::uint32_t version = protocol_version;
  std::string name;
};
/// `id` is the node's own and never used again by it for a publisher. `process` is a number that the process drew by lot: where both ends of a pair have the
/// same, they find each other without the manager; 0: none. `endpoint` is that of a service's client or provider, which draws it by lot for its publisher and its
/// subscriber together (spec/services.md); 0: it is no part of one. A `ghost` is only there as long as others are. `identity` is drawn by lot, too, and kept from one
/// manager to the next, as `window` is: the one that an earlier manager gave it; 0, 0: none yet. The answer is PublisherRegistered or PublisherRefused.
struct RegisterPublisher {
  std::uint64_t id = 0;
  std::string topic;
  TypeDescription type;
  Qos qos;
  std::uint64_t process = 0;
  std::uint64_t endpoint = 0;
  Ghost ghost = Ghost::no;
  std::uint64_t identity = 0;
  Window window{};
};
/// `id` is the node's own and never used again by it for a subscriber. The rest is as a publisher's. The answer is SubscriberRegistered or SubscriberRefused.
struct RegisterSubscriber {
  std::uint64_t id = 0;
  std::string topic;
  TypeDescription type;
  Qos qos;
  std::uint64_t process = 0;
  std::uint64_t endpoint = 0;
  Ghost ghost = Ghost::no;
  std::uint64_t identity = 0;
};
struct DeletePublisher {
  std::uint64_t id = 0;
};
struct DeleteSubscriber {
  std::uint64_t id = 0;
};
/// Gives a window back once: for one ConnectSubscriber, when nothing is mapped for its sake any more, or for PublisherRegistered, after
/// DeletePublisher and when no storage of that publisher lives on there. A node holds a window as often as it was given it.
struct WindowReleased {
  Window window;
};
/// The name and all interfaces are free; windows that handles still hold stay mapped until released or closed.
/// Nothing but WindowReleased and ConnectTaken may follow.
struct Goodbye {};
/// Answers ConnectPublisher or ConnectSubscriber, whatever comes of it: its descriptor is no longer in flight (S6).
struct ConnectTaken {
  std::uint64_t connection = 0;
};
/// Of the subscriber of this introduction: messages come another way than Path::native, or do not come at all, and `why`. May be said again when it changes.
struct PathChosen {
  std::uint64_t connection = 0;
  Path path = Path::none;
  std::string why;
};
/// Publisher `id` has so many bytes of shared memory mapped.
struct MemoryMapped {
  std::uint64_t id = 0;
  std::uint64_t bytes = 0;
};
/// The node wants to know what there is in the domain, from now until UnwatchDomain, in batches. `id` is its own and never used again by it for this. `counters`: and where the others count.
struct WatchDomain {
  std::uint64_t id = 0;
  bool counters = false;
};
struct UnwatchDomain {
  std::uint64_t id = 0;
};
/// Answers DomainBatch of watch `id`: the next one may come.
struct DomainTaken {
  std::uint64_t id = 0;
};

/// The node counts in this file, from now on until it goes. Descriptor: a memfd of `size` bytes (shm/counters.hpp).
struct Counters {
  std::uint32_t size = 0;
};
/// The session of the node of this name is to end, so that it registers anew, as if its manager had died. Of the sender's own user, unless that is the manager's, or root. Nobody answers.
struct DisconnectNode {
  std::string name;
};

// --- manager to node ---------------------------------------------------------------------------------------------------------------

struct NodeRegistered {
  std::uint64_t range_base = 0, window_size = 0, window_count = 0;
};
/// `kind` is an ErrorKind. The connection ends. Its form never changes.
struct NodeRefused {
  std::uint32_t kind = 0;
  std::string text;
};
struct PublisherRegistered {
  std::uint64_t id = 0;
  Window window;
};
/// To a transient-local subscriber `histories` transient-local publishers will be introduced that were there before it; to others it is 0.
struct SubscriberRegistered {
  std::uint64_t id = 0;
  std::uint32_t histories = 0;
};
struct PublisherRefused {
  std::uint64_t id = 0;
  std::uint32_t kind = 0;
  std::string text;
};
struct SubscriberRefused {
  std::uint64_t id = 0;
  std::uint32_t kind = 0;
  std::string text;
};
/// Introduces a subscriber to the publisher `id`. Descriptor: one end of a new socket pair. `peer` is the name of the subscriber's
/// node, `qos` what the subscriber asks for, `endpoint` whose part it is, `same_user` the manager's verdict on the peer (F8).
struct ConnectPublisher {
  std::uint64_t id = 0;
  std::uint64_t connection = 0;
  std::string peer;
  bool same_user = false;
  bool same_layout = false;
  Qos qos;
  std::uint64_t endpoint = 0;
};
/// Introduces a publisher to the subscriber `id`. Descriptor: the other end of that pair. `qos` is what the publisher offers,
/// `window` where its chunks will lie. Of a publisher whose `identity` it is connected to already, by another manager, the node wants no second pair.
struct ConnectSubscriber {
  std::uint64_t id = 0;
  std::uint64_t connection = 0;
  std::string peer;
  bool same_user = false;
  bool same_layout = false;
  Qos qos;
  Window window;
  std::uint64_t endpoint = 0;
  std::uint64_t identity = 0;
};
/// Instead of an introduction: the publisher offers less than the subscriber asks for (wire/compatibility.hpp). `id` is the receiver's own publisher or,
/// where `you_publish` is false, subscriber; `peer` the name of the other one's node, `qos` what that one offers or asks for, `identity` its own.
struct Incompatible {
  std::uint64_t id = 0;
  bool you_publish = false;
  std::string peer;
  Qos qos;
  std::uint64_t identity = 0;
};
/// The topic of a ghost is gone: `id`, the receiver's own publisher or, where `you_publish` is false, subscriber, is on no topic any more, until the node deletes it.
struct Detached {
  std::uint64_t id = 0;
  bool you_publish = false;
};

// Of a batch for watch `id`. Nodes, topics, interfaces and files of counters have numbers, which are never used again.

/// There is this node, or it has changed. `container`: in which its process runs, as far as the manager can tell; empty: none, or the manager's.
struct DomainNode {
  std::uint64_t id = 0;
  std::uint64_t number = 0;
  std::string name;
  std::int64_t pid = 0;
  std::uint32_t uid = 0, gid = 0;
  std::string container;
};
struct DomainTopic {
  std::uint64_t id = 0;
  std::uint64_t number = 0;
  std::string name;
  TypeDescription type;
};
/// A publisher or a subscriber. `topic` 0: it is a ghost whose topic is gone. `memory` as in MemoryMapped, `identity` as in RegisterPublisher: by it counters name what they are about.
struct DomainInterface {
  std::uint64_t id = 0;
  std::uint64_t number = 0, node = 0, topic = 0;
  bool publishes = false;
  Ghost ghost = Ghost::no;
  Qos qos;
  std::uint64_t memory = 0;
  std::uint64_t identity = 0;
};
/// A publisher and a subscriber of one topic, by their numbers. It goes with either.
struct DomainPair {
  std::uint64_t id = 0;
  std::uint64_t publisher = 0, subscriber = 0;
  Path path = Path::none;
  std::string why;  ///< not Path::native, nor Path::pointer
};
/// The node, topic, interface or file of counters of this number is gone, if the watch was told of it at all. `lost`: it is a node, whose session ended without Goodbye.
struct DomainGone {
  std::uint64_t id = 0;
  std::uint64_t number = 0;
  bool lost = false;
};
/// To watches with `counters`: node number `node` counts in this file, as it said by Counters. Descriptor: the file. At most two in a batch.
struct DomainCounters {
  std::uint64_t id = 0;
  std::uint64_t number = 0, node = 0;
  std::uint32_t size = 0;
};
/// The end of a batch; the next one comes after DomainTaken. `complete`: with this, all that there is has been told.
struct DomainBatch {
  std::uint64_t id = 0;
  bool complete = false;
};

// --- subscriber to publisher, on the pair ------------------------------------------------------------------------------------------

/// First message. Descriptors: the bell page (memfd of `size` bytes, the word at `offset`) and an eventfd, in this order.
struct Doorbell {
  std::uint32_t size = 0, offset = 0;
};
/// Descriptor: the ack page (memfd of `size` bytes).
struct Attach {
  std::uint32_t size = 0;
};
/// Answers Chunk: its descriptor is no longer in flight.
struct ChunkMapped {
  std::uint64_t id = 0;
};
/// Answers ChunkWithdrawn: nothing of it is mapped here.
struct ChunkUnmapped {
  std::uint64_t id = 0;
};
/// Nothing more will be claimed; what is claimed stays claimed until released.
struct Unsubscribe {};
/// This subscriber does not read messages in place: from now on, and for what it has yet to take, it needs their pieces. Once, after DoorbellTaken.
struct ReadsPieces {};

/// Instead of Doorbell and Attach, to a publisher of another user: what it exports is wanted.
struct AttachForeign {};
/// Answers News: the next one may come.
struct NewsTaken {};
/// From a service's client to its provider: nobody waits for the answer to call `id` any more.
struct CancelCall {
  std::uint64_t id = 0;
};

// --- publisher to subscriber, on the pair ------------------------------------------------------------------------------------------

/// Answers Doorbell: its descriptors are no longer in flight.
struct DoorbellTaken {};
/// Answers Attach. Descriptor: the ring (memfd of `size` bytes). Frames from sequence `start` on are for this subscriber, which may hold so many bytes of them as `quota`
/// says, or one frame that is larger. Between users nothing is held, and it is 0.
struct Ring {
  std::uint32_t size = 0;
  std::uint64_t start = 0;
  std::uint64_t quota = 0;
};
/// Descriptor: the chunk's memfd. At most one Chunk is unanswered per pair.
struct Chunk {
  std::uint64_t id = 0, address = 0, size = 0;
};
struct ChunkWithdrawn {
  std::uint64_t id = 0;
};
/// Before DoorbellTaken, on reliable keep-all pairs only. Descriptor: an eventfd that the subscriber rings when a blocked publisher waits.
struct Space {};
/// To subscribers of another user, who have no doorbell: there are new frames. At most one is unanswered per pair.
struct News {};

// --- anyone ------------------------------------------------------------------------------------------------------------------------

/// Why the sender ends this connection; it does so next. `kind` is an ErrorKind. Its form never changes.
struct ErrorText {
  std::uint32_t kind = 0;
  std::string text;
};

using Message =
    std::variant<RegisterNode, RegisterPublisher, RegisterSubscriber, DeletePublisher, DeleteSubscriber, WindowReleased, Goodbye,
                 ConnectTaken, PathChosen, MemoryMapped, WatchDomain, UnwatchDomain, DomainTaken, Counters, DisconnectNode, NodeRegistered,
                 NodeRefused, PublisherRegistered, SubscriberRegistered, PublisherRefused, SubscriberRefused, ConnectPublisher,
                 ConnectSubscriber, Incompatible, Detached, DomainNode, DomainTopic, DomainInterface, DomainPair, DomainGone,
                 DomainCounters, DomainBatch, Doorbell, Attach, ChunkMapped, ChunkUnmapped, Unsubscribe, ReadsPieces, AttachForeign,
                 NewsTaken, CancelCall, DoorbellTaken, Ring, Chunk, ChunkWithdrawn, Space, News, ErrorText>;

/// How many descriptors a message of this kind carries; more or fewer is a violation.
std::size_t descriptors_of(const Message& message) noexcept;
/// "RegisterPublisher", for texts.
const char* name_of(const Message& message) noexcept;

/// The packet of a message. A `text` longer than max_text is cut between two characters. Throws Error(invalid_argument), naming the field, when
/// another string is longer than its limit, any string contains a NUL, or a duration or choice is out of range: such a packet would be refused.
std::vector<std::byte> encode(const Message& message);

/// What is wrong with a packet, as a sentence without the sender's name.
struct Complaint {
  std::string text;
};
/// Never throws but for std::bad_alloc; allocates no more than the packet is long.
std::variant<Message, Complaint> decode(std::span<const std::byte> packet);

}  // namespace sinew::wire
