// Several nodes, each as hostile as it likes, before one manager: any row of events leads to actions that the specification allows, and a node that keeps to the protocol is never dropped
// for what others do. Each event is a few bytes of the input: what happens, to which session, and with which of a few values, most of which make sense.
#include <array>
#include <iterator>
#include <variant>

#include "domain_model.hpp"
#include "input.hpp"

namespace {

using namespace sinew::manager;
using namespace sinew::wire;
using sinew::fuzz::Input;

constexpr std::size_t most_sessions = 8, most_interfaces = 40;

AccessRules rules() {
  AccessRules rules{.file = "rules", .join = Principals{.all = false, .users = {}, .groups = {44}}, .rules = {}};
  rules.rules.push_back({"", "secret/**", Principals{.all = false, .users = {DomainModel::our_user}, .groups = {}}, std::nullopt});
  rules.rules.push_back({"ours", "secret/*", std::nullopt, Principals{}});
  return rules;
}

/// Names that fit, that hit a rule, that are a service's, and that are none.
const char* topic(Input& input) {
  static constexpr std::array names{"a",          "/a",       "b",  "s@request", "s@response", "s",  "secret/x", "secret/x/y",
                                    "t/@request", "@request", "a/", "a//b",      "",           "**", "a\n",      "a@request@response"};
  return names[input.pick(names.size())];
}

TypeDescription type(Input& input) {
  const std::uint8_t choice = input.byte();
  TypeDescription type{.name = "robot/Image", .signature = "robot/Image{step:uint32;}", .layout = choice >> 4U & 1U};
  type.hash[0] = choice % 8 == 7;
  if (choice >> 5U & 1U) type.signature = std::string(choice, '(') + "\x1b[";
  if (type.hash[0] != 0) type.signature = "robot/Image{step:uint64;}";
  return type;
}

Qos qos(Input& input) {
  const std::uint8_t bits = input.byte();
  Qos qos{.depth = bits & 1U, .reliable = (bits & 2U) != 0};
  if (bits & 4U) qos.durability = Durability::transient_local;
  if (bits & 8U) qos.liveliness = Liveliness::manual_by_topic;
  if (bits & 16U) qos.deadline = bits & 32U ? 1 : max_duration;
  if (bits & 64U) qos.lease = bits & 128U ? 1 : max_duration;
  return qos;
}

/// An id that is new for the most part.
std::uint64_t new_id(Input& input, const std::set<std::uint64_t>& used) {
  const std::uint8_t choice = input.byte();
  if (choice < 192) return used.empty() ? 1 : *used.rbegin() + 1;
  return choice < 224 ? choice - 192U : input.number();
}

/// The key of one of a map, for the most part.
template <class Map>
std::uint64_t some_key(Input& input, const Map& map) {
  const std::uint8_t choice = input.byte();
  if (map.empty() || choice >= 224) return input.number();
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(choice % map.size()))->first;
}

Window window(Input& input) {
  const std::uint8_t choice = input.byte();
  if (choice >= 224) return {input.number(), input.number()};
  constexpr auto range = DomainModel::range;
  return {range.base + choice % (range.count + 1) * range.window_size, range.window_size};
}

template <class Register>
Register registration(Input& input, const std::set<std::uint64_t>& used) {
  const std::uint64_t id = new_id(input, used);
  const std::uint8_t choice = input.byte();
  Register message{.id = id, .topic = topic(input), .type = type(input), .qos = qos(input)};
  message.ghost = std::array{Ghost::no, Ghost::no, Ghost::observer, Ghost::carrier}[choice % 4];
  message.process = choice >> 2U & 3U;
  message.endpoint = choice >> 4U & 3U;
  message.identity = choice;
  if constexpr (std::is_same_v<Register, RegisterPublisher>) {
    if (choice >> 6U == 3) message.window = window(input);
  }
  return message;
}

std::uint64_t owed(Input& input, const DomainModel::Node& node) {
  const std::uint8_t choice = input.byte();
  if (node.unanswered.empty() || choice >= 240) return input.number();
  return node.unanswered[choice % node.unanswered.size()];
}

std::string node_name(Input& input) {
  return std::array{"camera", "viewer", "map", "arm", "leg", "", "no good", "x"}[input.pick(8)];
}

/// What this session says.
Message message(Input& input, const DomainModel::Node& node, std::uint8_t kind) {
  switch (kind % 16) {
    case 0:
      return RegisterNode{input.pick(16) == 15 ? 2U : protocol_version, node_name(input)};
    case 1:
    case 2:
      return registration<RegisterPublisher>(input, node.publisher_ids);
    case 3:
    case 4:
      return registration<RegisterSubscriber>(input, node.subscriber_ids);
    case 5:
      return DeletePublisher{some_key(input, node.publishers)};
    case 6:
      return DeleteSubscriber{some_key(input, node.subscribers)};
    case 7:
      return WindowReleased{window(input)};
    case 8:
    case 9:
      return ConnectTaken{owed(input, node)};
    case 10:
      if (input.pick(4) == 3) return Counters{static_cast<std::uint32_t>(input.number())};
      return PathChosen{input.number(), static_cast<Path>(input.pick(5)), std::string(input.byte() * 2, '\xc3')};
    case 11:
      return MemoryMapped{some_key(input, node.publishers), input.number()};
    case 12:
      return WatchDomain{new_id(input, node.watch_ids), input.flip()};
    case 13:
      return DomainTaken{some_key(input, node.watches)};
    case 14:
      if (input.flip()) return UnwatchDomain{some_key(input, node.watches)};
      return input.pick(4) == 3 ? Message(DisconnectNode{node_name(input)}) : Message(Goodbye{});
    default: {
      // Whatever a packet of these bytes is, at times a message that is not a node's to send.
      const auto decoded = decode(input.bytes(64));
      const auto* const any = std::get_if<Message>(&decoded);
      return any ? *any : Message(ErrorText{0, "\x1b[2J"});
    }
  }
}

void happen(Input& input, DomainModel& domain) {
  const std::uint8_t what = input.byte();
  // At times one that is gone, or never was.
  const std::uint8_t who = input.byte();
  const auto& nodes = domain.nodes();
  const Session session = nodes.empty() || who >= 240 ? 1 + who % (domain.last_session() + 1)
                                                      : std::next(nodes.begin(), static_cast<std::ptrdiff_t>(who % nodes.size()))->first;
  if (what >= 248) return domain.close(session);
  if (what >= 244) return domain.violate(session);
  if (what >= 240) return domain.wait(static_cast<Time>(input.number() % (2 * DomainModel::linger)));
  if (what >= 224) {
    static constexpr std::array<sinew::manager::Who, 4> users{{{100, 1000, 1000}, {101, 1000, 44}, {102, 1001, 44}, {103, 65534, 44}}};
    if (domain.nodes().size() < most_sessions && domain.last_session() < 200) domain.open(input.pick_from(users));
    return;
  }
  const auto node = domain.nodes().find(session);
  static const DomainModel::Node nobody;
  const Message said = message(input, node == domain.nodes().end() ? nobody : node->second, what);
  const bool registers = std::holds_alternative<RegisterPublisher>(said) || std::holds_alternative<RegisterSubscriber>(said);
  if (!registers || domain.interfaces() < most_interfaces) domain.say(session, said);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  DomainModel domain(rules());
  while (!input.at_end()) happen(input, domain);
  domain.end();
  return 0;
}
