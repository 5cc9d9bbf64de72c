// Processes in containers: in mount, PID, IPC, network and (where asked for) user namespaces of their own, with the folder of the domain's socket as all that they share with others.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "tests/system/foreign.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

/// The exit status of a role that the kernel, or this user's rights, kept from making a container; its standard error says at which step.
inline constexpr int not_allowed = 77;

/// In a role, before anything else of it: goes on in a container, and says "in PID", the number that the test knows this process by. What the container's process ends with the role's process ends with.
///
/// In the container there are this program, the system's libraries (read-only), /proc, /dev/null, and the folder of the domain's socket under another name, which SINEW_DOMAIN has then.
/// Words: "init": beneath a process 1 that ends with it, else as process 1; "lasting": beneath one that ends with the last process of the container; "users=INSIDE:OUTSIDE,...": a user namespace with these users, and as many groups; "as=USER": becomes this user inside;
/// "unmapped": has no number there at all. Who is not root gets a user namespace with himself in any case.
void enter_container(const std::string& words);

/// A role whose first argument are the words of its container.
class Contained {
 public:
  Contained(const std::string& role, const std::string& words, const Arguments& more = {});

  void expect(const std::string& line) { child_.expect(line); }
  std::string ask(const std::string& order);
  void end() { child_.end(); }
  /// The process itself, as the kernel does when memory is short. What is process 1 takes all of its container with it.
  void kill();
  /// Of the process, as this one sees it.
  pid_t pid() const { return pid_; }
  Child& child() { return child_; }

 private:
  Child child_;
  pid_t pid_ = 0;
};

/// A domain for containers. Skips the test, and says why, where no container with `words()` can be made.
class Isolated : public Domain {
 protected:
  /// What the containers of the test need beside namespaces for mounts, processes, IPC and the network.
  virtual std::string words() const { return ""; }
  void SetUp() override;
  void TearDown() override;
  /// Why there can be no such container here; "" when there can.
  static std::string complaint_about(const std::string& words);
  /// The managers that were started in containers of this domain.
  std::vector<pid_t> managers_inside() const;
};

/// Only for root, with another user who may join.
class IsolatedUsers : public Isolated {
 protected:
  std::string words() const override { return "init as=" + std::to_string(stranger_id); }
  void SetUp() override;
};

}  // namespace sinew::system
