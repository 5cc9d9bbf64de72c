// Every system call of every wrapper fails once, with every error of a list: nothing leaks, nothing but sinew::Error comes out.
#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <limits>
#include <thread>

#include "os/clock.hpp"
#include "os/domain.hpp"
#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/file.hpp"
#include "os/memory.hpp"
#include "os/process.hpp"
#include "os/socket.hpp"
#include "os/thread.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

struct Scenario {
  const char* name;
  std::function<void(const std::string& folder)> run;
};

void PrintTo(const Scenario& scenario, std::ostream* out) {
  *out << scenario.name;
}

void memory(const std::string&) {
  const Fd memfd = create_memfd("walk", 3 << 20);
  const Mapping mapping = Mapping::map(memfd, 3 << 20, Access::read_write);
  seal_for_readers(memfd);
  static_cast<void>(identity_of(memfd));
  static_cast<void>(complaint_about_peer_memfd(memfd, 3 << 20));
  static_cast<void>(Mapping::map_at(memfd, probe_address_range().base, 3 << 20, Access::read));
  static_cast<void>(available_memory());
}

void sockets(const std::string& folder) {
  const std::string path = folder + "/walk.sock";
  std::filesystem::remove(path);
  const Fd listener = listen_at(path);
  const auto client = connect_to(path);
  const Fd server = accept_from(listener);
  if (!client || !server) return;
  static_cast<void>(adopt_listener(listener));
  static_cast<void>(peer_credentials(server));
  receive_credentials(server);
  const Fd sent = create_eventfd();
  const std::array<int, 2> descriptors = {sent.get(), sent.get()};
  send_packet(*client, test::bytes_of("walk"), descriptors);
  std::vector<std::byte> buffer(max_packet);
  const Received received = receive_packet(server, buffer);
  const auto pair = socket_pair();
}

void events(const std::string&) {
  const Fd bell = create_eventfd();
  const Fd copy = bell.duplicate();
  Poller poller;
  poller.add(bell, 1);
  poller.change(bell, 2, true);
  ring(bell.get());
  std::array<Poller::Event, 2> ready;
  poller.wait(ready);
  poller.wait(ready, now_ns());
  wait_and_drain(bell.get(), now_ns());
  static_cast<void>(is_eventfd(bell));
  poller.remove(bell);
}

void processes(const std::string& folder) {
  const Fd lock = lock_folder(folder);
  const Fd pidfd = open_pidfd(::getpid());
  static_cast<void>(read_file(folder + "/none"));
  static_cast<void>(look_at_file(folder));
  static_cast<void>(remove_file(folder + "/none"));
  static_cast<void>(folder_of_code(&folder));
  start_thread("walk", [] {}).join();
  allow_many_descriptors();
  start_daemon("/bin/true", {}, lock);
  ::setenv("XDG_RUNTIME_DIR", folder.c_str(), 1);
  static_cast<void>(domain_socket_path(nullptr));
}

class FaultWalk : public ::testing::TestWithParam<Scenario> {
 protected:
  /// Runs the scenario and gives the text of the Error that it threw, "" when it threw none.
  std::string complaint() const {
    try {
      GetParam().run(folder.path());
      return "";
    } catch (const Error& error) {
      EXPECT_STRNE(error.what(), "");
      return error.what();
    }
  }
  test::TempFolder folder;
};

TEST_P(FaultWalk, leaks_no_descriptor_whichever_call_fails) {
  const auto before = test::open_descriptors();
  int walked = 0;
  for (int kind = 0; kind < static_cast<int>(fault::Call::count_of_calls); ++kind) {
    const auto call = static_cast<fault::Call>(kind);
    fault::disarm();
    ASSERT_EQ(complaint(), "");
    const int calls = fault::passed(call);
    for (int nth = 1; nth <= calls; ++nth) {
      for (const int error : {EMFILE, ENOMEM, EACCES, EINVAL, EIO}) {
        fault::arm(call, nth, error);
        static_cast<void>(complaint());
        // What was sent may be closed on another thread.
        for (int i = 0; i < 10'000 && test::open_descriptors() != before; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(test::open_descriptors(), before) << "call " << kind << ", number " << nth << ", errno " << error;
        ++walked;
      }
    }
  }
  fault::disarm();
  EXPECT_GE(walked, 10);
}

TEST_P(FaultWalk, does_not_notice_signals) {
  fault::disarm();
  for (int kind = 0; kind < static_cast<int>(fault::Call::count_of_calls); ++kind) {
    const auto call = static_cast<fault::Call>(kind);
    // Linux documents no interruption of these.
    if (call == fault::Call::mmap || call == fault::Call::spawn || call == fault::Call::thread) continue;
    for (int nth = 1, calls = 1; nth <= calls; ++nth) {
      fault::arm(call, nth, EINTR);
      EXPECT_EQ(complaint(), "") << "call " << kind << ", number " << nth;
      calls = fault::passed(call);
    }
  }
  fault::disarm();
}

INSTANTIATE_TEST_SUITE_P(Of, FaultWalk,
                         ::testing::Values(Scenario{"memory", memory}, Scenario{"sockets", sockets}, Scenario{"events", events},
                                           Scenario{"processes", processes}),
                         [](const auto& scenario) { return std::string(scenario.param.name); });

}  // namespace
}  // namespace sinew::os
