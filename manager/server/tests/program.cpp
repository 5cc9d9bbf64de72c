#include "manager/server/tests/program.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <utility>

#include "os/socket.hpp"

namespace sinew::manager {

Program::Program(const Start& start) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  output_ = os::Fd(ends[0]);
  const os::Fd write_end(ends[1]);
  std::vector<std::string> words = {SINEWD};
  words.insert(words.end(), start.arguments.begin(), start.arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::dup2(write_end.get(), STDOUT_FILENO);
  ::dup2(write_end.get(), STDERR_FILENO);
  if (start.descriptor_3 == 3) {
    ::fcntl(3, F_SETFD, 0);
  } else if (start.descriptor_3 >= 0) {
    ::dup2(start.descriptor_3, 3);
  }
  if (start.as_systemd) {
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
  }
  if (start.descriptor_limit > 0) {
    const rlimit limit{start.descriptor_limit, start.descriptor_limit};
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::execv(SINEWD, arguments.data());
  ::_exit(127);
}

Program::~Program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  wait();
}

bool Program::read_more() {
  std::array<char, 4096> piece{};
  const ssize_t size = ::read(output_.get(), piece.data(), piece.size());
  if (size > 0) buffered_.append(piece.data(), static_cast<std::size_t>(size));
  return size > 0;
}

std::string Program::next_line() {
  while (buffered_.find('\n') == std::string::npos) {
    if (!read_more()) return rest();
  }
  const std::size_t end = buffered_.find('\n');
  const std::string line = buffered_.substr(0, end);
  buffered_.erase(0, end + 1);
  return line;
}

std::string Program::rest() {
  while (read_more()) {
  }
  return std::exchange(buffered_, {});
}

int Program::wait() {
  int status = 0;
  EXPECT_EQ(::waitpid(std::exchange(pid_, -1), &status, 0) > 0, true);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

namespace {
os::Fd connected_to(const std::string& path) {
  auto socket = os::connect_to(path);
  EXPECT_TRUE(socket) << "nobody listens at " << path;
  return socket ? std::move(*socket) : os::Fd();
}
}  // namespace

Client::Client(const std::string& path) : Talk(connected_to(path)) {}

wire::TypeDescription some_type() {
  wire::TypeDescription type;
  type.name = "uint32";
  type.signature = "uint32";
  type.hash[0] = 1;
  type.layout = 1;
  return type;
}

}  // namespace sinew::manager
