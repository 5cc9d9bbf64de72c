// What the tests of this layer share.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "os/event.hpp"
#include "os/fd.hpp"
#include "sinew/error.hpp"

namespace sinew::os::test {

/// How many descriptors this process has open.
inline std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}) - 1;
}

/// A socket whose last close() takes hours, since nobody reads what was sent through it.
struct Lingering {
  Fd socket, reader;
};
inline Lingering lingering_socket() {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(listener.get(), generic, size), 0);
  EXPECT_EQ(::listen(listener.get(), 1), 0);
  EXPECT_EQ(::getsockname(listener.get(), generic, &size), 0);
  Fd client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_EQ(::connect(client.get(), generic, size), 0);
  Fd reader(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const linger hours{1, 36'000};
  EXPECT_EQ(::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &hours, sizeof hours), 0);
  EXPECT_EQ(::fcntl(client.get(), F_SETFL, O_NONBLOCK), 0);
  const std::vector<char> bytes(65536);
  while (::write(client.get(), bytes.data(), bytes.size()) > 0) {
  }
  return {std::move(client), std::move(reader)};
}

/// Sends `count` eventfds in one packet, more than send_packet would. False when the kernel takes no more.
inline bool send_many(const Fd& socket, std::size_t count, std::size_t size = 1) {
  const Fd sent = create_eventfd();
  const std::vector<int> descriptors(count, sent.get());
  std::vector<std::byte> control(CMSG_SPACE(count * sizeof(int)));
  std::vector<std::byte> bytes(size);
  iovec piece{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(count * sizeof(int));
  std::memcpy(CMSG_DATA(rights), descriptors.data(), count * sizeof(int));
  return ::sendmsg(socket.get(), &message, MSG_DONTWAIT) == static_cast<ssize_t>(size);
}

/// Removes it with all in it, while a process that ends may be removing what it made there.
inline void remove_folder(const std::string& path) {
  std::error_code why;
  do {
    std::filesystem::remove_all(path, why);
  } while (why == std::errc::no_such_file_or_directory);
  EXPECT_FALSE(why) << path << ": " << why.message();
}

/// A folder that goes, with all in it, when the test ends.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sinew-test-XXXXXX").string();
    EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
    path_ = pattern;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() { remove_folder(path_); }

  const std::string& path() const { return path_; }

  /// Writes a file below the folder, and the folders on the way to it.
  void write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ + "/" + name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

 private:
  std::string path_;
};

/// Runs `body` in a forked process and gives its wait status; what `body` returns is the exit status.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    int result = 255;
    try {
      result = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
    }
    ::_exit(result);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

inline bool is_root() {
  return ::geteuid() == 0;
}

/// Becomes a user without any rights. For a forked process only.
inline bool become(uid_t user) {
  return ::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0;
}
inline bool become_nobody() {
  return become(1234);
}
/// One that no other test is that runs.
inline uid_t nobody_elses_user() {
  return 20'000 + static_cast<uid_t>(::getpid() % 40'000);  // of those that there are in a container, too
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// Expects `expression` to throw an Error of `expected_kind` and leaves its text in the string `text`.
#define SINEW_EXPECT_ERROR(expression, expected_kind, text)                                     \
  try {                                                                                         \
    static_cast<void>(expression);                                                              \
    ADD_FAILURE() << #expression " threw nothing";                                              \
  } catch (const sinew::Error& error) {                                                         \
    EXPECT_EQ(static_cast<int>(error.kind()), static_cast<int>(expected_kind)) << error.what(); \
    text = error.what();                                                                        \
  }

}  // namespace sinew::os::test
