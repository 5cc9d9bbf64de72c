// Mapping at an address on a kernel before 4.17, which does not know MAP_FIXED_NOREPLACE and takes the address for a wish: this program's
// own mmap makes the flag vanish.
#include <sys/mman.h>
#include <sys/syscall.h>

#include "os/memory.hpp"
#include "support.hpp"

extern "C" void* mmap(void* address, std::size_t size, int protection, int flags, int fd, off_t offset) noexcept {
  const long at = ::syscall(SYS_mmap, address, size, protection, flags & ~MAP_FIXED_NOREPLACE, fd, offset);
  return reinterpret_cast<void*>(at);
}

namespace sinew::os {
namespace {

TEST(MapAtOnAnOldKernel, M2_a_mapping_that_landed_elsewhere_is_refused_and_undone) {
  const std::size_t size = page_size();
  const Fd memfd = create_memfd("landed-elsewhere", size);
  const auto at = probe_address_range().base;
  const auto first = Mapping::map_at(memfd, at, size, Access::read_write);
  ASSERT_TRUE(first);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->data()), at);
  std::string why;
  EXPECT_FALSE(Mapping::map_at(memfd, at, size, Access::read_write, &why));
  EXPECT_NE(why.find("something else is mapped there"), why.npos) << why;
  std::ifstream maps("/proc/self/maps");
  int mapped = 0;
  for (std::string line; std::getline(maps, line);) mapped += line.find("landed-elsewhere") != line.npos ? 1 : 0;
  EXPECT_EQ(mapped, 1);
}

}  // namespace
}  // namespace sinew::os
