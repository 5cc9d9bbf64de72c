// Sealed memory: what nobody can do to it any more, and what is refused from a peer.
#include "os/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>

#include "os/fault.hpp"
#include "os/socket.hpp"
#include "support.hpp"

// Newer than some C libraries.
#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC 0x0020
#endif

namespace sinew::os {
namespace {

constexpr std::size_t size = 64 * 1024;

constexpr int seals_but_future_write = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// A file such as a careless or malicious peer might send.
Fd raw_memfd(std::size_t bytes, bool allocated, unsigned more_flags = 0) {
  Fd fd(::memfd_create("raw", MFD_CLOEXEC | MFD_ALLOW_SEALING | more_flags));
  if (fd && ::ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) fd.reset();
  if (fd && allocated && ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes)) != 0) fd.reset();
  return fd;
}

std::string complaint(const Fd& fd) {
  return complaint_about_peer_memfd(fd, size).value_or("none");
}

TEST(Memfd, is_allocated_in_full_so_that_touching_it_never_fails) {
  const Fd memfd = create_memfd("whole", size);
  struct stat status{};
  ASSERT_EQ(::fstat(memfd.get(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), size);
  EXPECT_EQ(static_cast<std::size_t>(status.st_blocks) * 512, size);
  EXPECT_EQ(::fcntl(memfd.get(), F_GETFD), FD_CLOEXEC);
}

TEST(Memfd, a_size_that_is_not_whole_pages_is_refused) {
  std::string text;
  SINEW_EXPECT_ERROR(create_memfd("odd", size + 1), ErrorKind::invalid_argument, text);
  SINEW_EXPECT_ERROR(create_memfd("empty", 0), ErrorKind::invalid_argument, text);
}

TEST(Memfd, a_shortage_of_memory_is_called_exhausted_and_says_how_much_was_asked) {
  fault::arm(fault::Call::fallocate, 1, ENOSPC);
  std::string text;
  SINEW_EXPECT_ERROR(create_memfd("big", size), ErrorKind::exhausted, text);
  fault::disarm();
  EXPECT_NE(text.find("65536 bytes"), text.npos) << text;
  EXPECT_NE(text.find("use smaller messages"), text.npos) << text;
}

TEST(Memfd, memory_that_must_not_be_locked_is_told_with_that_limit_and_not_with_less_to_send) {
  const Fd memfd = create_memfd("locked", size);
  const Mapping mapping = Mapping::map(memfd, size, Access::read_write);
  fault::arm(fault::Call::mlock, 1, ENOMEM);
  std::string text;
  SINEW_EXPECT_ERROR(mapping.lock(), ErrorKind::exhausted, text);
  fault::disarm();
  EXPECT_NE(text.find("ulimit -l"), text.npos) << text;
  EXPECT_EQ(text.find("smaller messages"), text.npos) << text;
}

// Before Linux 6.12 a signal makes the kernel undo what one fallocate has done so far: under a profiler's timer a single large call never
// ends.
TEST(Memfd, a_signal_repeats_one_step_of_a_large_one_not_the_whole) {
  const auto firsts_of_huge_pages = static_cast<int>((128 << 20) / huge_page_size());
  fault::arm(fault::Call::fallocate, firsts_of_huge_pages + 36, EINTR);
  const Fd memfd = create_memfd("large", 128 << 20);
  EXPECT_EQ(fault::passed(fault::Call::fallocate), firsts_of_huge_pages + 128 + 1);
  fault::disarm();
  struct stat status{};
  ASSERT_EQ(::fstat(memfd.get(), &status), 0);
  EXPECT_EQ(status.st_blocks * 512, 128 << 20);
}

TEST(Memfd, M2_it_cannot_be_made_executable_or_else_the_kernel_does_not_know_the_flag) {
  const Fd memfd = create_memfd("plain", size);
  if (Fd(::memfd_create("probe", MFD_CLOEXEC | MFD_NOEXEC_SEAL))) {
    EXPECT_NE(::fcntl(memfd.get(), F_GET_SEALS) & F_SEAL_EXEC, 0);
    EXPECT_NE(::fchmod(memfd.get(), 0777), 0);
    EXPECT_EQ(errno, EPERM);
  }
  // The same on a kernel that refuses MFD_NOEXEC_SEAL: still a memfd that can be sealed.
  fault::arm(fault::Call::memfd_create, 1, EINVAL);
  const Fd older = create_memfd("older", size);
  EXPECT_EQ(fault::passed(fault::Call::memfd_create), 2);
  fault::disarm();
  seal_for_readers(older);
  EXPECT_EQ(complaint(older), "none");
}

class Sealed : public ::testing::Test {
 protected:
  Sealed() : memfd(create_memfd("sealed", size)), mine(Mapping::map(memfd, size, Access::read_write)) { seal_for_readers(memfd); }
  Fd memfd;
  Mapping mine;
};

TEST_F(Sealed, M1_the_owners_mapping_made_before_stays_writable_and_readers_see_it) {
  const Mapping readers = Mapping::map(memfd, size, Access::read);
  mine.data()[100] = std::byte{42};
  EXPECT_EQ(readers.data()[100], std::byte{42});
}

TEST_F(Sealed, M1_nobody_gets_a_new_writable_mapping) {
  EXPECT_THROW(Mapping::map(memfd, size, Access::read_write), Error);
  const std::string link = "/proc/self/fd/" + std::to_string(memfd.get());
  const Fd reopened(::open(link.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(reopened);
  EXPECT_EQ(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, reopened.get(), 0), MAP_FAILED);
  EXPECT_EQ(errno, EPERM);
  EXPECT_LT(::write(reopened.get(), "x", 1), 0);
}

TEST_F(Sealed, M1_a_readers_mapping_cannot_be_made_writable) {
  const Mapping readers = Mapping::map(memfd, size, Access::read);
  EXPECT_NE(::mprotect(readers.data(), size, PROT_READ | PROT_WRITE), 0);
  EXPECT_EQ(errno, EACCES);
}

TEST_F(Sealed, M1_nobody_cuts_it_lengthens_it_punches_holes_or_lifts_the_seals) {
  EXPECT_NE(::ftruncate(memfd.get(), 0), 0);
  EXPECT_NE(::ftruncate(memfd.get(), 2 * size), 0);
  EXPECT_NE(::fallocate(memfd.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(page_size())), 0);
  EXPECT_NE(::madvise(mine.data(), page_size(), MADV_REMOVE), 0);
  EXPECT_NE(::fcntl(memfd.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(errno, EPERM) << "there may be further seals";
}

TEST_F(Sealed, is_what_a_peer_may_send) {
  EXPECT_EQ(complaint(memfd), "none");
}

TEST_F(Sealed, S5_another_size_than_announced_is_refused) {
  EXPECT_EQ(complaint_about_peer_memfd(memfd, size / 2).value_or("none"), "it has 65536 bytes where 32768 were announced");
  EXPECT_TRUE(complaint_about_peer_memfd(memfd, size * 2));
}

TEST(PeerMemfd, S5_a_sparse_file_is_refused) {
  const Fd sparse = raw_memfd(size, false);
  ASSERT_TRUE(sparse);
  seal_for_readers(sparse);
  EXPECT_NE(complaint(sparse).find("sparse"), std::string::npos) << complaint(sparse);
}

TEST(PeerMemfd, S5_an_unsealed_or_half_sealed_file_is_refused) {
  const Fd memfd = raw_memfd(size, true);
  EXPECT_NE(complaint(memfd).find("not sealed"), std::string::npos) << complaint(memfd);
  ASSERT_EQ(::fcntl(memfd.get(), F_ADD_SEALS, seals_but_future_write), 0);
  EXPECT_NE(complaint(memfd).find("not sealed"), std::string::npos) << complaint(memfd);
}

TEST(PeerMemfd, S5_huge_pages_are_refused) {
  const Fd huge = raw_memfd(2 << 20, false, MFD_HUGETLB);
  if (!huge) GTEST_SKIP() << "this kernel has no hugetlb";
  seal_for_readers(huge);
  const auto text = complaint_about_peer_memfd(huge, 2 << 20).value_or("none");
  EXPECT_NE(text.find("hugetlb"), std::string::npos) << text;
}

TEST(PeerMemfd, S5_what_is_not_shared_memory_is_refused) {
  EXPECT_NE(complaint(socket_pair().first), "none");
  const Fd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  struct stat status{};
  ASSERT_EQ(::fstat(file.get(), &status), 0);
  EXPECT_TRUE(complaint_about_peer_memfd(file, static_cast<std::size_t>(status.st_size)));
  EXPECT_NE(complaint(Fd()), "none");
}

TEST(PeerMemfd, S5_what_cannot_be_examined_is_refused) {
  const Fd memfd = raw_memfd(size, true);
  seal_for_readers(memfd);
  for (const auto call : {fault::Call::fstat, fault::Call::fcntl}) {
    fault::arm(call, 1, EIO);
    EXPECT_NE(complaint(memfd), "none");
  }
  fault::disarm();
}

}  // namespace
}  // namespace sinew::os
