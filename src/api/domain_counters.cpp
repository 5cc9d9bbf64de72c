#include "sinew/domain_counters.hpp"

#include <new>
#include <utility>

#include "base/cancel.hpp"
#include "session/fork.hpp"
#include "session/node/counter_reader.hpp"
#include "shm/scope.hpp"

namespace sinew {

DomainCounters::DomainCounters(std::shared_ptr<session::CounterReader> reader) noexcept : reader_(std::move(reader)) {}

DomainCounters::~DomainCounters() {
  if (session::forked()) {
    new (std::nothrow) std::shared_ptr<session::CounterReader>(std::move(reader_));  // leaked: its mappings do not exist in the child
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  reader_.reset();
}

DomainCounts DomainCounters::read() const {
  if (session::forked()) return {};
  const shm::HeapScope heap;
  return reader_->read();
}

}  // namespace sinew
