#include "base/tests/heap.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "base/sanitized.hpp"

namespace sinew {
namespace {

// Counts down; the allocation that reaches zero fails. Negative: none does.
[[gnu::tls_model("initial-exec")]] thread_local int countdown = -1;
[[gnu::tls_model("initial-exec")]] thread_local bool then_all = false;
[[gnu::tls_model("initial-exec")]] thread_local bool all_fail = false;
[[gnu::tls_model("initial-exec")]] thread_local std::uint64_t count = 0;
std::atomic<int> countdown_of_all{-1};
[[gnu::tls_model("initial-exec")]] thread_local bool is_spared = false;
std::atomic<int> countdown_of_others{-1}, failures_of_others{0};

}  // namespace

void fail_allocation(int after) noexcept {
  countdown = after;
}

void fail_allocations_from(int after) noexcept {
  then_all = true;
  countdown = after;
}

void fail_all_allocations() noexcept {
  all_fail = true;
}

void fail_no_allocation() noexcept {
  countdown = -1;
  then_all = all_fail = false;
  if (is_spared) failures_of_others = 0;
  is_spared = false;
}

bool allocation_has_failed() noexcept {
  return countdown < 0;
}

void fail_allocation_of_any_thread(int after) noexcept {
  countdown_of_all = after;
}

bool allocation_of_any_thread_has_failed() noexcept {
  return countdown_of_all.exchange(-1) < 0;
}

void fail_allocations_of_other_threads(int after, int times) noexcept {
  is_spared = true;
  countdown_of_others = after;
  failures_of_others = times;
}

bool allocation_of_other_threads_has_failed() noexcept {
  return countdown_of_others < 0;
}

std::uint64_t allocations() noexcept {
  return count;
}

}  // namespace sinew

#if !SINEW_SANITIZED

namespace {

bool fails_for_others() noexcept {
  if (sinew::is_spared || sinew::failures_of_others.load() <= 0) return false;
  return sinew::countdown_of_others.fetch_sub(1) <= 0 && sinew::failures_of_others.fetch_sub(1) > 0;
}

bool fails() noexcept {
  ++sinew::count;
  if (sinew::countdown_of_all.load(std::memory_order_relaxed) >= 0 && sinew::countdown_of_all.fetch_sub(1) == 0) return true;
  if (sinew::all_fail || fails_for_others()) return true;
  if (sinew::countdown < 0 || sinew::countdown-- > 0) return false;
  sinew::all_fail = sinew::then_all;
  return true;
}

}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);                     // NOLINT(bugprone-reserved-identifier): glibc's own names
void* __libc_calloc(std::size_t count, std::size_t size);  // NOLINT(bugprone-reserved-identifier)

void* malloc(std::size_t size) {
  if (!fails()) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}
void* calloc(std::size_t count, std::size_t size) {
  if (!fails()) return __libc_calloc(count, size);
  errno = ENOMEM;
  return nullptr;
}
}

#endif
