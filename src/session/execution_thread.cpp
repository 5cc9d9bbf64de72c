#include "session/execution_thread.hpp"

#include <algorithm>
#include <new>

#include "os/clock.hpp"
#include "os/process.hpp"

namespace sinew::session {
namespace {

shm::BellWord& word_in(const os::Mapping& mapping) {
  return *std::launder(reinterpret_cast<shm::BellWord*>(mapping.data()));
}

}  // namespace

Doorbell::Doorbell()
    : page_fd_(os::create_memfd("sinew-bell", os::page_size())),
      mapping_(std::make_shared<const os::Mapping>(os::Mapping::map(page_fd_, os::page_size(), os::Access::read_write))),
      eventfd_(os::create_doorbell()),
      sleeper_(word_in(*mapping_)) {
  os::seal_for_readers(page_fd_);
  offer_mapping(page_fd_, mapping_);
}

const shm::BellWord& Doorbell::word() const noexcept {
  return word_in(*mapping_);
}

void ExecutionThread::start(const std::string& thread_name) {
  const std::lock_guard lock(mutex_);  // the loop begins by taking it: no callback sees thread_ half made
  thread_ = os::start_thread(thread_name, [self = shared_from_this()] { self->loop(); });
}

void ExecutionThread::stop() {
  if (!thread_.joinable()) return;
  stopping_.store(true, std::memory_order_seq_cst);
  wake();
  if (thread_.get_id() == std::this_thread::get_id()) {
    thread_.detach();  // the thread's own reference keeps this object until it has returned
  } else {
    thread_.join();
  }
}

void ExecutionThread::add(const std::shared_ptr<Runnable>& runnable) {
  {
    const std::lock_guard lock(mutex_);
    list_.push_back(runnable);
  }
  wake();
}

void ExecutionThread::remove(const std::shared_ptr<Runnable>& runnable) {
  {
    const std::lock_guard lock(mutex_);
    std::erase(list_, runnable);
  }
  wake();
}

void ExecutionThread::wake() noexcept {
  wakes_.fetch_add(1, std::memory_order_seq_cst);
  os::ring(doorbell_.eventfd().get());
}

bool ExecutionThread::run_all(const List& list) {
  bool any = false;
  for (const auto& runnable : list) {
    if (stopping_.load(std::memory_order_relaxed)) return false;
    any |= runnable->run_some();
  }
  return any;
}

bool ExecutionThread::has_news(const List& list) const {
  return std::any_of(list.begin(), list.end(), [](const auto& runnable) { return runnable->has_news(); });
}

bool ExecutionThread::spin(const List& list, std::uint64_t seen_wakes) const {
  if (spin_.count() == 0) return false;
  const std::int64_t until = os::now_ns() + spin_.count();
  do {
    for (int i = 0; i < 16; ++i) {
      if (has_news(list) || wakes_.load(std::memory_order_relaxed) != seen_wakes) return true;
      os::spin_hint();
    }
  } while (os::now_ns() < until && !stopping_.load(std::memory_order_relaxed));
  return false;
}

// The order is normative (spec/shared-memory.md): awake, scan all, asleep (seq_cst), scan all heads again, wait, which drains.
void ExecutionThread::loop() {
  List list;
  std::uint64_t seen_wakes = ~std::uint64_t{0};
  while (!stopping_.load(std::memory_order_seq_cst)) {
    doorbell_.sleeper().mark_awake();
    if (const std::uint64_t wakes = wakes_.load(std::memory_order_seq_cst); wakes != seen_wakes) {
      seen_wakes = wakes;
      List now;  // then what was there before: it may end here, and with it what its user keeps in it, so not under the lock
      {
        const std::lock_guard lock(mutex_);
        now = list_;
      }
      list.swap(now);
    }
    // Who came meanwhile does not wait until those that were there run out of messages.
    while (run_all(list) && wakes_.load(std::memory_order_seq_cst) == seen_wakes) {
    }
    if (spin(list, seen_wakes)) continue;
    doorbell_.sleeper().mark_asleep();
    if (has_news(list) || wakes_.load(std::memory_order_seq_cst) != seen_wakes) continue;
    os::await_doorbell(doorbell_.eventfd().get());
    // Other cores wrote what is read next: let the lines come side by side, not one after the other.
    for (const auto& runnable : list) runnable->prefetch();
  }
}

}  // namespace sinew::session
