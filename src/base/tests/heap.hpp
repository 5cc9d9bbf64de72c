// An ordinary heap that counts, and fails when a test says so. Not under the sanitizers, which bring their own: there it does neither.
#pragma once

#include <cstdint>

namespace sinew {

/// The allocation of the calling thread after so many others fails, once.
void fail_allocation(int after) noexcept;
/// That one, and all after it.
void fail_allocations_from(int after) noexcept;
/// All of the calling thread fail from now on.
void fail_all_allocations() noexcept;
void fail_no_allocation() noexcept;
/// Since fail_allocation().
bool allocation_has_failed() noexcept;
/// As fail_allocation(), of whatever thread.
void fail_allocation_of_any_thread(int after) noexcept;
/// Since then one has failed; from now on none does.
bool allocation_of_any_thread_has_failed() noexcept;
/// Of those that all threads but the calling one make from now on, `times` fail after so many others. Until fail_no_allocation().
void fail_allocations_of_other_threads(int after, int times) noexcept;
/// Since then one has failed.
bool allocation_of_other_threads_has_failed() noexcept;
/// How many the calling thread has made so far.
std::uint64_t allocations() noexcept;

}  // namespace sinew
