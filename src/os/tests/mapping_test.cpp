#include "os/memory.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <sstream>

#include "os/fault.hpp"
#include "os/file.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

constexpr std::size_t size = 64 * 1024;

/// The line of /proc/self/smaps of the mapping at `address` that begins so, or "" when nothing is mapped there.
std::string line_at(const void* address, const char* begin) {
  std::ostringstream start;
  start << std::hex << reinterpret_cast<std::uintptr_t>(address) << '-';
  std::istringstream lines(read_file("/proc/self/smaps").value());
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(start.str())) inside = true;
    if (inside && line.starts_with(begin)) return line + " ";
  }
  return "";
}

std::string flags_at(const void* address) {
  return line_at(address, "VmFlags:");
}

/// How much of a file of that size that create_memfd() has made is mapped in huge pages; 0 also when this kernel has none to give.
std::uint64_t mapped_in_huge_pages(std::size_t bytes) {
  const Fd memfd = create_memfd("huge", bytes);
  const auto mapping = Mapping::map_at(memfd, probe_address_range().base, bytes, Access::read);
  if (!mapping) return 0;
  std::istringstream line(line_at(mapping->data(), "ShmemPmdMapped:"));
  std::string word;
  std::uint64_t kib = 0;
  line >> word >> kib;
  return kib << 10;
}

/// The kernel makes huge pages of shared memory when it is asked in so many words, and has them.
bool kernel_has_huge_pages() {
  const std::size_t huge = huge_page_size();
  const Fd memfd(::memfd_create("probe", MFD_CLOEXEC));
  if (::ftruncate(memfd.get(), static_cast<off_t>(huge)) != 0) return false;
  void* const at = ::mmap(reinterpret_cast<void*>(probe_address_range().base), huge, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_FIXED_NOREPLACE, memfd.get(), 0);
  if (at == MAP_FAILED) return false;
  *static_cast<volatile char*>(at) = 1;
  constexpr int collapse = 25;  // MADV_COLLAPSE, which the headers of Debian 12 do not have
  const bool done = ::madvise(at, huge, collapse) == 0;
  ::munmap(at, huge);
  return done;
}

/// The signal that ends a forked process which does `touch`, 0 when it lives.
template <class Touch>
int signal_of_child(Touch touch) {
  const int status = test::status_of_child([&] {
    ::signal(SIGSEGV, SIG_DFL);  // a sanitizer would turn the signal into a report
    touch();
    return 0;
  });
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(Mapping, unmaps_exactly_once) {
  const Fd memfd = create_memfd("once", size);
  const void* where = nullptr;
  {
    Mapping first = Mapping::map(memfd, size, Access::read_write);
    where = first.data();
    Mapping second = std::move(first);
    EXPECT_FALSE(first);
    EXPECT_EQ(second.size(), size);
    first = std::move(second);
    EXPECT_EQ(first.data(), where);
    EXPECT_NE(flags_at(where), "");
  }
  EXPECT_EQ(flags_at(where), "");
}

TEST(Mapping, of_a_large_file_it_has_huge_pages_where_the_kernel_gives_them) {
  if (!kernel_has_huge_pages()) GTEST_SKIP() << "this kernel makes no huge pages of shared memory, or has no memory in such pieces";
  const std::size_t huge = huge_page_size();
  // One of several: it may be short of such pieces for a moment.
  std::uint64_t most = 0;
  for (int i = 0; i < 10 && most < 2 * huge; ++i) most = std::max(most, mapped_in_huge_pages(2 * huge + page_size()));
  EXPECT_EQ(most, 2 * huge);
}

TEST(Mapping, no_huge_page_is_asked_for_where_a_real_time_thread_may_keep_the_kernel_waiting_for_ever) {
  if (!kernel_has_huge_pages()) GTEST_SKIP() << "this kernel makes no huge pages of shared memory, or has no memory in such pieces";
  const test::TempFolder folder;
  const std::string told = folder.path() + "/told";
  std::ofstream(told) << "-1\n";
  constexpr int refused = 2;
  const int status = test::status_of_child([&] {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return refused;
    if (::mount(told.c_str(), "/proc/sys/kernel/sched_rt_runtime_us", nullptr, MS_BIND, nullptr) != 0) return refused;
    return mapped_in_huge_pages(huge_page_size()) == 0 ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == refused) GTEST_SKIP() << "no namespaces here in which the kernel could be made to say so";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Mapping, a_large_file_is_all_there_when_no_huge_page_can_be_had) {
  const std::size_t bytes = 2 * huge_page_size() + page_size();
  for (const auto kind : {fault::Call::mmap, fault::Call::madvise}) {
    for (int nth = 1; nth <= 3; ++nth) {
      fault::arm(kind, nth, ENOMEM);
      const Fd memfd = create_memfd("small", bytes);
      fault::disarm();
      seal_for_readers(memfd);
      EXPECT_EQ(complaint_about_peer_memfd(memfd, bytes), std::nullopt);
      std::ifstream maps("/proc/self/maps");
      for (std::string line; std::getline(maps, line);) EXPECT_EQ(line.find("memfd:small"), line.npos) << line;
    }
  }
}

TEST(Mapping, assigning_over_one_unmaps_it) {
  const Fd memfd = create_memfd("assigned", size);
  Mapping kept = Mapping::map(memfd, size, Access::read);
  const void* const old = kept.data();
  kept = Mapping::map(memfd, size, Access::read);
  EXPECT_EQ(flags_at(old), "");
}

TEST(Mapping, S8_a_forked_child_has_it_not_and_cannot_harm_its_parent) {
  const Fd memfd = create_memfd("forked", size);
  const Mapping mapping = Mapping::map(memfd, size, Access::read_write);
  auto* const word = reinterpret_cast<volatile char*>(mapping.data());
  *word = 'p';
  EXPECT_EQ(signal_of_child([&] { *word = 'c'; }), SIGSEGV);
  EXPECT_EQ(*word, 'p');
  const Mapping read_only = Mapping::map(memfd, size, Access::read);
  EXPECT_EQ(signal_of_child([&] { static_cast<void>(*reinterpret_cast<volatile char*>(read_only.data())); }), SIGSEGV);
}

TEST(Mapping, S8_S9_every_kind_of_mapping_is_kept_from_children_and_from_core_files) {
  const Fd memfd = create_memfd("private", size);
  const auto at = probe_address_range().base;
  const Mapping anywhere = Mapping::map(memfd, size, Access::read_write);
  const auto placed = Mapping::map_at(memfd, at, size, Access::read);
  ASSERT_TRUE(placed);
  for (const Mapping* mapping : {&anywhere, &*placed}) {
    const std::string flags = flags_at(mapping->data());
    EXPECT_NE(flags.find(" dd "), flags.npos) << flags;
    EXPECT_NE(flags.find(" dc "), flags.npos) << flags;
  }
}

TEST(Mapping, is_unmapped_again_when_it_cannot_be_kept_from_children) {
  const Fd memfd = create_memfd("refused", size);
  const auto at = probe_address_range().base;
  for (int nth : {1, 2}) {
    fault::arm(fault::Call::madvise, nth, ENOSYS);
    EXPECT_THROW(Mapping::map(memfd, size, Access::read), Error);
    fault::arm(fault::Call::madvise, nth, ENOSYS);
    EXPECT_FALSE(Mapping::map_at(memfd, at, size, Access::read));
    EXPECT_EQ(flags_at(reinterpret_cast<void*>(at)), "");
  }
  fault::disarm();
}

TEST(MapAt, two_mappings_of_one_file_at_an_agreed_address_show_the_same_objects) {
  const Fd memfd = create_memfd("agreed", size);
  const auto at = probe_address_range().base + size;
  {
    const auto owner = Mapping::map_at(memfd, at, size, Access::read_write);
    ASSERT_TRUE(owner);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(owner->data()), at);
    owner->data()[7] = std::byte{7};
  }
  const auto reader = Mapping::map_at(memfd, at, size, Access::read);
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->data()[7], std::byte{7});
}

