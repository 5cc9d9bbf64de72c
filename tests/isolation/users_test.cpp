// Containers with users of their own: the same user under another number, another user under whatever number, and users without one.
#include "os/socket.hpp"
#include "tests/isolation/container.hpp"
#include "tests/system/paths.hpp"

namespace sinew::system {
namespace {

// container: "create" says what comes of it
ROLE(applicant) {
  enter_container(arguments.at(0));
  say("ready");
  for (std::string order; std::getline(std::cin, order);) {
    try {
      (void)Node::create("applicant");
      say("created");
    } catch (const Error& error) {
      say((error.kind() == ErrorKind::denied ? "denied: " : "error: ") + std::string(error.what()));
    }
  }
}

void expect_words(const std::string& said, const std::vector<std::string>& words) {
  for (const std::string& each : words) EXPECT_NE(said.find(each), said.npos) << each << " is missing in: " << said;
}

class SameUser : public Isolated {
 protected:
  /// This user, as number 1000.
  std::string words() const override { return "init users=1000:" + std::to_string(::geteuid()); }
};

TEST_F(SameUser, UnderAnotherNumberReadsInPlace) {
  auto node = Node::create("keeper");
  Contained writer("writer", "init", {"reliable all"});
  Contained reader("reader", words(), {"native", "reliable all"});
  EXPECT_EQ(writer.ask("await 1"), "there");
  EXPECT_EQ(writer.ask("publish 1 20"), "published");
  EXPECT_EQ(reader.ask("take 20"), numbers(1, 20));
  reader.end();
  writer.end();
}

TEST_F(SameUser, UnderAnotherNumberMayHaveTheManager) {
  Contained writer("writer", words(), {"reliable all"});
  EXPECT_EQ(managers_inside().size(), 1U);
  Contained reader("reader", "init", {"native", "reliable all"});
  EXPECT_EQ(writer.ask("await 1"), "there");
  EXPECT_EQ(writer.ask("publish 1 20"), "published");
  EXPECT_EQ(reader.ask("take 20"), numbers(1, 20));
  EXPECT_EQ(managers_inside().size() + managers(), 1U);
  reader.end();
  writer.end();
}

class OtherUser : public IsolatedUsers {
 protected:
  /// The stranger, as number 1000; 0 is the domain's user there as well.
  std::string words() const override { return "init users=0:0,1000:" + std::to_string(stranger_id) + " as=1000"; }
};

TEST_F(OtherUser, UnderWhateverNumberGetsCopies) {
  auto node = Node::create("keeper");
  Contained writer("writer", "init", {"reliable all"});
  Contained reader("reader", words(), {"other_user", "reliable all"});
  EXPECT_EQ(writer.ask("await 1"), "there");
  EXPECT_EQ(writer.ask("publish 1 8"), "published");
  EXPECT_EQ(reader.ask("take 8"), numbers(1, 8));
  reader.end();
  writer.end();
}

TEST_F(OtherUser, CallsAndIsCalled) {
  auto node = Node::create("keeper");
  for (const bool provides : {false, true}) {
    Contained provider("provider", provides ? words() : "init", {"provider"}), caller("caller", provides ? "init" : words());
    EXPECT_EQ(caller.ask("await 1"), "there");
    EXPECT_EQ(caller.ask("call 20"), "answered");
    EXPECT_EQ(caller.ask("move 3"), "cancelled");
    caller.end();
    provider.end();
  }
}

class UnmappedUser : public Isolated {
 protected:
  std::string words() const override { return "init unmapped"; }
};

// All who have no number look alike to it: it cannot know whose the manager is.
TEST_F(UnmappedUser, W37_W38_believes_no_manager_that_has_no_number_either) {
  auto node = Node::create("keeper");
  Contained applicant("applicant", words());
  const std::string said = applicant.ask("create");
  expect_words(said, {"denied: the manager at ", "65534"});
  applicant.end();
}

class UserUnknownToTheManager : public IsolatedUsers {};

TEST_F(UserUnknownToTheManager, W37_is_refused_whatever_number_may_join) {
  const std::string with_root_only = "init users=0:0";
  if (const std::string complaint = complaint_about(with_root_only); !complaint.empty()) GTEST_SKIP() << complaint;
  Contained keeper("keeper", with_root_only, {"keeper"});
  EXPECT_EQ(managers_inside().size(), 1U);
  Contained applicant("applicant", words());
  expect_words(applicant.ask("create"), {"denied: ", "runs as user 65534 (a user that is unknown here"});
  applicant.end();
  keeper.end();
}

// --- what the state of the domain tells ----------------------------------------------------------------------------------------------------

class ContainedState : public Isolated {};

TEST_F(ContainedState, TellsProcessesAsTheManagerSeesThem) {
  auto node = Node::create("outside");
  Contained inside("keeper", "init", {"inside"});
  EXPECT_TRUE(eventually([&] { return node->domain_state().nodes.size() == 2; }));
  for (const DomainNode& each : node->domain_state().nodes) {
    EXPECT_EQ(each.pid, each.name == "inside" ? inside.pid() : ::getpid());
    EXPECT_EQ(each.container.starts_with("pid namespace "), each.name == "inside") << each.container;
  }
  inside.end();
}

TEST_F(ContainedState, TellsNoNumberOfAProcessThatTheManagerCannotSee) {
  Contained keeper("keeper", "init", {"keeper"});
  auto node = Node::create("outside");
  Contained sibling("keeper", "init", {"sibling"});
  const std::string all = keeper.ask("state");
  EXPECT_NE(all.find("outside:0 in ;"), all.npos) << all;
  EXPECT_NE(all.find("sibling:0 in ;"), all.npos) << all;
  EXPECT_EQ(all.find("keeper:0 "), all.npos) << all;
  try {
    (void)Node::create("sibling");
    ADD_FAILURE() << "two nodes have one name";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::name_taken) << error.what();
    expect_words(error.what(), {"'sibling' is taken by a process that the manager cannot see"});
  }
  sibling.end();
  keeper.end();
}

TEST_F(ContainedState, TellsNoNumberOfAManagerThatTheNodeCannotSeeAndThatDoesNotAnswer) {
  const os::Fd silent = os::listen_at(socket());
  Contained applicant("applicant", "init");
  const std::string said = applicant.ask("create");
  expect_words(said, {"(a process that cannot be seen from here", "did not answer"});
  EXPECT_EQ(said.find("pid 0"), said.npos) << said;
  applicant.end();
}

}  // namespace
}  // namespace sinew::system
