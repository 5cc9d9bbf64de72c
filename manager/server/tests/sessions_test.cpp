// Nodes and strangers at the real sinewd's socket.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "base/sanitized.hpp"
#include "manager/server/tests/program.hpp"
#include "os/event.hpp"
#include "os/memory.hpp"
#include "os/tests/support.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

using namespace wire;

/// A manager that serves until the end of the test.
struct Domain {
  explicit Domain(unsigned descriptor_limit = 0)
      : manager({.arguments = {"--socket", folder.socket()}, .descriptor_limit = descriptor_limit}) {
    manager.next_line();
  }
  Client client() const { return Client(folder.socket()); }
  Folder folder;
  Program manager;
};

/// The number after this word in a file of /proc.
std::uint64_t proc_value(pid_t pid, const std::string& file, const std::string& word) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/" + file);
  std::uint64_t value = 0;
  for (std::string next; in >> next;) {
    if (next == word && in >> value) break;
  }
  return value;
}

std::size_t open_descriptors(pid_t pid) {
  const auto entries = std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

/// Sanitizers keep freed memory for a while, and need descriptors of their own.
constexpr bool sanitized = SINEW_SANITIZED;

TEST(Sessions, a_publisher_and_a_subscriber_get_the_two_ends_of_a_pair_and_nobody_else_has_one) {
  const Domain domain;
  Client camera = domain.client(), viewer = domain.client();
  camera.enter("camera");
  viewer.enter("viewer");
  camera.send(RegisterPublisher{1, "/image", some_type(), {8, false}});
  const Window window = camera.expect<PublisherRegistered>().window;
  viewer.send(RegisterSubscriber{1, "image", some_type(), {2, false}});
  viewer.expect<SubscriberRegistered>();
  const auto to_viewer = viewer.expect<ConnectSubscriber>();
  const auto to_camera = camera.expect<ConnectPublisher>();
  EXPECT_EQ(to_viewer.window, window);
  EXPECT_TRUE(to_viewer.same_user);
  EXPECT_EQ(to_camera.connection, to_viewer.connection);
  ASSERT_EQ(viewer.descriptors.size(), 1u);
  ASSERT_EQ(camera.descriptors.size(), 1u);

  Client at_viewer(std::move(viewer.descriptors[0])), at_camera(std::move(camera.descriptors[0]));
  at_viewer.send(Attach{4096});
  at_camera.expect<Attach>();
  at_camera.close();
  at_viewer.expect_end();  // M6: the manager has closed its copies
}

TEST(Sessions, F8_the_first_message_on_a_pair_carries_the_credentials_of_its_sender) {
  const Domain domain;
  Client node = domain.client();
  node.enter("both");
  node.send(RegisterPublisher{1, "image", some_type(), {}});
  node.expect<PublisherRegistered>();
  node.send(RegisterSubscriber{1, "image", some_type(), {}});
  node.expect<SubscriberRegistered>();
  node.expect<ConnectPublisher>();
  Client publisher(std::move(node.descriptors.at(0)));
  node.expect<ConnectSubscriber>();
  Client subscriber(std::move(node.descriptors.at(0)));
  EXPECT_EQ(os::peer_credentials(publisher.socket()).pid, domain.manager.pid());  // which tells nothing about the peer
  const pid_t child = ::fork();
  if (child == 0) {
    subscriber.send(Attach{4096});
    ::_exit(0);
  }
  publisher.expect<Attach>();
  ASSERT_TRUE(publisher.credentials);
  EXPECT_EQ(publisher.credentials->pid, child);
  EXPECT_EQ(publisher.credentials->uid, ::getuid());
  ::waitpid(child, nullptr, 0);
}

TEST(Sessions, F8_another_user_is_told_why_it_is_refused) {
  if (::getuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Domain domain;
  // The socket's mode keeps other users out; a domain's owner may have opened it.
  ASSERT_EQ(::chmod(domain.folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(domain.folder.socket().c_str(), 0666), 0);
  const int status = os::test::status_of_child([&] {
    if (!os::test::become_nobody()) return 2;
    Client stranger = domain.client();
    stranger.send(RegisterNode{protocol_version, "spy"});
    const auto refused = stranger.expect<NodeRefused>();
    stranger.expect_end();
    return refused.kind == static_cast<std::uint32_t>(ErrorKind::denied) && refused.text.find("user 1234") != std::string::npos ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

TEST(Sessions, garbage_ends_the_connection_that_sent_it_with_a_reason_and_no_other) {
  const Domain domain;
  Client good = domain.client();
  good.enter("good");
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    Client bad = domain.client();
    std::vector<std::byte> garbage(1 + random() % 200);
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    bad.send_bytes(garbage);
    bad.expect<ErrorText>();
    bad.expect_end();
  }
  good.send(RegisterSubscriber{1, "image", some_type(), {}});
  good.expect<SubscriberRegistered>();
}

TEST(Sessions, descriptors_that_do_not_belong_to_a_message_end_the_connection) {
  const Domain domain;
  Client bad = domain.client();
  const os::Fd bell = os::create_eventfd();
  bad.Talk::send(RegisterNode{protocol_version, "bad"}, {bell.get()});
  EXPECT_NE(bad.expect<ErrorText>().text.find("1 descriptors instead of 0"), std::string::npos);
  bad.expect_end();
}

TEST(Sessions, ten_nodes_that_come_at_once_are_all_registered_and_meet_each_other_once) {
  const Domain domain;
  std::vector<pid_t> children;
  for (int i = 0; i < 10; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    Client node = domain.client();
    node.enter("node" + std::to_string(i));
    node.send(RegisterPublisher{1, "chatter", some_type(), {}});
    node.send(RegisterSubscriber{1, "chatter", some_type(), {}});
    std::set<std::string> heard, told;
    for (bool fine = true; fine && (heard.size() < 10 || told.size() < 10);) {
      const auto message = node.receive();
      fine = message.has_value();
      if (!fine) break;
      if (const auto* reader = std::get_if<ConnectPublisher>(&*message)) {
        fine = told.insert(reader->peer).second;
        node.send(ConnectTaken{reader->connection});
      } else if (const auto* writer = std::get_if<ConnectSubscriber>(&*message)) {
        fine = heard.insert(writer->peer).second;
        node.send(ConnectTaken{writer->connection});
      }
    }
    node.send(Unsubscribe{});  // dropped, but only after everything before it was sent
    const auto last = node.receive();
    const bool ended = last && std::holds_alternative<ErrorText>(*last);
    ::_exit(heard.size() == 10 && told.size() == 10 && ended ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(Sessions, a_killed_node_frees_its_name_at_once) {
  const Domain domain;
  for (int i = 0; i < 20; ++i) {
    std::array<int, 2> ready{};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      Client viewer = domain.client();
      viewer.enter("viewer");
      if (::write(ready[1], "x", 1) == 1) ::pause();
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(ready[0]);
    ::close(ready[1]);
    domain.client().enter("viewer");
  }
}

TEST(Sessions, a_node_that_does_not_read_is_dropped_and_the_others_are_served) {
  const Domain domain;
  Client deaf = domain.client(), good = domain.client();
  deaf.enter("deaf");
  good.enter("good");
  std::uint64_t id = 0;
  while (id < 200'000 && deaf.try_send(RegisterSubscriber{++id, "no such name", some_type(), {}})) {
  }
  EXPECT_LT(id, 200'000u) << "it was never dropped";
  good.send(RegisterSubscriber{1, "image", some_type(), {}});
  good.expect<SubscriberRegistered>();
}

TEST(Sessions, W62_a_node_keeps_its_name_however_often_others_ask_for_what_it_does_not_offer) {
  const Domain domain;
  Client camera = domain.client(), stranger = domain.client();
  camera.enter("camera");
  camera.send(RegisterPublisher{1, "image", some_type(), {8, false}});
  camera.expect<PublisherRegistered>();
  stranger.enter(std::string(200, 's'));
  for (std::uint64_t id = 1; id <= 16'000; ++id) {  // of more than 300 bytes each: together more than may wait for one
    stranger.send(RegisterSubscriber{id, "image", some_type(), {8, true}});
    stranger.expect<SubscriberRegistered>();
    stranger.expect<Incompatible>();
    stranger.send(DeleteSubscriber{id});
    if (HasFailure()) return;
  }
  Client other = domain.client();
  other.send(RegisterNode{protocol_version, "camera"});
  EXPECT_EQ(other.expect<NodeRefused>().kind, static_cast<std::uint32_t>(ErrorKind::name_taken));
}

/// 'S': it sleeps.
char state_of(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return text.at(text.rfind(')') + 2);
}

TEST(Sessions, a_node_that_shuts_down_its_reading_side_alone_wakes_nobody) {
  Domain domain;
  Client deaf = domain.client();
  deaf.enter("deaf");
  for (std::uint64_t id = 1; id <= 2'000; ++id) deaf.send(RegisterSubscriber{id, "no such name", some_type(), {}});
  domain.client().enter("after");  // it has read all of it, and has no more room for the answers
  ::shutdown(deaf.socket().get(), SHUT_RD);
  std::array<std::byte, os::max_packet> rest;
  while (::recv(deaf.socket().get(), rest.data(), rest.size(), MSG_DONTWAIT) > 0) {
  }
  int asleep = 0;
  for (int looks = 0; looks < 10'000 && asleep < 20; ++looks) {
    asleep = state_of(domain.manager.pid()) == 'S' ? asleep + 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(asleep, 20) << "it never rests";
  deaf.send(wire::Goodbye{});
  domain.client().enter("deaf");  // the name is free
}

/// Sends through an end of a pair what takes hours to be closed, and is nowhere else any more. Gives its reader.
os::Fd send_slow(const Client& end) {
  auto [slow, reader] = os::test::lingering_socket();
  EXPECT_EQ(os::send_packet(end.socket(), os::test::bytes_of("slow"), std::array{slow.get()}), os::SendResult::sent);
  return std::move(reader);
}

TEST(Sessions, what_closes_slowly_in_an_introduction_that_cannot_be_sent_any_more_holds_nobody_up) {
  const Domain domain;
  Client camera = domain.client(), deaf = domain.client();
  camera.enter("camera");
  deaf.enter("deaf");
  for (std::uint64_t id = 1; id <= 2'000; ++id) deaf.send(RegisterSubscriber{id, "no such name", some_type(), {}});
  deaf.send(RegisterSubscriber{2'001, "image", some_type(), {}});
  domain.client().enter("before");  // it has read all of it
  camera.send(RegisterPublisher{1, "image", some_type(), {}});
  camera.expect<PublisherRegistered>();
  camera.expect<ConnectPublisher>();
  const os::Fd reader = send_slow(Client(std::move(camera.descriptors.at(0))));
  ::shutdown(deaf.socket().get(), SHUT_RD);
  std::array<std::byte, os::max_packet> rest;
  while (::recv(deaf.socket().get(), rest.data(), rest.size(), MSG_DONTWAIT) > 0) {
  }
  domain.client().enter("after");
}

TEST(Sessions, what_closes_slowly_in_an_introduction_that_was_closed_as_soon_as_it_came_holds_nobody_up) {
  ::setenv("SINEW_AT", "manager.descriptor_sent:2:stop", 1);
  const Domain domain;
  ::unsetenv("SINEW_AT");
  Client camera = domain.client(), viewer = domain.client();
  camera.enter("camera");
  viewer.enter("viewer");
  camera.send(RegisterPublisher{1, "image", some_type(), {}});
  viewer.send(RegisterSubscriber{1, "image", some_type(), {}});
  camera.expect<PublisherRegistered>();
  camera.expect<ConnectPublisher>();
  const os::Fd reader = send_slow(Client(std::move(camera.descriptors.at(0))));
  viewer.expect<SubscriberRegistered>();
  viewer.expect<ConnectSubscriber>();
  Client(std::move(viewer.descriptors.at(0))).close();
  for (int looks = 0; looks < 60'000 && state_of(domain.manager.pid()) != 'T'; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  domain.manager.signal(SIGCONT);
  domain.client().enter("after");
}

TEST(Sessions, a_log_that_nobody_reads_holds_nobody_up_and_says_later_what_is_missing) {
  ::setenv("SINEW_LOG", "debug", 1);
  Domain domain;
  ::unsetenv("SINEW_LOG");
  for (int n = 0; n < 1000; ++n) domain.client().enter("node_" + std::to_string(n));  // twice as many as a pipe has room for
  domain.manager.next_line();
  domain.client().enter("last");
  domain.manager.signal(SIGTERM);
  EXPECT_NE(domain.manager.rest().find("lines are left out here: nobody read standard error"), std::string::npos);
}

TEST(Sessions, W17_small_answers_to_a_node_that_does_not_read_count_for_what_it_costs_to_keep_them) {
  const Domain domain;
  Client deaf = domain.client();
  deaf.enter("deaf");
  std::uint64_t id = 0;
  while (id < 100'000 && deaf.try_send(RegisterSubscriber{++id, "image", some_type(), {}})) {
  }
  EXPECT_LT(id, 100'000u) << "it was not dropped at twice its answers";
}

TEST(Sessions, S6_a_stopped_node_has_two_descriptors_under_way_and_the_others_go_on_to_meet) {
  const Domain domain;
  Client camera = domain.client(), stopped = domain.client(), viewer = domain.client();
  camera.enter("camera");
  stopped.enter("stopped");
  viewer.enter("viewer");
  for (std::uint64_t id = 1; id <= 5; ++id) stopped.send(RegisterSubscriber{id, "image", some_type(), {}});
  for (std::uint64_t id = 1; id <= 5; ++id) stopped.expect<SubscriberRegistered>();
  camera.send(RegisterPublisher{1, "image", some_type(), {}});
  camera.expect<PublisherRegistered>();
  for (int i = 0; i < 2; ++i) camera.send(ConnectTaken{camera.expect<ConnectPublisher>().connection});
  for (std::uint64_t id = 1; id <= 5; ++id) {
    viewer.send(RegisterSubscriber{id, "image", some_type(), {}});
    viewer.expect<SubscriberRegistered>();
    viewer.send(ConnectTaken{viewer.expect<ConnectSubscriber>().connection});
    const auto met = camera.expect<ConnectPublisher>();
    EXPECT_EQ(met.peer, "viewer");
    camera.send(ConnectTaken{met.connection});
  }
  stopped.send(RegisterPublisher{1, "a topic of a bad name", some_type(), {}});  // its answer comes behind whatever was sent before
  for (int i = 0; i < 2; ++i) stopped.expect<ConnectSubscriber>();
  stopped.expect<PublisherRefused>();
}

TEST(Sessions, S6_an_introduction_that_the_manager_cannot_make_is_made_when_it_can_and_nobody_loses_its_name) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  const Domain domain(24);
  Client camera = domain.client();
  camera.enter("camera");
  camera.send(RegisterPublisher{1, "image", some_type(), {}});
  camera.expect<PublisherRegistered>();
  // The manager closes its ends of a pair aside, perhaps only after both have theirs: until then there may be no descriptor for a newcomer.
  const auto come = [&](const std::string& name) {
    for (int attempt = 0; attempt < 10'000; ++attempt) {
      Client viewer = domain.client();
      viewer.try_send(RegisterNode{protocol_version, name});
      const auto answer = viewer.receive();
      if (answer && std::holds_alternative<NodeRegistered>(*answer)) return viewer;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    throw std::runtime_error(name + " was never let in");
  };
  const auto meet = [&](Client& viewer, const ConnectSubscriber& introduction) {
    viewer.send(ConnectTaken{introduction.connection});
    camera.send(ConnectTaken{camera.expect<ConnectPublisher>().connection});
  };
  for (int round = 0; round < 3; ++round) {
    std::vector<Client> others;  // until no descriptor is left for the pair
    for (bool met = true; met;) {
      Client viewer = come("viewer" + std::to_string(others.size()));
      viewer.send(RegisterSubscriber{1, "image", some_type(), {}});
      viewer.send(
          RegisterPublisher{1, "a topic of a bad name", some_type(), {}});  // its answer comes behind an introduction that could be made
      viewer.expect<SubscriberRegistered>();
      const auto next = viewer.receive();
      ASSERT_TRUE(next);
      met = std::holds_alternative<ConnectSubscriber>(*next);
      if (met) {
        meet(viewer, std::get<ConnectSubscriber>(*next));
        others.push_back(std::move(viewer));
      } else {
        ASSERT_TRUE(std::holds_alternative<PublisherRefused>(*next)) << name_of(*next);
        others.clear();
        meet(viewer, viewer.expect<ConnectSubscriber>());
      }
    }
  }
}

TEST(Sessions, when_descriptors_run_out_newcomers_are_told_and_the_manager_serves_again_when_there_are_some) {
  // To look at an exception, that sanitizer opens a pipe.
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  const Domain domain(24);
  std::vector<Client> clients;
  bool turned_away = false;
  while (!turned_away && clients.size() < 64) {
    Client client = domain.client();
    client.try_send(RegisterNode{protocol_version, "node" + std::to_string(clients.size())});  // it may have been turned away already
    const auto answer = client.receive();
    ASSERT_TRUE(answer);
    if (const auto* refused = std::get_if<NodeRefused>(&*answer)) {
      turned_away = true;
      EXPECT_EQ(refused->kind, static_cast<std::uint32_t>(ErrorKind::exhausted));
      EXPECT_NE(refused->text.find("cannot accept a connection: Too many open files"), std::string::npos) << refused->text;
      EXPECT_NE(refused->text.find("ulimit -n"), std::string::npos) << refused->text;
      client.expect_end();
    }
    clients.push_back(std::move(client));
  }
  ASSERT_TRUE(turned_away);
  clients.clear();
  domain.client().enter("late");
}

TEST(Sessions, a_manager_that_cannot_even_turn_anybody_away_says_so_once_for_as_long_as_one_waits) {
  if (sanitized) GTEST_SKIP() << "the undefined behaviour sanitizer ends a program that has no descriptor left";
  Domain domain;
  domain.client().enter("before");  // it has all that it needs itself
  rlimit before{};
  ASSERT_EQ(::prlimit(domain.manager.pid(), RLIMIT_NOFILE, nullptr, &before), 0);
  const rlimit none{3, before.rlim_max};  // also without the one in reserve
  for (const char* const name : {"first", "second"}) {
    ASSERT_EQ(::prlimit(domain.manager.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
    Client waiting = domain.client();
    const std::string line = domain.manager.next_line();
    EXPECT_NE(line.find("sinewd turns nodes away, or lets them wait"), std::string::npos) << line;
    EXPECT_NE(line.find("ulimit -n"), std::string::npos) << line;
    ::sleep(1);  // while it tries again and again
    ASSERT_EQ(::prlimit(domain.manager.pid(), RLIMIT_NOFILE, &before, nullptr), 0);
    waiting.enter(name);
  }
  domain.manager.signal(SIGTERM);
  EXPECT_EQ(domain.manager.rest(), "");
}

TEST(Sessions, memory_and_descriptors_do_not_grow_with_reconnecting_nodes) {
  const Domain domain;
  const auto come_and_go = [&](int times) {
    for (int i = 0; i < times; ++i) {
      Client node = domain.client();
      node.enter("node" + std::to_string(i % 7));
      node.send(RegisterPublisher{1, "image", some_type(), {}});
      node.expect<PublisherRegistered>();
    }
    Client last = domain.client();  // who is answered only after everybody else's end was seen
    last.enter("last" + std::to_string(times));
    return last;
  };
  Client stays = come_and_go(500);
  const std::uint64_t memory = proc_value(domain.manager.pid(), "status", "VmData:");
  const std::size_t descriptors = open_descriptors(domain.manager.pid());
  Client stays_too = come_and_go(3000);
  EXPECT_EQ(open_descriptors(domain.manager.pid()), descriptors + 1);
  if (sanitized) return;
  EXPECT_LE(proc_value(domain.manager.pid(), "status", "VmData:"), memory + 128);  // KiB
}

TEST(Sessions, an_idle_manager_is_never_woken) {
  const Domain domain;
  Client node = domain.client();
  node.enter("camera");
  Client other = domain.client();
  other.enter("viewer");
  const std::uint64_t before = proc_value(domain.manager.pid(), "status", "voluntary_ctxt_switches:");
  ::sleep(5);  // long enough for any timer that would matter to fire twice; nothing here depends on how long it really takes
  EXPECT_LE(proc_value(domain.manager.pid(), "status", "voluntary_ctxt_switches:"), before + 1);
}

TEST(Sessions, W86_files_of_counters_of_one_that_has_left_are_not_kept) {
  const Domain domain;
  Client leaving = domain.client();
  leaving.enter("leaving");
  const std::size_t descriptors = open_descriptors(domain.manager.pid());
  leaving.send(Goodbye{});
  const os::Fd file = os::create_memfd("counters", os::page_size());
  for (int n = 0; n < 200; ++n) ASSERT_TRUE(leaving.Talk::send(Counters{4096}, {file.get()}));
  Client next = domain.client();
  next.enter("next");  // most of what came before was read
  constexpr std::size_t kept = 12, looked_at = 1;
  EXPECT_LE(open_descriptors(domain.manager.pid()), descriptors + 1 + kept + looked_at);
}

}  // namespace
}  // namespace sinew::manager
