// The domain of the storm.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "os/tests/support.hpp"
#include "sinew/sinew.hpp"
#include "tests/storm/graph.hpp"
#include "tests/system/harness.hpp"

namespace sinew::system {

/// What was done to the graph, how often, and what came of it.
class Tally {
 public:
  void did(const std::string& fault, int times = 1) {
    all_[fault].times += times;
    since_.insert(fault);
  }
  /// Whether everybody else is well. If not, whatever was done since the last time may be the reason.
  void look(bool is_well) {
    for (const std::string& fault : since_) all_[fault].noticed += is_well ? 0 : 1;
    since_.clear();
  }
  /// Something was left behind, by whatever it was.
  void left_behind() {
    for (auto& [fault, count] : all_) ++count.left;
  }
  void report() const {
    for (const auto& [fault, count] : all_) system::report({fault, count.times, count.noticed, count.left});
  }
  void print() const {
    for (const auto& [fault, count] : all_) std::cout << "  " << count.times << " " << fault << "\n";
  }

 private:
  struct Count {
    int times = 0, noticed = 0, left = 0;
  };
  std::map<std::string, Count> all_;
  std::set<std::string> since_;
};

/// A folder of its own for the files that $VARIABLE says where to make; anybody may.
class FolderOf {
 public:
  FolderOf(const char* variable, std::string path) : variable_(variable), path_(std::move(path)) {
    if (const char* const before = std::getenv(variable)) before_ = before;
    std::filesystem::create_directory(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::all | std::filesystem::perms::sticky_bit);
    ::setenv(variable, path_.c_str(), 1);
  }
  ~FolderOf() {
    before_ ? ::setenv(variable_, before_->c_str(), 1) : ::unsetenv(variable_);
    os::test::remove_folder(path_);
  }
  FolderOf(const FolderOf&) = delete;
  FolderOf& operator=(const FolderOf&) = delete;
  const std::string& path() const { return path_; }

 private:
  const char* const variable_;
  const std::string path_;
  std::optional<std::string> before_;
};

/// The names of what is in a folder.
inline std::set<std::string> files_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code gone;
  for (const auto& each : std::filesystem::directory_iterator(folder, gone)) names.insert(each.path().filename());
  return names;
}

/// From now on this process and its children have a /dev/shm of their own, in which nobody else makes files. False where that is not permitted.
inline bool has_own_dev_shm() {
  static const bool has = ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::mount("sinew-storm", "/dev/shm", "tmpfs", 0, nullptr) == 0;
  return has;
}

/// Its rules let another user join. As Foreign, but also for those who cannot become another user. Looks for files also where programs like to leave some.
class StormDomain : public Domain {
 protected:
  void SetUp() override {
    Domain::SetUp();
    has_own_dev_shm();
    in_dev_shm_ = files_in("/dev/shm");
    runtime_.emplace("XDG_RUNTIME_DIR", folder() + "/runtime");
    temporary_.emplace("TMPDIR", folder() + "/temporary");
    let_stranger_join();
  }
  void TearDown() override {
    const bool had_failed = HasFailure();
    for (const auto& each : {runtime_->path(), temporary_->path()})
      EXPECT_EQ(files_in(each), std::set<std::string>{}) << "left in " << each;
    runtime_.reset();
    temporary_.reset();
    Domain::TearDown();
    if (has_own_dev_shm()) {
      EXPECT_EQ(files_in("/dev/shm"), in_dev_shm_);
    }
    if (HasFailure() && !had_failed) tally_.left_behind();
    tally_.report();
  }
  /// "" when everybody else is well, and the tally knows.
  std::string trouble_of(Graph& graph, const Place* but = nullptr) {
    const std::string trouble = graph.trouble(but);
    tally_.look(trouble.empty());
    return trouble;
  }
  /// All end by themselves, and nothing is left of them.
  void end(Graph& graph, Node& node, const std::map<std::string, Graph::Belongings>& before) {
    std::string left;
    eventually([&] { return (left = what_has_grown(before, graph.belongings(manager().value_or(0)))).empty(); });
    left += graph.end();
    if (!eventually([&] { return node.domain_state().topics.empty(); })) left += "topics of workers that are gone";
    if (!left.empty()) tally_.left_behind();
    EXPECT_EQ(left, "");
  }

  Tally tally_;

 private:
  std::optional<FolderOf> runtime_, temporary_;
  std::set<std::string> in_dev_shm_;
};

}  // namespace sinew::system
