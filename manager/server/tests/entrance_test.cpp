// How sinewd begins to listen and how it ends, with the real program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "manager/server/tests/program.hpp"
#include "os/process.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

namespace fs = std::filesystem;

/// A manager as the first node starts it, which has entered.
class OnDemand : public testing::Test {
 protected:
  OnDemand() {
    listener.reset();
    first.enter("camera");
  }

  const Folder folder;
  os::Fd listener = os::listen_at(folder.socket());
  Client first{folder.socket()};
  Program manager{{.arguments = {"--listening-on-3", "--linger", "0"}, .descriptor_3 = listener.get()}};
};

TEST(Sinewd, says_its_version_and_helps_with_examples) {
  Program version({.arguments = {"--version"}});
  EXPECT_EQ(version.next_line().substr(0, 9), "sinewd 0.");
  EXPECT_EQ(version.wait(), 0);
  Program help({.arguments = {"--help"}});
  const std::string all = help.rest();
  EXPECT_NE(all.find("SINEW_DOMAIN=left_arm sinewd"), std::string::npos) << all;
  EXPECT_EQ(all.find("listening-on-3"), std::string::npos) << all;
}

TEST(Sinewd, started_by_hand_it_says_where_it_listens_and_serves_until_interrupted_and_removes_its_socket) {
  const Folder folder;
  for (const int signal : {SIGINT, SIGTERM}) {
    Program manager({.arguments = {"--socket", folder.socket()}});
    EXPECT_NE(manager.next_line().find("listens at " + folder.socket()), std::string::npos);
    {
      Client client(folder.socket());
      client.enter("camera");
    }
    Client(folder.socket()).enter("camera");  // it does not leave with its last node
    manager.signal(signal);
    EXPECT_EQ(manager.wait(), 0);
    EXPECT_FALSE(fs::exists(folder.socket()));
  }
}

TEST(Sinewd, started_by_hand_it_says_that_the_level_of_its_log_is_none) {
  const Folder folder;
  ::setenv("SINEW_LOG", "loud", 1);
  Program manager({.arguments = {"--socket", folder.socket()}});
  ::unsetenv("SINEW_LOG");
  EXPECT_EQ(manager.next_line(), "sinew: SINEW_LOG='loud' is no level, so it is warn. Set it to error, warn, info, debug or off.");
}

TEST(Sinewd, a_second_one_by_hand_is_refused_and_does_not_disturb_the_first) {
  const Folder folder;
  Program first({.arguments = {"--socket", folder.socket()}});
  first.next_line();
  Program second({.arguments = {"--socket", folder.socket()}});
  EXPECT_EQ(second.next_line(),
            "sinewd: a manager is running already and listens at '" + folder.socket() +
                "': nodes of this domain use it. Stop it first, or choose another domain with SINEW_DOMAIN or --socket.");
  EXPECT_EQ(second.wait(), 1);
  Client(folder.socket()).enter("camera");
}

TEST(Sinewd, a_socket_that_a_killed_manager_left_behind_is_replaced) {
  const Folder folder;
  Program killed({.arguments = {"--socket", folder.socket()}});
  killed.next_line();
  killed.signal(SIGKILL);
  killed.wait();
  ASSERT_TRUE(fs::exists(folder.socket()));
  Program next({.arguments = {"--socket", folder.socket()}});
  EXPECT_NE(next.next_line().find("listens"), std::string::npos);
  Client(folder.socket()).enter("camera");
}

TEST(Sinewd, what_is_not_a_socket_is_never_removed) {
  const Folder folder;
  std::ofstream(folder.socket()) << "precious";
  Program manager({.arguments = {"--socket", folder.socket()}});
  EXPECT_NE(manager.next_line().find("something that is not a socket"), std::string::npos);
  EXPECT_EQ(manager.wait(), 1);
  EXPECT_EQ(fs::file_size(folder.socket()), 8u);
}

