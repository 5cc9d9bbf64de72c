// What processes report arrives as it was written, and is judged as promised.
#include <gtest/gtest.h>

#include <sstream>

#include "report.hpp"
#include "summary.hpp"
#include "watch.hpp"

namespace demo {
namespace {

Outcome good_run() {
  Outcome outcome;
  outcome.seconds = 10;
  outcome.lines = {{"publisher", "camera", "camera/image", {{"published", 300}, {"bytes_copied", 0}}},
                   {"subscriber", "detector", "camera/image", {{"received", 300}, {"bytes_copied", 0}, {"not_in_place", 0}}},
                   {"watched", "monitor", "camera/image", {{"received", 300}, {"rate", 30}, {"bytes", 1866e6}}}};
  return outcome;
}

TEST(Report, LinesAreReadAsTheyWereWritten) {
  std::stringstream text;
  write_report(text, good_run().lines);
  const auto lines = read_report(text);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].kind, "subscriber");
  EXPECT_EQ(lines[1].node, "detector");
  EXPECT_EQ(lines[2]["bytes"], 1866e6);
  EXPECT_EQ(lines[2]["nothing of that name"], 0);
}

TEST(Report, AnythingElseIsRefused) {
  std::istringstream text("publisher camera camera/image published=many\n");
  EXPECT_THROW(read_report(text), std::runtime_error);
}

TEST(Summary, AGoodRunHasNoComplaints) {
  EXPECT_TRUE(complaints(good_run(), "sinew").empty());
}

TEST(Summary, ASilentTopicFails) {
  Outcome outcome = good_run();
  outcome.lines[2].values["received"] = 0;
  ASSERT_EQ(complaints(outcome, "sinew").size(), 1U);
  EXPECT_NE(complaints(outcome, "tcp").at(0).find("camera/image was silent"), std::string::npos);
}

TEST(Summary, ATopicThatStopsHalfWayFails) {
  Outcome outcome = good_run();
  outcome.lines[2].values["quiet_s"] = 4;
  EXPECT_EQ(complaints(outcome, "sinew").size(), 1U);
}

TEST(Summary, AnInputThatGotNothingFails) {
  Outcome outcome = good_run();
  outcome.lines[1].values["received"] = 0;
  EXPECT_NE(complaints(outcome, "sinew").at(0).find("detector got nothing"), std::string::npos);
}

TEST(Summary, OneCopiedByteOnTheCameraTopicFailsOverSinewOnly) {
  for (const std::size_t side : {0U, 1U}) {
    Outcome outcome = good_run();
    outcome.lines[side].values["bytes_copied"] = 1;
    EXPECT_EQ(complaints(outcome, "sinew").size(), 1U);
    EXPECT_TRUE(complaints(outcome, "tcp").empty());
    for (ReportLine& line : outcome.lines) line.topic = "lidar/points";
    EXPECT_EQ(complaints(outcome, "sinew").size(), 1U);
    for (ReportLine& line : outcome.lines) line.topic = "drone/state";
    EXPECT_TRUE(complaints(outcome, "sinew").empty());
  }
}

TEST(Summary, AMessageNotReadInPlaceFails) {
  Outcome outcome = good_run();
  outcome.lines[1].values["not_in_place"] = 1;
  EXPECT_EQ(complaints(outcome, "sinew").size(), 1U);
}

TEST(Summary, AMessageThatWasRefusedFails) {
  Outcome outcome = good_run();
  outcome.lines[0].values["refused"] = 1;
  EXPECT_EQ(complaints(outcome, "sinew").size(), 1U);
}

TEST(Summary, AProcessThatFailedIsNamed) {
  Outcome outcome = good_run();
  outcome.failures = {"detector was killed by signal 11"};
  EXPECT_EQ(complaints(outcome, "sinew"), outcome.failures);
}

TEST(Summary, BothRunsStandSideBySide) {
  Outcome tcp = good_run();
  tcp.lines[0].values["bytes_copied"] = 300 * 25e6;
  const std::string text = side_by_side(good_run(), tcp);
  const auto line = text.substr(text.find("camera/image"), text.find('\n', text.find("camera/image")) - text.find("camera/image"));
  EXPECT_NE(line.find("0 B"), std::string::npos) << text;
  EXPECT_NE(line.find("25.0 MB"), std::string::npos) << text;
  EXPECT_LT(line.find("0 B"), line.find("25.0 MB")) << text;
  EXPECT_NE(line.find("186.60"), std::string::npos) << text;
}

TEST(Watch, APercentileIsAValueOfTheSample) {
  EXPECT_EQ(percentile({5, 1, 4, 2, 3}, 0.5), 3);
  EXPECT_EQ(percentile({5, 1, 4, 2, 3}, 1), 5);
  EXPECT_EQ(percentile({}, 0.5), 0);
}

TEST(Watch, RatesComeFromTheTimesOfArrival) {
  Watch watch("t");
  const Watch::Clock::time_point start{};
  for (int i = 0; i <= 100; ++i) watch.record(start + i * std::chrono::milliseconds(50), {std::chrono::microseconds(i), "native"}, 1000, 7);
  const auto row = watch.row(start + std::chrono::seconds(5), 3);
  EXPECT_NEAR(row.rate, 20, 1e-6);
  EXPECT_NEAR(row.megabytes_per_second, 0.02, 1e-6);
  EXPECT_EQ(row.bytes_copied, 10);
  EXPECT_NEAR(row.p50_ms, 0.080, 1e-6) << "of the last two seconds";
  const ReportLine total = watch.total(start + std::chrono::seconds(6));
  EXPECT_EQ(total["received"], 101);
  EXPECT_NEAR(total["p50_ms"], 0.050, 1e-6) << "of the whole run";
  EXPECT_NEAR(total["quiet_s"], 1, 1e-6);
}

}  // namespace
}  // namespace demo
