// Shared memory: anonymous files (memfd) and their mappings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "os/fd.hpp"
#include "os/file.hpp"

namespace sinew::os {

/// A new anonymous file of `size` bytes (a multiple of the page size), all of them allocated, so that touching them never fails.
/// Of huge pages, as far as it has room for whole ones and the kernel has them (Linux 6.1): filled faster, and mapped in a fraction of the time where the address is a multiple of their size. Not where
/// real-time threads are not throttled (sched_rt_runtime_us is -1): the kernel waits for every core meanwhile, and one of them may keep its core for ever.
/// MFD_CLOEXEC | MFD_ALLOW_SEALING, not executable where the kernel knows MFD_NOEXEC_SEAL. `name` shows up in /proc/PID/maps.
/// Throws Error(exhausted) when memory or descriptors are short. Admission (available_memory) is the caller's duty: in a memory
/// cgroup the kernel kills instead of failing (S4).
Fd create_memfd(const char* name, std::size_t size);

/// Seals SHRINK | GROW | FUTURE_WRITE | SEAL. Mappings made writable before stay so; nobody, whoever holds the descriptor, can make
/// a new one. Throws Error(incompatible) on kernels before 5.1.
void seal_for_readers(const Fd& memfd);

FileIdentity identity_of(const Fd& fd);

/// Checks a descriptor that a peer sent before it is mapped: tmpfs and not hugetlb, the seals of seal_for_readers, exactly `size` bytes,
/// all of them allocated (a sparse file would be paid by the reader; S5). Returns the complaint, or nothing when it is as it must be.
std::optional<std::string> complaint_about_peer_memfd(const Fd& memfd, std::size_t size);

/// `read_when_touched`: what is another user's, who says how much it is.
enum class Access { read, read_write, read_when_touched };

/// One mapping; unmapped by the destructor. Every mapping is MADV_DONTFORK and MADV_DONTDUMP, and is populated when it is made, but for `read_when_touched`.
class Mapping {
 public:
  Mapping() noexcept = default;
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  /// Maps the whole file anywhere. Throws Error(exhausted) when the kernel refuses.
  static Mapping map(const Fd& fd, std::size_t size, Access access);
  /// Maps the whole file at exactly `address`, never over anything else. Nothing when the address is taken, out of reach (TSan), or a
  /// limit (RLIMIT_AS, mlockall, map count) refuses; `why`, if given, then says so.
  static std::optional<Mapping> map_at(const Fd& fd, std::uintptr_t address, std::size_t size, Access access, std::string* why = nullptr);

  /// Keeps the pages in memory, whatever happens, until they are unmapped (mlock). Throws Error(exhausted) when a limit forbids it.
  void lock() const;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  explicit operator bool() const noexcept { return data_ != nullptr; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

std::size_t page_size() noexcept;
/// Of those that one entry of a directory of pages maps: 2 MiB, where pages are 4 KiB.
std::size_t huge_page_size() noexcept;

/// Addresses for windows: `count` windows of `window_size` bytes from `base`.
struct AddressRange {
  std::uint64_t base = 0, window_size = 0, count = 0;
  std::uint64_t end() const noexcept { return base + window_size * count; }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// The first of the built-in candidates whose first and last page can be mapped in this process: 12,288 windows of 4 GiB from 0x200000000000
/// to 0x500000000000 where 47 bits of address exist and nothing forbids them; 256 of 1 GiB between 64 and 320 GiB else (39-bit kernels,
/// ThreadSanitizer). The manager probes and announces; every process of the domain uses the same. Throws Error(unavailable) when none fits.
AddressRange probe_address_range();

/// How many bytes of memory may be taken without the kernel killing someone: the least of MemAvailable and (max - current + inactive file
/// cache) of every memory cgroup above this process, v2 and v1, each less a reserve of 64 MiB or a sixteenth of the limit, the smaller. Never
/// negative. Reads files: not for the data path.
std::uint64_t available_memory() noexcept;

/// Gives the kernel what the allocator of this process keeps of freed memory for the next time. Takes the longer the more that is.
void give_back_freed_memory() noexcept;

}  // namespace sinew::os
