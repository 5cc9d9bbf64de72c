// The launcher starts real processes, names the one that fails, and leaves none behind. The processes are shell scripts here.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "pipeline.hpp"

namespace demo {
namespace {

// Ends well when told to, with a report in the run's folder (the fourth argument).
const std::string good = "trap 'echo publisher $name topic published=1 > $4/$name.report; exit 0' TERM\nwhile :; do sleep 0.02; done\n";

class Pipelines : public testing::Test {
 protected:
  Pipelines() {
    for (const char* name : {"camera", "lidar", "drone_state", "detector", "obstacle_finder", "fusion", "monitor"}) program(name, good);
  }
  ~Pipelines() override { std::filesystem::remove_all(folder_); }

  void program(const std::string& name, const std::string& body) {
    std::filesystem::create_directories(folder_);
    const auto path = folder_ / ("demo_" + name);
    std::ofstream(path) << "#!/bin/sh\nname=" << name << '\n' << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  Outcome run(int seconds) {
    return run_pipeline(
        {.transport = "tcp", .duration = std::chrono::seconds(seconds), .programs = folder_, .data = folder_, .picture = {}});
  }

  /// On a busy machine a process may need longer before it can hear of the end: then it is tried again.
  Outcome good_run() {
    Outcome outcome = run(1);
    for (int seconds = 2; !outcome.failures.empty() && seconds <= 16; seconds *= 2) outcome = run(seconds);
    return outcome;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      ("demo_pipeline_" + std::to_string(::getpid()) + "_" + testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(Pipelines, AGoodRunBringsTheReportOfEveryProcess) {
  const Outcome outcome = good_run();
  ASSERT_TRUE(outcome.failures.empty()) << outcome.failures.front();
  EXPECT_EQ(outcome.lines.size(), 7U);
  EXPECT_GT(outcome.cpu_seconds, 0);
  EXPECT_GE(outcome.seconds, 1);
}

TEST_F(Pipelines, AProcessThatCrashesEndsTheRunAndIsNamed) {
  program("detector", "kill -SEGV $$\n");
  const Outcome outcome = run(3600);
  ASSERT_EQ(outcome.failures.size(), 1U);
  EXPECT_EQ(outcome.failures[0].find("detector was killed by signal 11"), 0U) << outcome.failures[0];
}

TEST_F(Pipelines, AProcessThatGivesUpIsNamed) {
  program("lidar", "exit 3\n");
  EXPECT_EQ(run(3600).failures.at(0), "lidar ended with status 3");
}

TEST_F(Pipelines, AProgramThatIsMissingIsNamed) {
  std::filesystem::remove(folder_ / "demo_fusion");
  EXPECT_NE(run(3600).failures.at(0).find("no program demo_fusion"), std::string::npos);
}

TEST_F(Pipelines, ADaemonThatAProcessStartedIsEndedToo) {
  const auto pid_file = folder_ / "daemon.pid";
  program("camera", "(setsid sleep 3600 & echo $! > " + pid_file.string() + ")\n" + good);
  EXPECT_TRUE(good_run().failures.empty());
  pid_t pid = 0;
  std::ifstream(pid_file) >> pid;
  ASSERT_GT(pid, 0);
  EXPECT_EQ(::kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

}  // namespace
}  // namespace demo
