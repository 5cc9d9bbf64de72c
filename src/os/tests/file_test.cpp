#include "os/file.hpp"

#include <unistd.h>

#include <cerrno>

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
