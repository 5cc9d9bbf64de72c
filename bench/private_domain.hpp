// A domain with a manager of its own, for one cell.
#pragma once

#include <sys/types.h>

#include <string>

namespace sinew::bench {

/// Starts the manager that lies beside this program on a socket in a new temporary folder, and ends both when destroyed. While SINEW_DOMAIN is set, it
/// is that domain, and nothing is started.
class PrivateDomain {
 public:
  /// Blocks until the manager listens. Throws std::runtime_error when it does not start.
  PrivateDomain();
  PrivateDomain(const PrivateDomain&) = delete;
  PrivateDomain& operator=(const PrivateDomain&) = delete;
  ~PrivateDomain();

  /// For NodeOptions::domain.
  const std::string& name() const { return name_; }
  /// The process that was started; 0 when none was.
  pid_t manager() const { return manager_; }

 private:
  bool listens() const;
  void end() const;

  std::string folder_;
  std::string name_;
  pid_t manager_ = 0;
};

/// The path of a program that lies in the same folder as this one.
std::string program_beside(const std::string& name);

}  // namespace sinew::bench
