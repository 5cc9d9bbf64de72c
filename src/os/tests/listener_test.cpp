// A listening socket that somebody else has made.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "os/fault.hpp"
#include "os/socket.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

Fd bound_socket(const std::string& path, int type) {
  Fd fd(::socket(AF_UNIX, type, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  return fd;
}

TEST(AdoptListener, gives_its_path_and_makes_it_non_blocking_and_closed_on_exec) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/given.sock";
  const Fd listener = bound_socket(path, SOCK_SEQPACKET);
  ASSERT_EQ(::listen(listener.get(), 5), 0);
  EXPECT_EQ(adopt_listener(listener), path);
  EXPECT_NE(::fcntl(listener.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(accept_from(listener));  // else this would wait for ever
  const auto client = connect_to(path);
  ASSERT_TRUE(client);
  EXPECT_TRUE(accept_from(listener));
}

TEST(AdoptListener, gives_a_path_that_fills_the_whole_address) {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/" + std::string(sizeof(sockaddr_un::sun_path) - folder.path().size() - 1, 'x');
  const Fd listener = bound_socket(path, SOCK_SEQPACKET);
  ASSERT_EQ(::listen(listener.get(), 5), 0);
  EXPECT_EQ(adopt_listener(listener), path);
}

TEST(AdoptListener, names_what_a_descriptor_lacks_and_how_to_give_it) {
  const test::TempFolder folder;
  std::string text;
  const auto expect_complaint = [&](const Fd& fd, const std::string& lack) {
    SINEW_EXPECT_ERROR(adopt_listener(fd), ErrorKind::invalid_argument, text);
    EXPECT_NE(text.find(lack), text.npos) << text;
    EXPECT_NE(text.find("descriptor " + std::to_string(fd.get())), text.npos) << text;
    EXPECT_NE(text.find("ListenSequentialPacket="), text.npos) << text;
  };
  expect_complaint(Fd(), "not a socket of this type");
  expect_complaint(Fd(::open("/dev/null", O_RDWR)), "not a socket of this type");
  const Fd stream = bound_socket(folder.path() + "/stream", SOCK_STREAM);
  ASSERT_EQ(::listen(stream.get(), 5), 0);
  expect_complaint(stream, "not a socket of this type");
  expect_complaint(bound_socket(folder.path() + "/deaf", SOCK_SEQPACKET), "does not listen");
  const Fd nameless(::socket(AF_UNIX, SOCK_SEQPACKET, 0));
  const sockaddr_un any{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_EQ(::bind(nameless.get(), reinterpret_cast<const sockaddr*>(&any), sizeof any.sun_family),
            0);  // the kernel gives an abstract name
  ASSERT_EQ(::listen(nameless.get(), 5), 0);
  expect_complaint(nameless, "has no path");
}

}  // namespace
}  // namespace sinew::os
