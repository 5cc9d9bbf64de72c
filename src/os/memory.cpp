#include "os/memory.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <new>
#include <utility>

#include "base/sanitized.hpp"
#include "os/call.hpp"
#include "os/failure.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace sinew::os {
namespace {

constexpr int reader_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL;

#if SINEW_THREAD_SANITIZED
// ThreadSanitizer ends the process when something is mapped where it keeps its shadow; below 1 TiB it does not.
constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 40;
#else
constexpr std::uint64_t end_of_addresses = ~std::uint64_t{0};
#endif

std::string range_text(std::uintptr_t address, std::size_t size) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "0x%llx to 0x%llx", static_cast<unsigned long long>(address),
                static_cast<unsigned long long>(address + size));
  return text.data();
}

/// Null and errno when the kernel refuses.
std::byte* map_file(int fd, void* address, std::size_t size, Access access, int more_flags) noexcept {
  const int protection = access == Access::read_write ? PROT_READ | PROT_WRITE : PROT_READ;
  const int populate = access == Access::read_when_touched ? 0 : MAP_POPULATE;
  if (fault::inject(fault::Call::mmap)) return nullptr;
  void* const at = ::mmap(address, size, protection, MAP_SHARED | populate | more_flags, fd, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

/// A forked child must not write into its parent's frames, and a core file must not hold every topic of the robot.
bool keep_private(std::byte* data, std::size_t size) noexcept {
  for (const int advice : {MADV_DONTFORK, MADV_DONTDUMP}) {
    if (call(fault::Call::madvise, [&] { return ::madvise(data, size, advice); }) != 0) return false;
  }
  return true;
}

/// A thread of real-time priority that never sleeps keeps others from its core for ever: the kernel has been told not to throttle it.
bool cores_may_be_taken_for_ever() noexcept {
  try {
    return read_file("/proc/sys/kernel/sched_rt_runtime_us").value_or("").starts_with("-1");
  } catch (const std::bad_alloc&) {
    return true;
  }
}

/// Makes of the file's first bytes as many huge pages as they have room for. It needs no setting and no rights, but Linux 6.1, and free memory in such pieces: what cannot be had is left
/// as it is. The kernel makes a huge page of what is there, which must be something; and waits for a word from every core.
void take_huge_pages(const Fd& memfd, std::size_t size) noexcept {
  const std::size_t huge = huge_page_size(), whole = size / huge * huge;
  if (whole == 0 || cores_may_be_taken_for_ever()) return;
  for (std::size_t at = 0; at < whole; at += huge) {
    const auto first = [&] { return ::fallocate(memfd.get(), 0, static_cast<off_t>(at), static_cast<off_t>(page_size())); };
    if (call(fault::Call::fallocate, first) != 0) return;
  }
  if (fault::inject(fault::Call::mmap)) return;
  // Only for the call, which goes by addresses.
  void* const room = ::mmap(nullptr, whole + huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return;
  auto* const begin = static_cast<std::byte*>(room) + (huge - reinterpret_cast<std::uintptr_t>(room) % huge) % huge;
  if (::mmap(begin, whole, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memfd.get(), 0) != MAP_FAILED && keep_private(begin, whole)) {
    call(fault::Call::madvise, [&] { return ::madvise(begin, whole, MADV_COLLAPSE); });
  }
  ::munmap(room, whole + huge);
}

bool page_can_be_mapped_at(std::uint64_t address) noexcept {
  if (address >= end_of_addresses || fault::inject(fault::Call::mmap)) return false;
  void* const wanted = reinterpret_cast<void*>(address);
  void* const at = ::mmap(wanted, page_size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (at == MAP_FAILED) return false;
  ::munmap(at, page_size());
  return at == wanted;
}

/// Growing a file beyond the limit would not only be refused, but end the process by SIGXFSZ.
bool is_beyond_file_limit(std::size_t size) noexcept {
  rlimit limit{};
  return call(fault::Call::rlimit, [&] { return ::getrlimit(RLIMIT_FSIZE, &limit); }) == 0 && size > limit.rlim_cur;
}

[[noreturn]] void fail_to_take(int error, const std::string& what, ErrorKind otherwise = ErrorKind::system) {
  fail(error, what, otherwise, memory_remedy(error));
}

}  // namespace

Fd create_memfd(const char* name, std::size_t size) {
  const std::string what = "cannot take " + std::to_string(size) + " bytes of shared memory for '" + name + "'";
  if (size == 0 || size % page_size() != 0) throw Error(ErrorKind::invalid_argument, "sinew " + what + ": the size must be whole pages.");
  if (is_beyond_file_limit(size)) fail(EFBIG, what, ErrorKind::exhausted);
  const auto create = [&](unsigned more) {
    return call(fault::Call::memfd_create, [&] { return ::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | more); });
  };
  Fd memfd(create(MFD_NOEXEC_SEAL));
  if (!memfd && errno == EINVAL) memfd = Fd(create(0));  // a kernel before 6.3
  if (!memfd) fail_to_take(errno, what);
  if (call(fault::Call::ftruncate, [&] { return ::ftruncate(memfd.get(), static_cast<off_t>(size)); }) != 0) fail_to_take(errno, what);
  take_huge_pages(memfd, size);
  // In steps, because kernels before 6.12 give back on a signal all that one call had allocated: with a profiler's timer a large call never
  // ends.
  constexpr std::size_t step = std::size_t{1} << 20;
  for (std::size_t done = 0; done < size; done += step) {
    const auto length = static_cast<off_t>(std::min(step, size - done));
    if (call(fault::Call::fallocate, [&] { return ::fallocate(memfd.get(), 0, static_cast<off_t>(done), length); }) != 0)
      fail_to_take(errno, what);
  }
  return memfd;
}

void seal_for_readers(const Fd& memfd) {
  if (call(fault::Call::fcntl, [&] { return ::fcntl(memfd.get(), F_ADD_SEALS, reader_seals); }) == 0) return;
  if (errno == EINVAL) {
    throw Error(ErrorKind::incompatible,
                "sinew cannot seal shared memory for readers: this needs Linux 5.1 or newer (F_SEAL_FUTURE_WRITE).");
  }
  fail(errno, "cannot seal shared memory for readers");
}

FileIdentity identity_of(const Fd& fd) {
  struct stat status{};
  if (call(fault::Call::fstat, [&] { return ::fstat(fd.get(), &status); }) != 0) fail(errno, "cannot identify a descriptor");
  return {.device = status.st_dev, .inode = status.st_ino};
}

std::optional<std::string> complaint_about_peer_memfd(const Fd& memfd, std::size_t size) {
  // First, for only shared memory has seals: a file system that is a program (FUSE) may take for ever to answer the other questions.
  const int seals = call(fault::Call::fcntl, [&] { return ::fcntl(memfd.get(), F_GET_SEALS); });
  if (seals < 0) return "it is not shared memory (memfd)";
  struct statfs system{};
  if (call(fault::Call::fstat, [&] { return ::fstatfs(memfd.get(), &system); }) != 0) return "it cannot be examined: " + describe(errno);
  if (system.f_type == HUGETLBFS_MAGIC) return "it consists of huge pages (hugetlb), which may be missing when they are touched";
  if (system.f_type != TMPFS_MAGIC) return "it is not shared memory (memfd)";
  if ((seals & reader_seals) != reader_seals) return "it is not sealed against shrinking, growing, new writers and further seals";
  struct stat status{};
  if (call(fault::Call::fstat, [&] { return ::fstat(memfd.get(), &status); }) != 0) return "it cannot be examined: " + describe(errno);
  if (static_cast<std::uint64_t>(status.st_size) != size) {
    return "it has " + std::to_string(status.st_size) + " bytes where " + std::to_string(size) + " were announced";
  }
  if (static_cast<std::uint64_t>(status.st_blocks) * 512 < size) return "it is sparse: whoever reads it would pay for its memory";
  return std::nullopt;
}

Mapping::Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

Mapping Mapping::map(const Fd& fd, std::size_t size, Access access) {
  const std::string what = "cannot map " + std::to_string(size) + " bytes of shared memory";
  Mapping mapping;
  mapping.data_ = map_file(fd.get(), nullptr, size, access, 0);
  if (!mapping) fail_to_take(errno, what, ErrorKind::exhausted);
  mapping.size_ = size;
  if (!keep_private(mapping.data_, size)) fail(errno, what);
  return mapping;
}

std::optional<Mapping> Mapping::map_at(const Fd& fd, std::uintptr_t address, std::size_t size, Access access, std::string* why) {
  const auto refuse = [&](const std::string& reason) {
    if (why != nullptr) *why = "the addresses " + range_text(address, size) + " cannot be mapped in this process: " + reason;
    return std::nullopt;
  };
  if (size >= end_of_addresses || address > end_of_addresses - size) return refuse("they are out of reach for it");
  void* const wanted = reinterpret_cast<void*>(address);
  Mapping mapping;
  mapping.data_ = map_file(fd.get(), wanted, size, access, MAP_FIXED_NOREPLACE);
  const int error = errno;
  if (!mapping) return refuse(error == EEXIST ? std::string("something else is mapped there") : describe(error) + memory_remedy(error));
  mapping.size_ = size;
  // A kernel before 4.17 takes the address for a wish.
  if (mapping.data_ != wanted) return refuse("something else is mapped there");
  if (!keep_private(mapping.data_, size)) return refuse(describe(errno));
  return mapping;
}

void Mapping::lock() const {
  if (call(fault::Call::mlock, [&] { return ::mlock(data_, size_); }) == 0) return;
  fail(errno,
       "cannot lock " + std::to_string(size_) +
           " bytes of shared memory: raise the limit of locked memory (ulimit -l, or LimitMEMLOCK= of a service), or lock less",
       ErrorKind::exhausted);
}

std::size_t huge_page_size() noexcept {
  return page_size() / sizeof(std::uint64_t) * page_size();
}

std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

AddressRange probe_address_range() {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  constexpr AddressRange wide{.base = 0x200000000000, .window_size = 4 * gib, .count = (0x500000000000 - 0x200000000000) / (4 * gib)};
  constexpr AddressRange narrow{.base = 64 * gib, .window_size = gib, .count = 320 - 64};  // programs and their heaps begin at 341 GiB
  for (const AddressRange& range : {wide, narrow}) {
    if (page_can_be_mapped_at(range.base) && page_can_be_mapped_at(range.end() - page_size())) return range;
  }
  throw Error(ErrorKind::unavailable, "sinew finds no room for its address windows in this process: neither " +
                                          range_text(wide.base, wide.end() - wide.base) + " nor " +
                                          range_text(narrow.base, narrow.end() - narrow.base) +
                                          " can be mapped. Raise RLIMIT_AS (ulimit -v), or run without what took them.");
}

void give_back_freed_memory() noexcept {
  ::malloc_trim(0);
}

}  // namespace sinew::os