TEST_F(OnDemand, started_on_demand_it_serves_who_waits_at_the_inherited_socket_and_ends_after_the_last_node) {
  Client second(folder.socket());
  second.enter("viewer");
  first.close();
  second.close();
  EXPECT_EQ(manager.wait(), 0);
  EXPECT_FALSE(fs::exists(folder.socket()));
}

TEST(Sinewd, started_on_demand_it_ends_even_if_nobody_ever_comes) {
  const Folder folder;
  os::Fd listener = os::listen_at(folder.socket());
  Program manager({.arguments = {"--listening-on-3", "--linger", "0"}, .descriptor_3 = listener.get()});
  EXPECT_EQ(manager.wait(), 0);
  EXPECT_FALSE(fs::exists(folder.socket()));
}

TEST_F(OnDemand, a_node_that_connects_while_the_manager_wants_to_leave_is_served) {
  // Whoever starts a manager holds this lock while it looks for a running one; the manager needs it to leave.
  std::optional<os::Fd> lock = os::lock_folder(folder.path());
  first.close();
  Client second(folder.socket());
  lock.reset();
  second.enter("viewer");
  second.close();
  EXPECT_EQ(manager.wait(), 0);
}

TEST_F(OnDemand, while_somebody_else_holds_the_lock_it_serves_and_does_not_leave) {
  std::optional<os::Fd> lock = os::lock_folder(folder.path());
  first.close();
  for (int i = 0; i < 100; ++i) {  // in some pause between two of them it wants to leave
    Client next(folder.socket());
    next.enter("viewer");
    next.close();
    ::usleep(1000);
  }
  lock.reset();
  EXPECT_EQ(manager.wait(), 0);
  EXPECT_FALSE(fs::exists(folder.socket()));
}

TEST(Sinewd, while_somebody_else_holds_the_lock_it_can_be_stopped_and_leaves_its_socket_to_be_replaced) {
  const Folder folder;
  Program manager({.arguments = {"--socket", folder.socket()}});
  manager.next_line();
  std::optional<os::Fd> lock = os::lock_folder(folder.path());
  manager.signal(SIGTERM);
  EXPECT_EQ(manager.wait(), 0);
  EXPECT_TRUE(fs::exists(folder.socket()));
  lock.reset();
  Program next({.arguments = {"--socket", folder.socket()}});
  EXPECT_NE(next.next_line().find("listens"), std::string::npos);
}

TEST(Sinewd, while_somebody_else_holds_the_lock_it_is_not_started_and_says_so) {
  const Folder folder;
  const os::Fd lock = os::lock_folder(folder.path());
  Program manager({.arguments = {"--socket", folder.socket()}});
  EXPECT_NE(manager.next_line().find("lslocks tells which one it is"), std::string::npos);
  EXPECT_EQ(manager.wait(), 1);
}

/// However it was started, when `lose` has happened to its socket it ends and says so, whom it served sees that, and `stays` what stands there.
void expect_end(const std::function<void(const Folder&)>& lose, const std::function<bool(const Folder&)>& stays) {
  enum class By { hand, node, systemd };
  for (const By by : {By::hand, By::node, By::systemd}) {
    const Folder folder;
    const os::Fd listener = by == By::hand ? os::Fd() : os::listen_at(folder.socket());
    Program::Start start{.arguments = {}, .descriptor_3 = listener.get(), .as_systemd = by == By::systemd};
    if (by == By::hand) start.arguments = {"--socket", folder.socket()};
    if (by == By::node) start.arguments = {"--listening-on-3"};
    Program manager(start);
    EXPECT_NE(manager.next_line().find("listens at"), std::string::npos);
    Client client(folder.socket());
    client.enter("camera");
    manager.signal(SIGSTOP);
    Client late(folder.socket());
    lose(folder);
    manager.signal(SIGCONT);
    client.expect_end();
    late.expect_end();
    EXPECT_NE(manager.next_line().find("'" + folder.socket() + "' was removed or replaced"), std::string::npos);
    EXPECT_EQ(manager.wait(), 1);
    EXPECT_TRUE(stays(folder));
    if (by == By::systemd) {
      EXPECT_FALSE(os::accept_from(listener)) << "for whom systemd would start another one at this socket";
    }
  }
}

