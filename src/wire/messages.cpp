#include "wire/messages.hpp"

#include <concepts>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/cut.hpp"
#include "sinew/error.hpp"

namespace sinew::wire {
namespace {

constexpr std::size_t header_size = 16;
// For the fields that follow a string: without it the first of them would double what a packet takes as long as it waits.
constexpr std::size_t room_behind = 128;

template <class T, class Of>
concept Like = std::same_as<std::remove_const_t<T>, Of>;
template <class T>
concept Choice = std::is_enum_v<T>;

// What the header says of each kind. The numbers are the protocol's: one that was ever released is never changed or used again. Each
// direction has room to grow.
template <class M>
struct Traits;
#define SINEW_WIRE_KIND(KIND, NUMBER, DESCRIPTORS)          \
  template <>                                               \
  struct Traits<KIND> {                                     \
    static constexpr std::uint32_t number = NUMBER;         \
    static constexpr std::size_t descriptors = DESCRIPTORS; \
    static constexpr const char* name = #KIND;              \
  }
SINEW_WIRE_KIND(RegisterNode, 1, 0);
SINEW_WIRE_KIND(RegisterPublisher, 2, 0);
SINEW_WIRE_KIND(RegisterSubscriber, 3, 0);
SINEW_WIRE_KIND(DeletePublisher, 4, 0);
SINEW_WIRE_KIND(DeleteSubscriber, 5, 0);
SINEW_WIRE_KIND(WindowReleased, 6, 0);
SINEW_WIRE_KIND(Goodbye, 7, 0);
SINEW_WIRE_KIND(ConnectTaken, 8, 0);
SINEW_WIRE_KIND(PathChosen, 9, 0);
SINEW_WIRE_KIND(MemoryMapped, 10, 0);
SINEW_WIRE_KIND(WatchDomain, 11, 0);
SINEW_WIRE_KIND(UnwatchDomain, 12, 0);
SINEW_WIRE_KIND(DomainTaken, 13, 0);
SINEW_WIRE_KIND(Counters, 14, 1);
SINEW_WIRE_KIND(DisconnectNode, 15, 0);
SINEW_WIRE_KIND(NodeRegistered, 33, 0);
SINEW_WIRE_KIND(NodeRefused, 34, 0);
SINEW_WIRE_KIND(PublisherRegistered, 35, 0);
SINEW_WIRE_KIND(SubscriberRegistered, 36, 0);
SINEW_WIRE_KIND(PublisherRefused, 37, 0);
SINEW_WIRE_KIND(SubscriberRefused, 38, 0);
SINEW_WIRE_KIND(ConnectPublisher, 39, 1);
SINEW_WIRE_KIND(ConnectSubscriber, 40, 1);
SINEW_WIRE_KIND(Incompatible, 41, 0);
SINEW_WIRE_KIND(Detached, 42, 0);
SINEW_WIRE_KIND(DomainNode, 43, 0);
SINEW_WIRE_KIND(DomainTopic, 44, 0);
SINEW_WIRE_KIND(DomainInterface, 45, 0);
SINEW_WIRE_KIND(DomainPair, 46, 0);
SINEW_WIRE_KIND(DomainGone, 47, 0);
SINEW_WIRE_KIND(DomainBatch, 48, 0);
SINEW_WIRE_KIND(DomainCounters, 49, 1);
SINEW_WIRE_KIND(Doorbell, 65, 2);
SINEW_WIRE_KIND(Attach, 66, 1);
SINEW_WIRE_KIND(ChunkMapped, 67, 0);
SINEW_WIRE_KIND(ChunkUnmapped, 68, 0);
SINEW_WIRE_KIND(Unsubscribe, 69, 0);
SINEW_WIRE_KIND(ReadsPieces, 70, 0);
SINEW_WIRE_KIND(AttachForeign, 71, 0);
SINEW_WIRE_KIND(NewsTaken, 72, 0);
SINEW_WIRE_KIND(CancelCall, 73, 0);
SINEW_WIRE_KIND(DoorbellTaken, 97, 0);
SINEW_WIRE_KIND(Ring, 98, 1);
SINEW_WIRE_KIND(Chunk, 99, 1);
SINEW_WIRE_KIND(ChunkWithdrawn, 100, 0);
SINEW_WIRE_KIND(Space, 101, 1);
SINEW_WIRE_KIND(News, 102, 0);
SINEW_WIRE_KIND(ErrorText, 129, 0);
#undef SINEW_WIRE_KIND

// The payload of each kind, for reading and writing alike. What `at` is called with, in which order, is the format.
void fields(auto& at, Like<TypeDescription> auto& m) {
  at("type.name", m.name, max_type_name);
  at("type.signature", m.signature, max_signature);
  at("type.hash", m.hash);
  at("type.layout", m.layout);
}
void fields(auto& at, Like<Qos> auto& m) {
  at("qos.depth", m.depth);
  at("qos.reliable", m.reliable);
  at("qos.durability", m.durability, Durability::transient_local);
  at.duration("qos.deadline", m.deadline);
  at.duration("qos.lifespan", m.lifespan);
  at("qos.liveliness", m.liveliness, Liveliness::manual_by_topic);
  at.duration("qos.lease", m.lease);
}
void fields(auto& at, Like<Window> auto& m) {
  at("window.base", m.base);
  at("window.size", m.size);
}
void fields(auto& at, Like<RegisterNode> auto& m) {
  at("version", m.version);
  at("name", m.name, max_name);
}
template <class M>
  requires Like<M, RegisterPublisher> || Like<M, RegisterSubscriber>
void fields(auto& at, M& m) {
  at("topic", m.topic, max_name);
  fields(at, m.type);
  fields(at, m.qos);
  at("process", m.process);
  at("endpoint", m.endpoint);
  at("ghost", m.ghost, Ghost::observer);
  at("identity", m.identity);
  if constexpr (Like<M, RegisterPublisher>) fields(at, m.window);
}
void fields(auto& at, Like<ConnectTaken> auto& m) {
  at("connection", m.connection);
}
void fields(auto& at, Like<PathChosen> auto& m) {
  at("connection", m.connection);
  at("path", m.path, Path::copy);
  at.text("why", m.why);
}
void fields(auto& at, Like<MemoryMapped> auto& m) {
  at("bytes", m.bytes);
}
void fields(auto& at, Like<WatchDomain> auto& m) {
  at("counters", m.counters);
}
void fields(auto& at, Like<Counters> auto& m) {
  at("size", m.size);
}
void fields(auto& at, Like<DisconnectNode> auto& m) {
  at("name", m.name, max_name);
}
void fields(auto& at, Like<NodeRegistered> auto& m) {
  at("range_base", m.range_base);
  at("window_size", m.window_size);
  at("window_count", m.window_count);
}
template <class M>
  requires Like<M, PublisherRegistered> || Like<M, WindowReleased>
void fields(auto& at, M& m) {
  fields(at, m.window);
}
template <class M>
  requires Like<M, NodeRefused> || Like<M, PublisherRefused> || Like<M, SubscriberRefused> || Like<M, ErrorText>
void fields(auto& at, M& m) {
  at("kind", m.kind);
  at.text("text", m.text);
}
template <class M>
  requires Like<M, ConnectPublisher> || Like<M, ConnectSubscriber>
void fields(auto& at, M& m) {
  at("connection", m.connection);
  at("peer", m.peer, max_name);
  at("same_user", m.same_user);
  at("same_layout", m.same_layout);
  fields(at, m.qos);
  if constexpr (Like<M, ConnectSubscriber>) fields(at, m.window);
  at("endpoint", m.endpoint);
  if constexpr (Like<M, ConnectSubscriber>) at("identity", m.identity);
}
void fields(auto& at, Like<Incompatible> auto& m) {
  at("you_publish", m.you_publish);
  at("peer", m.peer, max_name);
  fields(at, m.qos);
  at("identity", m.identity);
}
void fields(auto& at, Like<Detached> auto& m) {
  at("you_publish", m.you_publish);
}
void fields(auto& at, Like<DomainNode> auto& m) {
  at("number", m.number);
  at("name", m.name, max_name);
  at("pid", m.pid);
  at("uid", m.uid);
  at("gid", m.gid);
  at("container", m.container, max_container);
}
void fields(auto& at, Like<DomainTopic> auto& m) {
  at("number", m.number);
  at("name", m.name, max_name);
  fields(at, m.type);
}
void fields(auto& at, Like<DomainInterface> auto& m) {
  at("number", m.number);
  at("node", m.node);
  at("topic", m.topic);
  at("publishes", m.publishes);
  at("ghost", m.ghost, Ghost::observer);
  fields(at, m.qos);
  at("memory", m.memory);
  at("identity", m.identity);
}
void fields(auto& at, Like<DomainPair> auto& m) {
  at("publisher", m.publisher);
  at("subscriber", m.subscriber);
  at("path", m.path, Path::copy);
  at.text("why", m.why);
}
void fields(auto& at, Like<DomainGone> auto& m) {
  at("number", m.number);
  at("lost", m.lost);
}
void fields(auto& at, Like<DomainCounters> auto& m) {
  at("number", m.number);
  at("node", m.node);
  at("size", m.size);
}
void fields(auto& at, Like<DomainBatch> auto& m) {
  at("complete", m.complete);
}
void fields(auto& at, Like<Doorbell> auto& m) {
  at("size", m.size);
  at("offset", m.offset);
}
void fields(auto& at, Like<Attach> auto& m) {
  at("size", m.size);
}
void fields(auto& at, Like<SubscriberRegistered> auto& m) {
  at("histories", m.histories);
}
void fields(auto& at, Like<Ring> auto& m) {
  at("size", m.size);
  at("start", m.start);
  at("quota", m.quota);
}
void fields(auto& at, Like<Chunk> auto& m) {
  at("address", m.address);
  at("size", m.size);
}
template <class M>
concept HasId = requires(M m) { m.id; };
// Kinds that are all header.
template <class M>
  requires Like<M, DeletePublisher> || Like<M, DeleteSubscriber> || Like<M, Goodbye> || Like<M, ChunkMapped> || Like<M, ChunkUnmapped> ||
           Like<M, Unsubscribe> || Like<M, ReadsPieces> || Like<M, AttachForeign> || Like<M, NewsTaken> || Like<M, CancelCall> ||
           Like<M, UnwatchDomain> || Like<M, DomainTaken> || Like<M, News> || Like<M, DoorbellTaken> || Like<M, ChunkWithdrawn> ||
           Like<M, Space>
void fields(auto&, M&) {}

class Writer {
 public:
  explicit Writer(const char* message) : message_(message) {}

