// A manager that goes, and the next one, which may be played by hand.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <string>
#include <utility>

#include "os/socket.hpp"
#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"
#include "tests/system/stranger.hpp"

namespace sinew::system {

template <class Domain>
class WithRestarts : public Domain {
 protected:
  /// Returns when it is gone, not when the next one is there.
  void kill_manager() const {
    const pid_t pid = this->manager().value_or(0);
    ASSERT_GT(pid, 0);
    ASSERT_EQ(::kill(pid, SIGKILL), 0);
    this->await_end(pid);
  }
};

class Restarts : public WithRestarts<Domain> {
 protected:
  /// Returns when the next manager has introduced so many pairs of the nodes that are there.
  void restart_manager(Node& node, std::size_t pairs) const {
    kill_manager();
    EXPECT_TRUE(eventually([&] {
      const DomainState state = node.domain_state();
      return state.pairs.size() == pairs && std::ranges::all_of(state.pairs, &DomainPair::connected);
    }));
  }
};

/// The next manager has not taken what the one before it took.
inline bool is_refused(const Child& child) {
  return eventually([&] { return child.errors().find("another manager does not take what the one before took") != std::string::npos; });
}

/// Who registers at the manager that listens there.
inline Talk next_node(const os::Fd& listener) {
  os::Fd socket;
  EXPECT_TRUE(eventually([&] { return static_cast<bool>(socket = os::accept_from(listener)); }));
  Talk node(std::move(socket));
  node.expect<wire::RegisterNode>();
  return node;
}

}  // namespace sinew::system
