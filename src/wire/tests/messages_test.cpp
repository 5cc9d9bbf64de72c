// spec/wire.md, sentence by sentence. The vectors were written from its words by a program that shares nothing with the encoder.
#include "wire/messages.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "base/sanitized.hpp"
#include "base/tests/flips.hpp"
#include "sinew/error.hpp"

namespace sinew::wire {
namespace {

using Bytes = std::vector<std::byte>;

TypeDescription image() {
  return {.name = "robot/Image",
          .signature = "robot/Image{width:uint32;}",
          .hash = {16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
          .layout = 0x1122334455667788};
}

/// One message of each kind, in the order of Message; the values are those of spec/vectors/wire.
std::vector<Message> samples() {
  const Window window{0x200000000000, 0x400000000};
  return {
      RegisterNode{1, "camera"},
      RegisterPublisher{7, "camera/image", image(), {8, false}, 0, 0, Ghost::no, 0x789abcdef0123456, window},
      RegisterSubscriber{0x0102030405060708,
                         "camera/image",
                         image(),
                         {0, true, Durability::transient_local, 100'000'000, 0, Liveliness::manual_by_topic, 2'000'000'000},
                         0x23456789abcdef01,
                         0x3456789abcdef012,
                         Ghost::observer,
                         0x89abcdef01234567},
      DeletePublisher{7},
      DeleteSubscriber{8},
      WindowReleased{window},
      Goodbye{},
      ConnectTaken{9},
      PathChosen{9, Path::view, "another layout"},
      MemoryMapped{7, 0x800000},
      WatchDomain{2, true},
      UnwatchDomain{2},
      DomainTaken{2},
      Counters{4096},
      DisconnectNode{"detector"},
      NodeRegistered{0x200000000000, 0x400000000, 3072},
      NodeRefused{1, "name taken"},
      PublisherRegistered{7, window},
      SubscriberRegistered{8, 3},
      PublisherRefused{7, 2, "step differs"},
      SubscriberRefused{8, 0, "bad topic"},
      ConnectPublisher{7, 9, "detector", true, false, {8, false}, 0x456789abcdef0123},
      ConnectSubscriber{8,
                        9,
                        "detector",
                        true,
                        false,
                        {0, true, Durability::transient_local, 50'000'000, 3'000'000'000, Liveliness::manual_by_topic, 1'500'000'000},
                        window,
                        0x56789abcdef01234,
                        0x9abcdef012345678},
      Incompatible{7,
                   true,
                   "detector",
                   {8, true, Durability::transient_local, 100'000'000, 0, Liveliness::automatic, 250'000'000},
                   0xabcdef0123456789},
      Detached{8, false},
      DomainNode{2, 21, "camera", 4711, 1000, 44, "3f2504e04f89"},
      DomainTopic{2, 22, "camera/image", image()},
      DomainInterface{2, 23, 21, 22, true, Ghost::carrier, {8, true}, 0x800000, 0x0123456789abcdef},
      DomainPair{2, 23, 24, Path::copy, "another user"},
      DomainGone{2, 25, true},
      DomainCounters{2, 26, 21, 8192},
      DomainBatch{2, true},
      Doorbell{4096, 64},
      Attach{4096},
      ChunkMapped{5},
      ChunkUnmapped{5},
      Unsubscribe{},
      ReadsPieces{},
      AttachForeign{},
      NewsTaken{},
      CancelCall{12},
      DoorbellTaken{},
      Ring{69632, 42, 0x10000000},
      Chunk{5, 0x200000001000, 0x800000},
      ChunkWithdrawn{5},
      Space{},
      News{},
      ErrorText{7, "the peer broke the protocol: “id”"},
  };
}

const Message* accepted(const std::variant<Message, Complaint>& result) {
  return std::get_if<Message>(&result);
}
std::string complaint(std::span<const std::byte> packet) {
  const auto result = decode(packet);
  const auto* const bad = std::get_if<Complaint>(&result);
  return bad != nullptr ? bad->text : "";
}

Bytes vector_of(const std::string& name) {
  std::ifstream file(std::string(SINEW_VECTORS) + "/" + name + ".hex");
  EXPECT_TRUE(file) << name;
  Bytes bytes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    for (std::string word; words >> word;) bytes.push_back(static_cast<std::byte>(std::stoi(word, nullptr, 16)));
  }
  return bytes;
}

TEST(Messages, there_is_a_sample_of_every_kind) {
  const auto all = samples();
  ASSERT_EQ(all.size(), std::variant_size_v<Message>);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].index(), i);
}

TEST(Messages, W10_every_kind_is_encoded_as_its_vector_says) {
  for (const Message& message : samples()) EXPECT_EQ(encode(message), vector_of(name_of(message))) << name_of(message);
}

TEST(Messages, W10_every_vector_is_decoded_to_the_message_it_was_made_from) {
  for (const Message& message : samples()) {
    const auto decoded = decode(vector_of(name_of(message)));
    ASSERT_TRUE(accepted(decoded)) << name_of(message);
    EXPECT_EQ(accepted(decoded)->index(), message.index());
    EXPECT_EQ(encode(*accepted(decoded)), encode(message)) << name_of(message);
  }
}

TEST(Messages, W5_the_fields_arrive_where_they_were_put) {
  const Qos qos{12, true, Durability::transient_local, 1, 2, Liveliness::manual_by_topic, 3};
  const auto decoded = decode(encode(RegisterSubscriber{3, "camera/image", image(), qos}));
  ASSERT_TRUE(accepted(decoded));
  const auto& message = std::get<RegisterSubscriber>(*accepted(decoded));
  EXPECT_EQ(message.id, 3u);
  EXPECT_EQ(message.topic, "camera/image");
  EXPECT_EQ(message.type, image());
  EXPECT_EQ(message.qos, qos);
  const auto negative = decode(encode(DomainNode{1, 2, "detector", -1, 0, 0, {}}));
  ASSERT_TRUE(accepted(negative));
  EXPECT_EQ(std::get<DomainNode>(*accepted(negative)).pid, -1);
}

TEST(Messages, W12_numbers_of_kinds_are_unique_and_never_zero) {
  std::set<std::byte> numbers;
  for (const Message& message : samples()) numbers.insert(encode(message)[0]);
  EXPECT_EQ(numbers.size(), samples().size());
  EXPECT_FALSE(numbers.contains(std::byte{0}));
}

TEST(Messages, W14_every_truncation_of_every_message_gives_a_complaint) {
  for (const Message& message : samples()) {
    const Bytes packet = encode(message);
    for (std::size_t size = packet.size(); size-- > 0;) {
      // A copy of just that size lets the address sanitizer see an overrun.
      const Bytes shorter(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_NE(complaint(shorter), "") << name_of(message) << " cut to " << size;
    }
  }
}

TEST(Messages, W5_trailing_bytes_are_refused) {
  for (const Message& message : samples()) {
    Bytes packet = encode(message);
    packet.push_back(std::byte{0});
    EXPECT_NE(complaint(packet).find("too many"), std::string::npos) << name_of(message) << ": " << complaint(packet);
  }
}

class EachKind : public ::testing::TestWithParam<std::size_t> {};

TEST_P(EachKind, W9_one_and_two_flipped_bits_never_crash_and_what_is_accepted_encodes_to_the_same_bytes) {
  if (SINEW_THREAD_SANITIZED) GTEST_SKIP() << "it has one thread, and would be busy for minutes";
  Bytes packet = encode(samples().at(GetParam()));
  with_one_and_two_flipped_bits({packet}, [&]() -> const char* {
    const auto result = decode(packet);
    const Message* const decoded = accepted(result);
    return !decoded || encode(*decoded) == packet ? nullptr : "what is accepted encodes to other bytes";
  });
}
INSTANTIATE_TEST_SUITE_P(Message, EachKind, ::testing::Range(std::size_t{0}, samples().size()),
                         [](const auto& kind) { return std::string(name_of(samples().at(kind.param))); });

TEST(Messages, W9_random_input_never_crashes_and_what_is_accepted_encodes_to_the_same_bytes) {
  std::mt19937 random(1);
  const auto all = samples();
  int accepted_ones = 0;
  for (int i = 0; i < 200000; ++i) {
    Bytes packet = encode(all[random() % all.size()]);
    packet.resize(std::min<std::size_t>(packet.size(), 16 + random() % 64));  // a valid header, so that the payload is looked at
    while (packet.size() < 16 + random() % 64) packet.push_back(static_cast<std::byte>(random()));
    for (auto n = random() % 6; n > 0; --n) packet[random() % packet.size()] = static_cast<std::byte>(random() % 5);
    const auto result = decode(packet);
    if (const Message* decoded = accepted(result)) {
      ++accepted_ones;
      ASSERT_EQ(encode(*decoded), packet);
    }
  }
  EXPECT_GT(accepted_ones, 1000);  // else this test looks at nothing but refusals
}

TEST(Messages, W6_a_truth_value_other_than_0_and_1_is_refused) {
  Bytes packet = encode(RegisterPublisher{});
  packet[packet.size() - 68] = std::byte{2};  // qos.reliable
  EXPECT_EQ(complaint(packet), "message RegisterPublisher is malformed: its qos.reliable is a truth value of 2, neither 0 nor 1.");
}

/// What decode() says about the message with `bytes` from the `from_end`-th byte before its end on.
std::string complaint_with(Message message, std::size_t from_end, std::initializer_list<unsigned> bytes) {
  Bytes packet = encode(message);
  auto at = packet.end() - static_cast<std::ptrdiff_t>(from_end);
  for (const unsigned byte : bytes) *at++ = static_cast<std::byte>(byte);
  return complaint(packet);
}

TEST(Messages, W60_W72_W75_a_choice_that_does_not_exist_is_refused_by_both_ends) {
  EXPECT_EQ(complaint_with(RegisterPublisher{}, 67, {2}),
            "message RegisterPublisher is malformed: its qos.durability is a choice of 2, which does not exist.");
  EXPECT_EQ(complaint_with(RegisterPublisher{}, 50, {255}),
            "message RegisterPublisher is malformed: its qos.liveliness is a choice of 255, which does not exist.");
  EXPECT_EQ(complaint_with(RegisterPublisher{}, 25, {3}),
            "message RegisterPublisher is malformed: its ghost is a choice of 3, which does not exist.");
  EXPECT_EQ(complaint_with(RegisterSubscriber{}, 9, {255}),
            "message RegisterSubscriber is malformed: its ghost is a choice of 255, which does not exist.");
  EXPECT_EQ(complaint_with(DomainInterface{}, 48, {3}),
            "message DomainInterface is malformed: its ghost is a choice of 3, which does not exist.");
  EXPECT_EQ(complaint_with(DomainPair{}, 5, {5}), "message DomainPair is malformed: its path is a choice of 5, which does not exist.");
  EXPECT_THROW(encode(DomainPair{0, 0, 0, static_cast<Path>(5), {}}), Error);
  EXPECT_THROW(encode(RegisterPublisher{0, {}, {}, {.durability = static_cast<Durability>(2)}}), Error);
  EXPECT_THROW(encode(RegisterPublisher{0, {}, {}, {.liveliness = static_cast<Liveliness>(2)}}), Error);
  EXPECT_THROW(encode(RegisterPublisher{0, {}, {}, {}, 0, 0, static_cast<Ghost>(3)}), Error);
}

TEST(Messages, W60_a_duration_below_0_or_of_more_than_a_hundred_years_is_refused_by_both_ends) {
  for (std::int64_t Qos::* const duration : {&Qos::deadline, &Qos::lifespan, &Qos::lease}) {
    for (const std::int64_t wrong : {std::int64_t{-1}, max_duration + 1}) {
      Qos qos;
      qos.*duration = wrong;
      EXPECT_THROW(encode(RegisterPublisher{0, {}, {}, qos}), Error);
    }
    Qos qos;
    qos.*duration = max_duration;
    EXPECT_TRUE(accepted(decode(encode(RegisterPublisher{0, {}, {}, qos}))));
  }
  const std::initializer_list<unsigned> minus_one = {255, 255, 255, 255, 255, 255, 255, 255};
  EXPECT_EQ(complaint_with(RegisterPublisher{}, 66, minus_one),
            "message RegisterPublisher is malformed: its qos.deadline is a duration of -1 ns, not 0 to 3155760000000000000.");
  EXPECT_NE(complaint_with(RegisterPublisher{}, 58, minus_one).find("qos.lifespan"), std::string::npos);
  EXPECT_NE(complaint_with(RegisterPublisher{}, 49, minus_one).find("qos.lease"), std::string::npos);
  EXPECT_NE(complaint_with(RegisterPublisher{}, 49, {0, 0, 0, 0, 0, 0, 0, 64}).find("qos.lease"), std::string::npos) << "2^62 ns";
}

TEST(Messages, W6_a_string_with_a_NUL_is_refused_by_both_ends) {
  Bytes packet = encode(RegisterNode{1, "camera"});
  packet.back() = std::byte{0};
  EXPECT_EQ(complaint(packet), "message RegisterNode is malformed: its name contains a NUL.");
  EXPECT_THROW(encode(RegisterNode{1, std::string("cam\0era", 7)}), Error);
}

TEST(Messages, W7_a_string_longer_than_its_limit_is_refused_by_both_ends) {
  EXPECT_TRUE(accepted(decode(encode(RegisterNode{1, std::string(max_name, 'n')}))));
  try {
    encode(RegisterNode{1, std::string(max_name + 1, 'n')});
    FAIL() << "encoded";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
    EXPECT_STREQ(error.what(), "RegisterNode cannot be sent: its name is 256 bytes long; at most 255 are allowed.");
  }
  Bytes packet = encode(RegisterNode{1, std::string(max_name, 'n')});
  packet.push_back(std::byte{'n'});
  packet[20] = std::byte{0};  // the length, 256
  packet[21] = std::byte{1};
  EXPECT_EQ(complaint(packet), "message RegisterNode is malformed: its name is announced with 256 bytes; at most 255 are allowed.");
}

TEST(Messages, an_announced_length_allocates_nothing_that_is_not_there) {
  Bytes packet = encode(ErrorText{0, ""});
  packet[20] = std::byte{0xFF};
  packet[21] = std::byte{0x3F};  // 16383 bytes, allowed but missing
  EXPECT_EQ(complaint(packet), "message ErrorText is malformed: its text needs 16383 bytes where 0 are left.");
}

TEST(Messages, W7_a_long_text_is_cut_between_two_characters) {
  std::string text(max_text - 1, 'x');
  text += "ä and more";
  const auto decoded = decode(encode(NodeRefused{1, text}));
  ASSERT_TRUE(accepted(decoded));
  EXPECT_EQ(std::get<NodeRefused>(*accepted(decoded)).text, std::string(max_text - 1, 'x'));
}

TEST(Messages, W7_the_longest_message_fits_one_packet) {
  TypeDescription type{.name = std::string(max_type_name, 'n'), .signature = std::string(max_signature, 's')};
  EXPECT_LE(encode(RegisterPublisher{1, std::string(max_name, 't'), type, {}}).size(), 64u * 1024);
}

TEST(Messages, W3_W4_an_unknown_type_a_used_reserved_word_and_an_id_where_none_belongs_are_refused) {
  Bytes packet = encode(Goodbye{});
  packet[0] = std::byte{200};
  EXPECT_EQ(complaint(packet), "message type 200 does not exist.");
  packet = encode(Goodbye{});
  packet[4] = std::byte{1};
  EXPECT_EQ(complaint(packet), "the reserved word of the header is 1 instead of 0.");
  packet = encode(Goodbye{});
  packet[8] = std::byte{1};
  EXPECT_EQ(complaint(packet), "message Goodbye is malformed: its header has the id 1 where this kind has none.");
}

TEST(Messages, W11_descriptors_are_those_of_the_table) {
  std::size_t in_all = 0;
  for (const Message& message : samples()) in_all += descriptors_of(message);
  EXPECT_EQ(in_all, 10u);
  EXPECT_EQ(descriptors_of(Doorbell{}), 2u);
  for (const Message& one : {Message(ConnectPublisher{}), Message(ConnectSubscriber{}), Message(Attach{}), Message(Ring{}),
                             Message(Chunk{}), Message(Space{}), Message(Counters{}), Message(DomainCounters{})}) {
    EXPECT_EQ(descriptors_of(one), 1u) << name_of(one);
  }
}

}  // namespace
}  // namespace sinew::wire