  template <std::integral I>
  void operator()(const char*, I value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(I); ++i) bytes.push_back(static_cast<std::byte>(bits >> (8 * i)));
  }
  void operator()(const char*, const std::array<std::uint8_t, 16>& hash) {
    for (const std::uint8_t byte : hash) bytes.push_back(std::byte{byte});
  }
  template <Choice C>
  void operator()(const char* field, C choice, C last) {
    if (choice > last) refuse(field, "is none of those that there are");
    (*this)(field, static_cast<std::uint8_t>(choice));
  }
  void duration(const char* field, std::int64_t nanoseconds) {
    if (nanoseconds < 0 || nanoseconds > max_duration)
      refuse(field, "is " + std::to_string(nanoseconds) + " ns, not 0 to " + std::to_string(max_duration));
    (*this)(field, nanoseconds);
  }
  void operator()(const char* field, std::string_view string, std::size_t limit) {
    if (string.size() > limit)
      refuse(field, "is " + std::to_string(string.size()) + " bytes long; at most " + std::to_string(limit) + " are allowed");
    if (string.find('\0') != std::string_view::npos) refuse(field, "contains a NUL character");
    (*this)(field, static_cast<std::uint32_t>(string.size()));
    const auto characters = std::as_bytes(std::span(string));
    bytes.reserve(bytes.size() + characters.size() + room_behind);
    bytes.insert(bytes.end(), characters.begin(), characters.end());
  }
  void text(const char* field, std::string_view text) { (*this)(field, base::cut(text, max_text), max_text); }

