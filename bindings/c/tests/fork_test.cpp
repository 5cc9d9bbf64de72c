// What a forked child is told in C of what it has inherited.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "bindings/c/tests/in_c.hpp"

namespace sinew::system {
namespace {

class ForksInC : public InC {};

TEST_F(ForksInC, AreToldThatNoMessageComesThereAndDoNotWaitForOne) {
  sinew_subscriber* subscriber = nullptr;
  ASSERT_EQ(sinew_subscriber_create(node, "number", "test/Number{value:uint32;}", nullptr, nullptr, &subscriber), SINEW_OK)
      << sinew_last_error();
  const pid_t child = ::fork();
  if (child == 0) {
    sinew_frame* frame = nullptr;
    const bool is_told = sinew_subscriber_wait(subscriber, -1) == SINEW_OK &&
                         sinew_subscriber_take(subscriber, -1, &frame) == SINEW_CLOSED &&
                         sinew_subscriber_take(subscriber, 0, &frame) == SINEW_CLOSED;
    ::_exit(is_told && std::string(sinew_last_error()).find("was forked from") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  sinew_subscriber_destroy(subscriber);
}

}  // namespace
}  // namespace sinew::system