TEST(Sinewd, when_its_socket_is_removed_it_ends) {
  expect_end([](const Folder& folder) { fs::remove(folder.socket()); }, [](const Folder& folder) { return !fs::exists(folder.socket()); });
}

TEST(Sinewd, when_the_folder_of_its_socket_is_removed_it_ends) {
  expect_end([](const Folder& folder) { fs::remove_all(folder.path()); }, [](const Folder& folder) { return !fs::exists(folder.path()); });
}

TEST(Sinewd, when_another_socket_takes_the_place_of_its_own_it_ends_and_does_not_remove_that) {
  os::Fd successor;
  const auto replace = [&](const Folder& folder) {
    successor = os::listen_at(folder.path() + "/next");
    fs::rename(folder.path() + "/next", folder.socket());
  };
  expect_end(replace, [](const Folder& folder) { return os::connect_to(folder.socket()).has_value(); });
}

TEST(Sinewd, when_the_folder_of_its_socket_is_renamed_it_ends_and_leaves_the_socket) {
  const auto rename = [](const Folder& folder) { fs::rename(folder.path(), folder.path() + ".moved"); };
  expect_end(rename, [](const Folder& folder) {
    fs::rename(folder.path() + ".moved", folder.path());
    return fs::exists(folder.socket());
  });
}

TEST(Sinewd, as_a_daemon_it_lets_its_starter_go_on_and_serves) {
  const Folder folder;
  os::Fd listener = os::listen_at(folder.socket());
  Client first(folder.socket());
  os::start_daemon(SINEWD, {"--listening-on-3", "--daemon", "--linger", "0"}, listener);
  listener.reset();
  first.enter("camera");
  first.close();
  while (fs::exists(folder.socket())) ::usleep(1000);  // it is nobody's child whom one could wait for
}

TEST(Sinewd, as_a_daemon_it_keeps_no_descriptor_of_its_starter) {
  const Folder folder;
  os::Fd listener = os::listen_at(folder.socket());
  Client first(folder.socket());
  std::array<int, 2> stray{};
  ASSERT_EQ(::pipe(stray.data()), 0);  // not closed on exec
  os::start_daemon(SINEWD, {"--listening-on-3", "--daemon", "--linger", "0"}, listener);
  ::close(stray[1]);
  first.enter("camera");
  char byte = 0;
  EXPECT_EQ(::read(stray[0], &byte, 1), 0);  // else this waits for the manager, who waits for us
  ::close(stray[0]);
}

TEST(Sinewd, started_by_systemd_it_serves_the_socket_it_is_given_stays_and_leaves_the_file) {
  const Folder folder;
  const os::Fd listener = os::listen_at(folder.socket());
  Program manager({.arguments = {}, .descriptor_3 = listener.get(), .as_systemd = true});
  EXPECT_NE(manager.next_line().find("listens at " + folder.socket()), std::string::npos);
  {
    Client(folder.socket()).enter("camera");
  }
  Client(folder.socket()).enter("camera");
  manager.signal(SIGTERM);
  EXPECT_EQ(manager.wait(), 0);
  EXPECT_TRUE(fs::exists(folder.socket()));
}

TEST(Sinewd, a_descriptor_3_that_is_no_listening_packet_socket_is_refused_with_what_to_do) {
  const auto [one, other] = os::socket_pair();
  Program manager({.arguments = {}, .descriptor_3 = one.get(), .as_systemd = true});
  EXPECT_NE(manager.next_line().find("ListenSequentialPacket="), std::string::npos);
  EXPECT_EQ(manager.wait(), 1);
}

}  // namespace
}  // namespace sinew::manager