  std::vector<std::byte> bytes;

 private:
  [[noreturn]] void refuse(const char* field, const std::string& what) const {
    throw Error(ErrorKind::invalid_argument, std::string(message_) + " cannot be sent: its " + field + " " + what + ".");
  }

  const char* message_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <std::integral I>
  void operator()(const char* field, I& value) {
    std::uint64_t bits = 0;
    const auto raw = take(field, sizeof(I));
    for (std::size_t i = 0; i < raw.size(); ++i) bits |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
    value = static_cast<I>(bits);
  }
  void operator()(const char* field, bool& value) {
    std::uint8_t byte = 0;
    (*this)(field, byte);
    if (byte > 1) complain(field, "is a truth value of " + std::to_string(byte) + ", neither 0 nor 1");
    value = byte == 1;
  }
  template <Choice C>
  void operator()(const char* field, C& choice, C last) {
    std::uint8_t byte = 0;
    (*this)(field, byte);
    if (byte > static_cast<std::uint8_t>(last)) complain(field, "is a choice of " + std::to_string(byte) + ", which does not exist");
    choice = static_cast<C>(byte);
  }
  void duration(const char* field, std::int64_t& nanoseconds) {
    (*this)(field, nanoseconds);
    if (nanoseconds < 0 || nanoseconds > max_duration)
      complain(field, "is a duration of " + std::to_string(nanoseconds) + " ns, not 0 to " + std::to_string(max_duration));
  }
  void operator()(const char* field, std::array<std::uint8_t, 16>& hash) {
    const auto raw = take(field, hash.size());
    for (std::size_t i = 0; i < raw.size(); ++i) hash[i] = std::to_integer<std::uint8_t>(raw[i]);
  }
  void operator()(const char* field, std::string& string, std::size_t limit) {
    std::uint32_t size = 0;
    (*this)(field, size);
    if (size > limit)
      return complain(field, "is announced with " + std::to_string(size) + " bytes; at most " + std::to_string(limit) + " are allowed");
    const auto raw = take(field, size);
    string.assign(reinterpret_cast<const char*>(raw.data()), raw.size());
    if (string.find('\0') != std::string::npos) complain(field, "contains a NUL");
  }
  void text(const char* field, std::string& text) { (*this)(field, text, max_text); }

