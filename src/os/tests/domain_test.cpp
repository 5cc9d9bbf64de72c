#include "os/domain.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "os/fault.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

class Domain : public ::testing::Test {
 protected:
  Domain() { ::setenv("XDG_RUNTIME_DIR", runtime.path().c_str(), 1); }
  test::TempFolder runtime;
};

TEST_F(Domain, without_a_name_is_called_default_in_the_users_runtime_folder) {
  EXPECT_EQ(domain_socket_path(nullptr), runtime.path() + "/sinew/default.sock");
  EXPECT_EQ(domain_socket_path(""), runtime.path() + "/sinew/default.sock");
}

TEST_F(Domain, has_a_socket_of_its_own_per_name) {
  EXPECT_EQ(domain_socket_path("arm-2_b.x"), runtime.path() + "/sinew/arm-2_b.x.sock");
}

TEST_F(Domain, gets_a_folder_for_its_user_alone_made_once) {
  domain_socket_path("a");
  domain_socket_path("b");
  struct stat status{};
  ASSERT_EQ(::stat((runtime.path() + "/sinew").c_str(), &status), 0);
  EXPECT_TRUE(S_ISDIR(status.st_mode));
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(Domain, whose_folder_was_removed_gets_it_again_and_what_is_a_path_does_not) {
  const std::string path = domain_socket_path("a");
  std::filesystem::remove(runtime.path() + "/sinew");
  restore_domain_folder(path);
  EXPECT_TRUE(std::filesystem::is_directory(runtime.path() + "/sinew"));
  restore_domain_folder(runtime.path() + "/other/a.sock");
  EXPECT_FALSE(std::filesystem::exists(runtime.path() + "/other"));
  ::setenv("XDG_RUNTIME_DIR", "not/absolute", 1);  // of no concern to a path
  EXPECT_NO_THROW(restore_domain_folder("/other/a.sock"));
}

TEST_F(Domain, with_a_slash_is_the_path_itself_and_no_folder_is_made) {
  EXPECT_EQ(domain_socket_path("/some/where.sock"), "/some/where.sock");
  EXPECT_EQ(domain_socket_path("./here.sock"), std::filesystem::current_path().string() + "/here.sock");
  EXPECT_FALSE(std::filesystem::exists(runtime.path() + "/sinew"));
}

TEST_F(Domain, name_of_other_characters_is_refused) {
  std::string text;
  SINEW_EXPECT_ERROR(domain_socket_path("my robot"), ErrorKind::invalid_argument, text);
  EXPECT_NE(text.find("'my robot'"), text.npos) << text;
  SINEW_EXPECT_ERROR(domain_socket_path("a:b"), ErrorKind::invalid_argument, text);
}

TEST_F(Domain, path_longer_than_a_socket_address_is_refused_with_both_lengths) {
  std::string text;
  SINEW_EXPECT_ERROR(domain_socket_path(("/" + std::string(107, 'x')).c_str()), ErrorKind::invalid_argument, text);
  EXPECT_NE(text.find("at most 107 bytes and this one has 108"), text.npos) << text;
  EXPECT_EQ(domain_socket_path(("/" + std::string(106, 'x')).c_str()).size(), 107u);
  SINEW_EXPECT_ERROR(domain_socket_path(std::string(100, 'n').c_str()), ErrorKind::invalid_argument, text);
  EXPECT_NE(text.find("SINEW_DOMAIN"), text.npos) << text;
}

std::string path_or_complaint() {
  try {
    return domain_socket_path("d");
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_F(Domain, of_a_user_without_a_runtime_folder_is_in_a_folder_of_theirs_alone_among_the_temporary_ones) {
  if (!test::is_root()) GTEST_SKIP() << "becoming another user needs root";
  const uid_t user = test::nobody_elses_user();
  const std::string folder = "/tmp/sinew-" + std::to_string(user);
  const auto remove = [&] { std::filesystem::remove_all(folder); };
  const auto path_for_nobody = [&] {
    std::string said(500, '\0');
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const Fd reader(ends[0]), writer(ends[1]);
    EXPECT_EQ(test::status_of_child([&] {
                ::unsetenv("XDG_RUNTIME_DIR");
                if (!test::become(user)) return 2;
                const std::string path = path_or_complaint();
                return ::write(writer.get(), path.data(), path.size()) > 0 ? 0 : 3;
              }),
              0);
    said.resize(static_cast<std::size_t>(std::max<ssize_t>(::read(reader.get(), said.data(), said.size()), 0)));
    return said;
  };
  remove();
  EXPECT_EQ(path_for_nobody(), folder + "/d.sock");
  struct stat status{};
  ASSERT_EQ(::lstat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_EQ(path_for_nobody(), folder + "/d.sock") << "it is there";

  ASSERT_EQ(::chmod(folder.c_str(), 0770), 0);
  for (const char* word : {folder.c_str(), "not this user's alone", "XDG_RUNTIME_DIR", "SINEW_DOMAIN"}) {
    EXPECT_NE(path_for_nobody().find(word), std::string::npos) << path_for_nobody();
  }
  ASSERT_EQ(::chmod(folder.c_str(), 0700), 0);
  ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  EXPECT_NE(path_for_nobody().find("not this user's alone"), std::string::npos) << "somebody else made it";
  remove();
  ASSERT_EQ(::symlink(runtime.path().c_str(), folder.c_str()), 0);
  EXPECT_NE(path_for_nobody().find("not this user's alone"), std::string::npos) << "it leads elsewhere";
  remove();
}

TEST_F(Domain, is_in_the_runtime_folder_that_is_named_also_when_that_is_the_temporary_one) {
  ::setenv("XDG_RUNTIME_DIR", "/tmp", 1);
  fault::arm(fault::Call::mkdir, 1, EEXIST);
  EXPECT_EQ(domain_socket_path(nullptr), "/tmp/sinew/default.sock");
  fault::disarm();
}

TEST_F(Domain, of_root_falls_back_to_run_and_says_what_was_tried_and_what_to_set) {
  if (!test::is_root()) GTEST_SKIP() << "others fall back to another folder";
  ::unsetenv("XDG_RUNTIME_DIR");
  fault::arm(fault::Call::mkdir, 1, EEXIST);
  EXPECT_EQ(domain_socket_path(nullptr), "/run/sinew/default.sock");
  fault::arm(fault::Call::mkdir, 1, EACCES);
  std::string text;
  SINEW_EXPECT_ERROR(domain_socket_path(nullptr), ErrorKind::unavailable, text);
  fault::disarm();
  for (const char* word : {"/run/sinew", "XDG_RUNTIME_DIR", "SINEW_DOMAIN"}) EXPECT_NE(text.find(word), text.npos) << text;
}

TEST_F(Domain, a_runtime_folder_that_is_missing_or_relative_is_an_error) {
  std::string text;
  ::setenv("XDG_RUNTIME_DIR", (runtime.path() + "/missing").c_str(), 1);
  SINEW_EXPECT_ERROR(domain_socket_path(nullptr), ErrorKind::unavailable, text);
  EXPECT_NE(text.find(runtime.path() + "/missing/sinew"), text.npos) << text;
  ::setenv("XDG_RUNTIME_DIR", "relative", 1);
  SINEW_EXPECT_ERROR(domain_socket_path(nullptr), ErrorKind::invalid_argument, text);
}

}  // namespace
}  // namespace sinew::os
