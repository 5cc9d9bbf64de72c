// One cell of the benchmark: what is measured, and what came out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace sinew::bench {

/// Where the processes of a cell run.
enum class Containers { none, one, each };

/// What to measure. Every publisher sends `count` messages with `size` payload bytes to every subscriber.
struct Cell {
  std::string experiment = "cell";
  std::string system;
  unsigned publishers = 1;
  unsigned subscribers = 1;
  bool spin = false;       ///< Subscribers spin instead of sleeping until the next message.
  std::size_t size = 128;  ///< Payload bytes.
  double rate = 30;        ///< Messages per second of each publisher; 0: as fast as they go.
  bool publish_cpu =
      false;     ///< Take the processor time of publish too. Costs two system calls a message, so latencies are not to be compared then.
  int fifo = 0;  ///< With this priority the threads that publish, and those that receive, run at SCHED_FIFO; 0: as ordinary threads.
  Containers containers = Containers::none;  ///< All in one, which starts its manager there, or each in one of its own; see containers.hpp.
  std::uint64_t count = 100;                 ///< Messages of each publisher that are measured; some more go before them to warm up.

  std::uint64_t deliveries() const { return count * publishers * subscribers; }
};

/// What was measured. Times are nanoseconds of CLOCK_MONOTONIC.
struct Samples {
  std::vector<std::int64_t>
      latency;  ///< One per delivery: from just before publish, payload filled, to readable payload in the subscriber.
  std::vector<std::int64_t> publish;  ///< One per message: how long the publishing thread was inside publish.
  std::vector<std::int64_t>
      publish_cpu;                 ///< With Cell::publish_cpu, one per message: processor time of the publishing thread inside publish.
  std::uint64_t lost = 0;          ///< Deliveries that never came.
  std::int64_t cpu = 0;            ///< Processor time of all processes of the cell together, filling the payload included.
  std::uint64_t bytes_copied = 0;  ///< Payload bytes copied on the way, in all processes together, the kernel included.
  double seconds = 0;              ///< From the first publish to the last delivery.
  std::map<std::string, double> extra;  ///< What only this system measures, by the name of its key in the row.
};

}  // namespace sinew::bench
