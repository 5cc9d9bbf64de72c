// A domain that lets another user join, and becoming that user.
#pragma once

#include <grp.h>
#include <unistd.h>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// For root only, who alone can become another user.
class Foreign : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    let_stranger_join();
  }
};

// Without the groups of who has started the tests, too: what is root's is its group's as well, as a shell of root has it.
inline void become_stranger() {
  require(::setgroups(0, nullptr) == 0 && ::setresgid(stranger_id, stranger_id, stranger_id) == 0 &&
              ::setresuid(stranger_id, stranger_id, stranger_id) == 0,
          "cannot become another user");
}

}  // namespace sinew::system