TEST(MapAt, never_maps_over_something_and_says_what_is_wrong) {
  const Fd memfd = create_memfd("taken", size);
  const auto at = probe_address_range().base;
  const auto first = Mapping::map_at(memfd, at, size, Access::read_write);
  ASSERT_TRUE(first);
  first->data()[size - 1] = std::byte{1};
  const Fd other = create_memfd("other", size);
  std::string why;
  EXPECT_FALSE(Mapping::map_at(other, at, size, Access::read_write, &why));
  EXPECT_NE(why.find("something else is mapped there"), why.npos) << why;
  // Also when only the last page of the wish is taken.
  EXPECT_FALSE(Mapping::map_at(other, at - size + page_size(), size, Access::read_write));
  EXPECT_EQ(first->data()[size - 1], std::byte{1});
}

TEST(MapAt, S12_a_limit_of_the_system_is_an_answer_not_an_exception) {
  const Fd memfd = create_memfd("limited", size);
  for (const int error : {EAGAIN, ENOMEM}) {
    fault::arm(fault::Call::mmap, 1, error);
    std::string why;
    EXPECT_FALSE(Mapping::map_at(memfd, 0x10000000000 - size, size, Access::read, &why));
    EXPECT_NE(why.find("0xffffff0000"), why.npos) << why;
  }
  fault::disarm();
}

TEST(MapAt, S11_an_address_that_no_process_can_reach_is_an_answer_not_a_crash) {
  const Fd memfd = create_memfd("unreachable", size);
  std::string why;
  EXPECT_FALSE(Mapping::map_at(memfd, std::uintptr_t{1} << 62, size, Access::read, &why));
  EXPECT_NE(why, "");
  EXPECT_FALSE(Mapping::map_at(memfd, ~std::uintptr_t{0} - page_size() + 1, size, Access::read, &why));
}

TEST(AddressRange, S11_is_one_whose_first_and_last_window_can_be_mapped_here) {
  const AddressRange range = probe_address_range();
  EXPECT_GT(range.count, 100u);
  const Fd memfd = create_memfd("window", size);
  EXPECT_TRUE(Mapping::map_at(memfd, range.base, size, Access::read_write));
  EXPECT_TRUE(Mapping::map_at(memfd, range.end() - size, size, Access::read_write));
}

TEST(AddressRange, falls_back_to_the_narrow_one_and_then_says_that_there_is_none) {
  const AddressRange usual = probe_address_range();
  const bool narrow_is_usual = usual.end() <= std::uint64_t{1} << 39;
  std::string text;
  fault::arm(fault::Call::mmap, 1, ENOMEM);
  if (narrow_is_usual) {
    SINEW_EXPECT_ERROR(probe_address_range(), ErrorKind::unavailable, text);
    EXPECT_NE(text.find("ulimit -v"), text.npos) << text;
  } else {
    try {
      EXPECT_LE(probe_address_range().end(), std::uint64_t{1} << 39);
    } catch (const Error& error) {  // a sanitizer lives there
      EXPECT_EQ(error.kind(), ErrorKind::unavailable);
    }
  }
  fault::disarm();
}

}  // namespace
}  // namespace sinew::os
