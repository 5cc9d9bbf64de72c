#include "os/fault.hpp"

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "support.hpp"

namespace sinew::os::fault {
namespace {

TEST(Fault, exactly_the_nth_call_of_the_kind_fails_and_errno_says_why) {
  arm(Call::accept, 3, ECONNABORTED);
  EXPECT_FALSE(inject(Call::accept));
  EXPECT_FALSE(inject(Call::connect));
  EXPECT_FALSE(inject(Call::accept));
  errno = 0;
  EXPECT_TRUE(inject(Call::accept));
  EXPECT_EQ(errno, ECONNABORTED);
  EXPECT_FALSE(inject(Call::accept));
  disarm();
}

TEST(Fault, counts_the_calls_since_it_was_armed_or_disarmed) {
  disarm();
  inject(Call::poll);
  inject(Call::poll);
  EXPECT_EQ(passed(Call::poll), 2);
  EXPECT_EQ(passed(Call::read), 0);
  arm(Call::read, 1, EIO);
  EXPECT_EQ(passed(Call::poll), 0);
  disarm();
  EXPECT_FALSE(inject(Call::read));
}

TEST(Fault, a_new_wish_replaces_the_old_one) {
  arm(Call::mmap, 1, ENOMEM);
  arm(Call::send, 1, EPIPE);
  EXPECT_FALSE(inject(Call::mmap));
  EXPECT_TRUE(inject(Call::send));
  disarm();
}

TEST(Fault, one_thread_of_many_meets_it) {
  arm(Call::write, 500, EIO);
  std::atomic<int> met{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 250; ++i) met += inject(Call::write) ? 1 : 0;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(met, 1);
  EXPECT_EQ(passed(Call::write), 1000);
  disarm();
}

}  // namespace
}  // namespace sinew::os::fault
