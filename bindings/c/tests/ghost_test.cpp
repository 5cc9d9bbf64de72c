// Ghosts in C: what they are told when their topic goes.
#include <thread>

#include "bindings/c/tests/in_c.hpp"

namespace sinew::system {
namespace {

class GhostsInC : public InC {
 protected:
  static constexpr const char* type = "test/Number{value:uint32;}";

  /// A publisher, and a ghost that reads it.
  void create() {
    ASSERT_EQ(sinew_publisher_create(node, "number", type, nullptr, nullptr, &publisher), SINEW_OK) << sinew_last_error();
    auto options = sized<sinew_subscriber_options>();
    options.ghost = SINEW_GHOST_OBSERVER;
    ASSERT_EQ(sinew_subscriber_create(node, "number", type, nullptr, &options, &ghost), SINEW_OK) << sinew_last_error();
  }
  sinew_publisher* publisher = nullptr;
  sinew_subscriber* ghost = nullptr;
};

TEST_F(GhostsInC, AreToldThatTheirTopicIsGone) {
  create();
  sinew_publisher_destroy(publisher);
  sinew_frame* frame = nullptr;
  ASSERT_TRUE(eventually([&] { return sinew_subscriber_take(ghost, 0, &frame) == SINEW_CLOSED; }));
  EXPECT_STREQ(sinew_last_error(), "the ghost's topic is gone: no message comes any more");
  EXPECT_EQ(sinew_subscriber_wait(ghost, -1), SINEW_OK);
  EXPECT_EQ(sinew_subscriber_take(ghost, -1, &frame), SINEW_CLOSED);
  sinew_subscriber_destroy(ghost);
}

TEST_F(GhostsInC, AreToldSoAlsoWhileTheyWait) {
  for (int i = 0; i < rounds(20); ++i) {
    create();
    std::thread waits([&] {
      sinew_frame* frame = nullptr;
      EXPECT_EQ(sinew_subscriber_wait(ghost, -1), SINEW_OK) << sinew_last_error();
      EXPECT_EQ(sinew_subscriber_take(ghost, -1, &frame), SINEW_CLOSED) << sinew_last_error();
    });
    sinew_publisher_destroy(publisher);
    waits.join();
    sinew_subscriber_destroy(ghost);
  }
}

}  // namespace
}  // namespace sinew::system
