// What a forked child is told in C of what it has inherited.
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "bindings/c/tests/in_c.hpp"

namespace sinew::system {
namespace {

class ForksInC : public NumbersInC {};

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

TEST_F(ForksInC, AreToldThatTheForkIsWhyNothingIsPublishedOrKeptThere) {
  sinew_publisher* const publisher = publisher_of("number");
  sinew_loan* loan = nullptr;
  std::uint8_t* data = nullptr;
  ASSERT_EQ(sinew_publisher_loan(publisher, 100, &loan, &data), SINEW_OK) << sinew_last_error();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto is_told = [](sinew_status status, const std::string& begin) {
      const std::string said = sinew_last_error();
      return status == SINEW_CLOSED && said.starts_with(begin) && said.ends_with("this process was forked from the publisher's");
    };
    sinew_loan* other = nullptr;
    sinew_loan_memory* memory = nullptr;
    const bool are_told = is_told(publish(publisher, stream_of(1)), "not published: ") &&
                          is_told(sinew_publisher_loan(publisher, 100, &other, &data), "not published: ") &&
                          is_told(sinew_loan_keep(loan, &memory), "the loan is not kept: ") &&
                          is_told(sinew_publisher_publish_loan(publisher, loan, 101), "not published: ");
    ::_exit(are_told ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  sinew_loan_release(loan);
  sinew_publisher_destroy(publisher);
}

}  // namespace
}  // namespace sinew::system
