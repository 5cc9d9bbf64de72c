#include "os/file.hpp"

#include <unistd.h>

#include <cerrno>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/socket.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

TEST(LookAtFile, tells_a_socket_from_another_file_and_one_file_from_another) {
  const test::TempFolder folder;
  folder.write("plain", "text");
  const Fd listener = listen_at(folder.path() + "/socket");
  const auto plain = look_at_file(folder.path() + "/plain"), socket = look_at_file(folder.path() + "/socket");
  ASSERT_TRUE(plain && socket);
  EXPECT_FALSE(plain->is_socket);
  EXPECT_TRUE(socket->is_socket);
  EXPECT_NE(plain->identity, socket->identity);
  EXPECT_EQ(plain->identity, look_at_file(folder.path() + "/plain")->identity);
  EXPECT_FALSE(look_at_file(folder.path() + "/none"));
}

TEST(LookAtFile, sees_a_symbolic_link_itself) {
  const test::TempFolder folder;
  const Fd listener = listen_at(folder.path() + "/socket");
  ASSERT_EQ(::symlink("socket", (folder.path() + "/link").c_str()), 0);
  const auto link = look_at_file(folder.path() + "/link");
  ASSERT_TRUE(link);
  EXPECT_FALSE(link->is_socket);
}

// What is being removed is told of, as to watch_name(), a moment before its name is gone: of 3000 sockets whose removal was noticed, 4 were still found there. A folder that one is in can be looked at for longer.
TEST(LookAtFile, tells_of_what_has_no_name_left) {
  namespace fs = std::filesystem;
  const test::TempFolder folder;
  const fs::path before = fs::current_path();
  const std::string removed = folder.path() + "/removed";
  fs::create_directory(removed);
  fs::current_path(removed);
  const auto seen = look_at_file(".");
  ASSERT_TRUE(seen && seen->has_name);
  EXPECT_FALSE(leads_elsewhere(".", seen->identity));
  fs::remove(removed);
  EXPECT_FALSE(look_at_file(".").value().has_name);
  EXPECT_TRUE(leads_elsewhere(".", seen->identity));
  fs::current_path(before);
}

/// Whether `change` is noticed, and what the path leads to afterwards.
template <class Change>
std::pair<bool, bool> noticed_and_lost(const std::string& path, Change change) {
  const FileIdentity identity = look_at_file(path).value().identity;
  EXPECT_FALSE(leads_elsewhere(path, identity));
  const Fd watch = watch_name(path);
  EXPECT_FALSE(wait_until_rung(watch.get(), now_ns()));
  change();
  const bool noticed = wait_until_rung(watch.get(), now_ns());
  drain_watch(watch);
  EXPECT_FALSE(wait_until_rung(watch.get(), now_ns()));
  return {noticed, leads_elsewhere(path, identity)};
}

TEST(WatchName, notices_whatever_takes_the_name_from_a_socket_and_nothing_else_in_its_folder) {
  namespace fs = std::filesystem;
  const test::TempFolder place;
  const std::string folder = place.path() + "/folder", path = folder + "/socket";
  const std::pair lost(true, true), nothing(false, false);
  const auto with_socket = [&](auto change) {
    fs::remove_all(folder);
    fs::create_directory(folder);
    const Fd listener = listen_at(path);
    return noticed_and_lost(path, [&] { change(); });
  };
  EXPECT_EQ(with_socket([&] { fs::remove(path); }), lost);
  EXPECT_EQ(with_socket([&] { fs::remove_all(folder); }), lost);
  EXPECT_EQ(with_socket([&] { fs::rename(path, path + ".old"); }), lost);
  EXPECT_EQ(with_socket([&] {
              const Fd other = listen_at(path + ".new");
              fs::rename(path + ".new", path);
            }),
            lost);
  EXPECT_EQ(with_socket([&] { fs::rename(folder, folder + ".old"); }), lost);
  fs::rename(folder + ".old", folder);
  EXPECT_EQ(with_socket([&] {
              place.write("folder/other", "");
              fs::remove(folder + "/other");
              EXPECT_TRUE(connect_to(path));
            }),
            nothing);
}

TEST(WatchName, says_what_is_lacking_and_what_cannot_be_looked_at_is_not_lost) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/socket";
  const Fd listener = listen_at(path);
  std::string text;
  fault::arm(fault::Call::inotify, 1, EMFILE);
  SINEW_EXPECT_ERROR(watch_name(path), ErrorKind::exhausted, text);
  EXPECT_NE(text.find("max_user_instances"), text.npos) << text;
  fault::disarm();
  SINEW_EXPECT_ERROR(watch_name(path + ".none"), ErrorKind::unavailable, text);
  fault::arm(fault::Call::lstat, 1, EACCES);
  EXPECT_FALSE(leads_elsewhere(path, {}));
  fault::disarm();
  EXPECT_TRUE(leads_elsewhere(path, {}));
}

TEST(RemoveFile, removes_a_name_and_says_when_it_could_not) {
  const test::TempFolder folder;
  folder.write("plain", "text");
  const std::string path = folder.path() + "/plain";
  fault::arm(fault::Call::unlink, 1, EACCES);
  EXPECT_FALSE(remove_file(path));
  fault::disarm();
  EXPECT_TRUE(look_at_file(path));
  EXPECT_TRUE(remove_file(path));
  EXPECT_FALSE(look_at_file(path));
  EXPECT_FALSE(remove_file(path));
}

}  // namespace
}  // namespace sinew::os
