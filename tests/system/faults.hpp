// A fixture for tests of system calls that fail, each in its turn.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "os/fault.hpp"
#include "sinew/sinew.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

/// What this call says when the machine has run out of something, or a likely other failure.
inline int likely_error(os::fault::Call call) {
  using os::fault::Call;
  switch (call) {
    case Call::memfd_create:
    case Call::socket:
    case Call::socketpair:
    case Call::accept:
    case Call::eventfd:
    case Call::epoll_create:
    case Call::open:
    case Call::dup:
      return EMFILE;
    case Call::send:
      return ENOBUFS;
    case Call::spawn:
    case Call::thread:
      return EAGAIN;
    case Call::write:
      return EINTR;  // to eventfds only, and nothing else happens to these
    default:
      return ENOMEM;
  }
}

class WithFaults : public Domain, public ::testing::WithParamInterface<os::fault::Call> {
 protected:
  /// Runs `scenario` with the first, the second, ... call of the kind failing, until there are no more. `scenario` gets a function that is true when the
  /// fault has happened.
  void walk(const std::function<void(const std::function<bool()>&)>& scenario) {
    const os::fault::Call call = GetParam();
    const auto run = [&](int nth) {
      os::fault::arm(call, nth, likely_error(call));
      std::string outcome = "fine";
      try {
        scenario([&] { return os::fault::passed(call) >= nth; });
      } catch (const Error& error) {
        outcome = error.what();
        EXPECT_GT(outcome.size(), 20U) << "a sentence: " << outcome;
      }
      const bool reached = os::fault::passed(call) >= nth;
      os::fault::disarm();
      return reached;
    };
    const auto threads = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {}); };
    const auto threads_before = threads();
    run(1'000'000);  // what is made once per process is made now
    // A descriptor of which it is not known that it closes at once has a thread for that.
    EXPECT_TRUE(eventually([&] { return threads() == threads_before; }));
    const auto count = [] { return std::pair(descriptors_of(::getpid()), mappings_of(::getpid())); };
    const auto before = count();
    for (int nth = 1; nth < 200; ++nth) {
      const bool reached = run(nth);
      EXPECT_TRUE(eventually([&] { return count() == before; }))
          << "number " << nth << " leaks: " << count().first << " descriptors and " << count().second << " mappings, not " << before.first
          << " and " << before.second;
      if (!reached || HasFailure()) return;
    }
  }
};

inline std::vector<os::fault::Call> every_call() {
  std::vector<os::fault::Call> all;
  for (int call = 0; call < static_cast<int>(os::fault::Call::count_of_calls); ++call) all.push_back(static_cast<os::fault::Call>(call));
  return all;
}

}  // namespace sinew::system
