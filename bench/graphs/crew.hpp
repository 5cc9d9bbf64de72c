// The processes of one run, as sinew-bench-graph sees them: it starts them, listens to them, looks at them from outside, and ends them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "worker.hpp"

namespace sinew::bench::graphs {

/// Makes SIGINT and SIGTERM end the waiting of a crew by an exception, so that destructors clean up behind a run that is broken off.
void end_waiting_on_signals();

class Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  /// Kills those that still run.
  ~Crew();

  /// Starts a worker, with `board` as its board_descriptor. Throws std::system_error.
  void start(const std::string& program, const std::vector<std::string>& arguments, int board);
  void say(Word word) const;

  // These throw std::runtime_error when a worker ends meanwhile, or the user breaks the run off.
  /// Until every worker has said `word`; throws also when that takes longer.
  void await(Word word, std::int64_t until_ns);
  void wait(std::int64_t until_ns);

  /// Asks the workers to end, and waits for that. Throws std::runtime_error when one fails.
  void end();

  std::vector<pid_t> processes() const;

 private:
  struct Member {
    std::string name;  ///< its command, for people
    pid_t process;
    int input, output;
    std::string said;
  };

  bool all_said(Word word) const;
  void listen(std::int64_t until_ns);

  std::vector<Member> members_;
};

struct Memory {
  double pss_kib = 0;  ///< shared pages in equal parts of those who map them
  double rss_kib = 0;
  double own_kib = 0;  ///< of the PSS, what is no file: the share of programs and libraries changes with what else runs on the machine
};

/// Of all these together, without the board. Throws std::runtime_error when one is gone.
Memory memory_of(const std::vector<pid_t>& processes);
/// Processor time that all their threads have used until now, in user and kernel mode.
std::int64_t cpu_ns_of(const std::vector<pid_t>& processes);

}  // namespace sinew::bench::graphs
