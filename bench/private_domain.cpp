#include "private_domain.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "clock.hpp"

namespace sinew::bench {

namespace {

constexpr std::int64_t patience_ns = 10'000'000'000;

}  // namespace

PrivateDomain::PrivateDomain() {
  if (const char* const given = std::getenv("SINEW_DOMAIN"); given != nullptr && *given != '\0') {
    name_ = given;
    return;
  }
  folder_ = (std::filesystem::temp_directory_path() / "sinew-bench-XXXXXX").string();
  if (mkdtemp(folder_.data()) == nullptr) throw std::system_error(errno, std::generic_category(), "making " + folder_);
  name_ = folder_ + "/domain.sock";

  const std::string program = program_beside("sinewd");
  manager_ = fork();
  if (manager_ < 0) {
    std::filesystem::remove_all(folder_);
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (manager_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) dup2(nowhere, STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), "--socket", name_.c_str(), nullptr);
    std::perror(program.c_str());
    _exit(1);
  }
  for (const std::int64_t until = now_ns() + patience_ns; !listens();) {
    if (now_ns() > until) {
      end();
      throw std::runtime_error(program + " was started but does not listen at " + name_);
    }
    usleep(1000);
  }
}

PrivateDomain::~PrivateDomain() {
  end();
}

void PrivateDomain::end() const {
  if (manager_ == 0) return;
  kill(manager_, SIGTERM);
  while (waitpid(manager_, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

bool PrivateDomain::listens() const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  name_.copy(address.sun_path, sizeof address.sun_path - 1);
  const int probe = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  const bool connected = connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(probe);
  return connected;
}

std::string program_beside(const std::string& name) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / name).string();
}

}  // namespace sinew::bench
