// A domain in virtual time, and short words for what tests say to it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "manager/state/domain.hpp"

namespace sinew::manager {

constexpr uid_t our_user = 1000;
constexpr WindowRange four_windows{0x2000'0000'0000, 0x4000'0000, 4};
constexpr Time second = 1'000'000'000;

inline wire::TypeDescription type_of(std::uint8_t structure, std::uint64_t layout = 1) {
  wire::TypeDescription type;
  type.name = "robot/Image";
  type.signature = "robot/Image{step:uint" + std::to_string(structure) + ";}";
  type.hash[0] = structure;
  type.layout = layout;
  return type;
}

/// The n-th action, which must be of this kind.
template <class A>
const A& at(const Actions& actions, std::size_t n) {
  static const A none{};
  if (n >= actions.size() || !std::holds_alternative<A>(actions[n])) {
    ADD_FAILURE() << "action " << n << " of " << actions.size() << " is not what was expected";
    return none;
  }
  return std::get<A>(actions[n]);
}

/// The message that the n-th action sends to the session.
template <class M>
M sent(const Actions& actions, std::size_t n, Session session) {
  const Send& send = at<Send>(actions, n);
  EXPECT_EQ(send.session, session);
  if (!std::holds_alternative<M>(send.message)) {
    ADD_FAILURE() << "sent is " << wire::name_of(send.message);
    return {};
  }
  return std::get<M>(send.message);
}

struct World {
  explicit World(const WindowRange& range = four_windows, std::optional<Time> linger = std::nullopt, const AccessRules& access = {})
      : domain(range, our_user, access, linger, 0) {}

  Session open(uid_t uid = our_user, pid_t pid = 100, gid_t gid = our_user) {
    EXPECT_TRUE(domain.opened(now, ++last_session, {pid, uid, gid}).empty());
    return last_session;
  }
  Session node(const std::string& name, gid_t gid = our_user) {
    const Session session = open(our_user, 100, gid);
    sent<wire::NodeRegistered>(say(session, wire::RegisterNode{wire::protocol_version, name}), 0, session);
    return session;
  }
  /// What the message leads to; introductions are answered on the spot, and what that leads to comes after them.
  Actions say(Session session, const wire::Message& message) {
    Actions actions = domain.message(now, session, message);
    for (std::size_t n = 0; nodes_answer && n < actions.size(); ++n) {
      if (!std::holds_alternative<Introduce>(actions[n])) continue;
      const Introduce meet = std::get<Introduce>(actions[n]);
      for (const Session side : {meet.publisher, meet.subscriber}) {
        const Actions more = answer(side, meet);
        actions.insert(actions.end(), more.begin(), more.end());
      }
    }
    return actions;
  }
  Actions answer(Session session, const Introduce& meet) {
    return domain.message(now, session, wire::ConnectTaken{meet.to_publisher.connection});
  }
  Actions publish(Session session, std::uint64_t id, const std::string& topic = "image", const wire::TypeDescription& type = type_of(32),
                  const wire::Qos& offered = {8, true}, std::uint64_t process = 0) {
    return say(session, wire::RegisterPublisher{id, topic, type, offered, process});
  }
  Actions subscribe(Session session, std::uint64_t id, const std::string& topic = "image", const wire::TypeDescription& type = type_of(32),
                    const wire::Qos& asked = {4, false}, std::uint64_t process = 0) {
    return say(session, wire::RegisterSubscriber{id, topic, type, asked, process});
  }
  wire::Window window_of_new_publisher(Session session, std::uint64_t id, const std::string& topic = "image") {
    return sent<wire::PublisherRegistered>(publish(session, id, topic), 0, session).window;
  }
  /// The session is told why, dropped, and forgotten.
  void expect_dropped(const Actions& actions, Session session, const std::string& part_of_text) {
    ASSERT_EQ(actions.size(), 2u);
    EXPECT_NE(sent<wire::ErrorText>(actions, 0, session).text.find(part_of_text), std::string::npos)
        << sent<wire::ErrorText>(actions, 0, session).text;
    EXPECT_EQ(at<Drop>(actions, 1).session, session);
    EXPECT_TRUE(say(session, wire::Goodbye{}).empty());
    EXPECT_TRUE(domain.closed(now, session).empty());
  }

  bool nodes_answer = true;
  Time now = 0;
  Session last_session = 0;
  Domain domain;
};

}  // namespace sinew::manager
