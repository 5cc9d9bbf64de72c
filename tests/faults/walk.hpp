// Walks an operation through every system call that it makes, each failing with each error that is plausible.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "os/fault.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

/// One system call that is to fail. Every run of a scenario gets one.
class Fault {
 public:
  /// The number is 0 for a run in which none fails.
  Fault(os::fault::Call call, int error, int nth) : call_(call), error_(error), nth_(nth) {}
  virtual ~Fault() = default;
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  /// Runs the operation while the fault is armed, once per run. What it throws must say what is wrong in a sentence. True when it threw nothing.
  bool during(const std::function<void()>& operation);
  /// It has happened. Inside of during() a reason to wait no longer for what it may have prevented.
  virtual bool happened() const;
  /// Waits inside of during() until the condition holds or the fault has happened.
  void await(const std::function<bool()>& condition) const;
  bool is_none() const { return nth_ == 0; }

  os::fault::Call call() const { return call_; }
  /// After a run: whether the fault happened, and whether the operation said so.
  bool was_reached() const { return reached_; }
  bool was_told() const { return told_; }
  /// Of a run in which none fails: how many calls of each kind the operation made.
  const std::vector<int>& counts() const { return counts_; }

 protected:
  virtual void arm();
  virtual std::vector<int> disarm();
  int error() const { return error_; }
  int nth() const { return nth_; }

 private:
  const os::fault::Call call_;
  const int error_, nth_;
  bool reached_ = false, told_ = false;
  std::vector<int> counts_;
};

using Scenario = std::function<void(Fault&)>;

/// For each (operation, call, error, n) a scenario is run: it brings what the operation needs, has it run in Fault::during(), and then does the same again without a fault with what must have outlived it. What it made is gone when
/// it returns. Then this process has as many descriptors, shared mappings and threads as before, and the others no more descriptors and mappings.
void walk(const std::string& operation, const Scenario& scenario, const std::vector<const Child*>& others = {});
/// The same with faults in another process, which obeys them.
void walk_in(Child& process, const std::string& operation, const Scenario& scenario, const std::vector<const Child*>& others = {});

/// A fault in a process that calls obey_faults() with what it is ordered.
class FaultIn final : public Fault {
 public:
  FaultIn(Child& process, os::fault::Call call, int error, int nth) : Fault(call, error, nth), process_(process) {}
  bool happened() const override;

 protected:
  void arm() override;
  std::vector<int> disarm() override;

 private:
  Child& process_;
};

/// In the process of a FaultIn. False when the order is none of it.
bool obey_faults(const std::string& order);

}  // namespace sinew::system