  std::size_t left() const { return bytes_.size(); }
  const std::optional<std::string>& complaint() const { return complaint_; }
  void complain(const char* field, const std::string& what) {
    if (!complaint_) complaint_ = std::string("its ") + field + " " + what;  // the first is the cause of the others
    bytes_ = {};
  }

 private:
  /// The next `size` bytes, or none of them and a complaint.
  std::span<const std::byte> take(const char* field, std::size_t size) {
    if (complaint_) return {};
    if (bytes_.size() < size) {
      complain(field, "needs " + std::to_string(size) + " bytes where " + std::to_string(bytes_.size()) + " are left");
      return {};
    }
    const auto taken = bytes_.first(size);
    bytes_ = bytes_.subspan(size);
    return taken;
  }

  std::span<const std::byte> bytes_;
  std::optional<std::string> complaint_;
};

template <class M>
std::variant<Message, Complaint> decode_as(Reader& at, std::uint64_t id) {
  M message;
  if constexpr (HasId<M>) {
    message.id = id;
  } else if (id != 0) {
    at.complain("header", "has the id " + std::to_string(id) + " where this kind has none");
  }
  fields(at, message);
  if (at.complaint()) return Complaint{std::string("message ") + Traits<M>::name + " is malformed: " + *at.complaint() + "."};
  if (at.left() != 0)
    return Complaint{std::string("message ") + Traits<M>::name + " has " + std::to_string(at.left()) + " bytes too many."};
  return Message(std::move(message));
}

template <std::size_t... Index>
std::variant<Message, Complaint> decode_type(std::uint32_t type, Reader& at, std::uint64_t id, std::index_sequence<Index...>) {
  std::variant<Message, Complaint> result = Complaint{"message type " + std::to_string(type) + " does not exist."};
  (void)((type == Traits<std::variant_alternative_t<Index, Message>>::number &&
          (result = decode_as<std::variant_alternative_t<Index, Message>>(at, id), true)) ||
         ...);
  return result;
}

}  // namespace

std::size_t descriptors_of(const Message& message) noexcept {
  return std::visit([]<class M>(const M&) { return Traits<M>::descriptors; }, message);
}

const char* name_of(const Message& message) noexcept {
  return std::visit([]<class M>(const M&) { return Traits<M>::name; }, message);
}

std::vector<std::byte> encode(const Message& message) {
  return std::visit(
      []<class M>(const M& m) {
        Writer at(Traits<M>::name);
        std::uint64_t id = 0;
        if constexpr (HasId<M>) id = m.id;
        at("type", Traits<M>::number);
        at("ext", std::uint32_t{0});
        at("id", id);
        fields(at, m);
        return std::move(at.bytes);
      },
      message);
}

std::variant<Message, Complaint> decode(std::span<const std::byte> packet) {
  if (packet.size() < header_size) {
    return Complaint{"a packet of " + std::to_string(packet.size()) + " bytes is shorter than the header of " +
                     std::to_string(header_size) + "."};
  }
  Reader at(packet);
  std::uint32_t type = 0, ext = 0;
  std::uint64_t id = 0;
  at("type", type);
  at("ext", ext);
  at("id", id);
  if (ext != 0) return Complaint{"the reserved word of the header is " + std::to_string(ext) + " instead of 0."};
  return decode_type(type, at, id, std::make_index_sequence<std::variant_size_v<Message>>());
}

}  // namespace sinew::wire
