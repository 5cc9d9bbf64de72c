// What a worker of the storm has done, and the first thing that it has found wrong.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <iostream>
#include <map>
#include <mutex>
#include <string>

#include "tests/system/harness.hpp"

namespace sinew::system {

/// Thread-safe. Everything that a worker does again and again is counted by a name of its own: nothing of it may come to a halt.
class Report {
 public:
  explicit Report(std::initializer_list<const char*> names) {
    for (const char* name : names) counts_[name] = 0;
  }
  void did(const char* name) { ++counts_.at(name); }
  void wrong(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (wrong_.empty()) wrong_ = what;
  }
  void expect(bool holds, const std::string& what) {
    if (!holds) wrong(what);
  }

  /// "NAME COUNT NAME COUNT ...", or what is wrong.
  std::string text() {
    const std::lock_guard lock(mutex_);
    if (!wrong_.empty()) return "wrong: " + wrong_;
    std::string text;
    for (const auto& [name, count] : counts_) text += name + " " + std::to_string(count) + " ";
    return text;
  }

 private:
  std::map<std::string, std::atomic<std::uint64_t>> counts_;  // its keys do not change
  std::mutex mutex_;
  std::string wrong_;
};

/// Says the report at every order "report", until there are no more orders. Others are given to `other`.
template <class Other>
void report_until_finished(Report& report, Other other) {
  say("ready");
  for (std::string order; std::getline(std::cin, order);) {
    if (order == "report") {
      say(report.text());
    } else {
      other(order);
    }
  }
}

}  // namespace sinew::system
