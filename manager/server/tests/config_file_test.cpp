#include "manager/server/config_file.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>

#include "manager/server/tests/program.hpp"
#include "sinew/error.hpp"

namespace sinew::manager {
namespace {

namespace fs = std::filesystem;

/// A home of its own, in an environment that names no other place.
class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() {
    ::setenv("HOME", folder.path().c_str(), 1);
    ::unsetenv("XDG_CONFIG_HOME");
    ::unsetenv("SINEW_CONFIG");
  }
  std::string write(const std::string& name, const std::string& text = "{}") const {
    folder.write(name, text);
    return folder.path() + "/" + name;
  }
  Folder folder;
};

TEST_F(ConfigFile, the_one_named_to_the_manager_comes_before_that_of_the_environment_before_the_users_own_before_the_machines) {
  const std::string of_the_machine = "/etc/sinew/sinewd.json";
  EXPECT_EQ(find_config(""), fs::exists(of_the_machine) ? of_the_machine : "");
  const std::string at_home = write(".config/sinew/sinewd.json");
  EXPECT_EQ(find_config(""), at_home);
  const std::string by_xdg = write("xdg/sinew/sinewd.json");
  ::setenv("XDG_CONFIG_HOME", (folder.path() + "/xdg").c_str(), 1);
  EXPECT_EQ(find_config(""), by_xdg);
  ::setenv("SINEW_CONFIG", "/of/the/environment", 1);
  EXPECT_EQ(find_config(""), "/of/the/environment");
  EXPECT_EQ(find_config("/named"), "/named");
  EXPECT_EQ(find_config("named"), fs::current_path() / "named");
}

TEST_F(ConfigFile, one_that_cannot_be_read_is_an_error_and_none_allows_everything) {
  EXPECT_TRUE(load_config("").rules.empty());
  for (const std::string& path : {folder.path() + "/missing", folder.path()}) {
    try {
      load_config(path);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
    }
  }
}

// As in a container that was given this one file: what replaces it outside is not seen inside, where the old one, which has no name any more, still says who may do what.
TEST_F(ConfigFile, one_that_is_mounted_there_is_used_also_when_it_was_replaced_where_it_comes_from) {
  const std::string at_home = write(".config/sinew/sinewd.json"), next = write("next");
  const std::string outside = write("outside", R"({"access": [{"topic": "a", "publish": "none"}]})");
  constexpr int refused = 2;
  const int status = os::test::status_of_child([&] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return refused;
    if (::mount(outside.c_str(), at_home.c_str(), nullptr, MS_BIND, nullptr) != 0) return refused;
    fs::rename(next, outside);
    return find_config("") == at_home && load_config(at_home).rules.size() == 1 ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == refused) GTEST_SKIP() << "no namespaces here in which a file could be mounted";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(ConfigFile, users_are_those_of_this_machine) {
  const std::string path = write("rules", R"({"access": [{"topic": "a", "publish": {"uid": ["root"], "gid": ["root"]}}]})");
  const AccessRules rules = load_config(path);
  EXPECT_EQ(rules.file, path);
  EXPECT_EQ(rules.rules.at(0).publish.value().users, std::set<uid_t>{0});
  EXPECT_EQ(rules.rules.at(0).publish.value().groups, std::set<gid_t>{0});
}

TEST_F(ConfigFile, with_a_bad_one_the_manager_does_not_start_and_leaves_no_socket) {
  const std::string path = write("rules", R"({"access": [{"topic": "a", "publish": "some"}]})");
  Program manager({.arguments = {"--socket", folder.socket(), "--config", path}});
  EXPECT_EQ(manager.rest(),
            "sinewd: sinewd cannot use its configuration '" + path +
                "': access[0].publish is \"some\", expected \"all\", \"none\", or an object with 'uid' or 'gid' or both.\n");
  EXPECT_EQ(manager.wait(), 1);
  EXPECT_FALSE(fs::exists(folder.socket()));
}

TEST_F(ConfigFile, is_read_at_the_start_only) {
  const std::string path = write("rules", R"({"access": [{"topic": "ours", "publish": "none"}]})");
  Program manager({.arguments = {"--socket", folder.socket(), "--config", path}});
  manager.next_line();
  fs::remove(path);
  Client client(folder.socket());
  client.enter("node");
  client.send(wire::RegisterPublisher{1, "ours", some_type(), {8, false}});
  EXPECT_EQ(client.expect<wire::PublisherRefused>().kind, static_cast<std::uint32_t>(ErrorKind::denied));
  client.send(wire::RegisterPublisher{2, "yours", some_type(), {8, false}});
  client.expect<wire::PublisherRegistered>();
}

}  // namespace
}  // namespace sinew::manager
