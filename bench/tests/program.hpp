// Running a program of the benchmark as people do.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace sinew::bench {

struct Outcome {
  int status = -1;
  std::string output;  ///< standard error's too

  nlohmann::json row() const { return nlohmann::json::parse(output.substr(output.find('{'))); }
};

inline Outcome run(const std::string& command) {
  Outcome outcome;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> text;
  while (const std::size_t size = fread(text.data(), 1, text.size(), pipe)) outcome.output.append(text.data(), size);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace sinew::bench
