// A domain that lets another user join, and becoming that user.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/system/harness.hpp"

namespace sinew::system {

inline constexpr uid_t stranger_id = 12345;

/// For root only, who alone can become another user.
class Foreign : public Domain {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Domain::SetUp();
    std::ofstream(config()) << R"({"join": {"uid": [12345]}})";
    ::setenv("SINEW_CONFIG", config().c_str(), 1);
    std::filesystem::permissions(folder(), std::filesystem::perms::others_exec, std::filesystem::perm_options::add);
  }
  void TearDown() override {
    if (::geteuid() != 0) return;
    std::filesystem::remove(config());
    ::unsetenv("SINEW_CONFIG");
    Domain::TearDown();
  }
  std::string config() const { return folder() + "/rules.json"; }
};

inline void become_stranger() {
  require(::setresgid(stranger_id, stranger_id, stranger_id) == 0 && ::setresuid(stranger_id, stranger_id, stranger_id) == 0,
          "cannot become another user");
}

}  // namespace sinew::system
