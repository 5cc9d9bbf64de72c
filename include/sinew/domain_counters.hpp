// Reading what all nodes of a domain count, where they count it.
#pragma once

#include <memory>

#include "sinew/domain.hpp"
#include "sinew/error.hpp"

namespace sinew {

class Node;
namespace session {
class CounterReader;
}  // namespace session

/// Made by Node::domain_counters. It maps the memory in which nodes count, read-only, and follows them as they come and go: who is looked at does nothing for it, and runs as fast as before. Thread-safe.
class SINEW_API DomainCounters {
 public:
  ~DomainCounters();
  DomainCounters(const DomainCounters&) = delete;
  DomainCounters& operator=(const DomainCounters&) = delete;

  /// The counts of now, of the publishers and pairs that the manager knows; of those of a node that has no memory for its counters nothing. Counts of one endpoint are not of one instant. Makes no system call; under a
  /// microsecond for each. Goes on while there is no manager. Throws std::bad_alloc.
  DomainCounts read() const;

 private:
  friend class Node;
  explicit DomainCounters(std::shared_ptr<session::CounterReader> reader) noexcept;
  std::shared_ptr<session::CounterReader> reader_;
};

}  // namespace sinew
