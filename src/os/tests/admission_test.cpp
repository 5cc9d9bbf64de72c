#include "os/admission.hpp"

#include <limits>

#include "os/memory.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t kib = 1024;

std::string in_bytes(std::uint64_t number) {
  return std::to_string(number) + "\n";
}

/// A machine of 16 GiB with 8 GiB available, as files.
class Admission : public ::testing::Test {
 protected:
  Admission() { machine.write("proc/meminfo", "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n"); }

  void mount(const std::string& lines) { machine.write("proc/self/mountinfo", lines); }
  void group(const std::string& lines) { machine.write("proc/self/cgroup", lines); }
  void second_generation(const std::string& folder, const std::string& max, const std::string& current) {
    machine.write(folder + "/memory.max", max + "\n");
    machine.write(folder + "/memory.current", current + "\n");
  }
  void first_generation(const std::string& folder, std::uint64_t limit, std::uint64_t usage) {
    machine.write(folder + "/memory.limit_in_bytes", in_bytes(limit));
    machine.write(folder + "/memory.usage_in_bytes", in_bytes(usage));
  }
  std::uint64_t available() const { return available_memory_below(machine.path()); }

  test::TempFolder machine;
  static constexpr std::uint64_t in_machine = 8 * 1024 * mib - 64 * mib;
};

TEST_F(Admission, S4_without_a_limit_it_is_what_the_machine_has_less_the_reserve) {
  EXPECT_EQ(available(), in_machine);
}

TEST_F(Admission, S4_the_reserve_of_a_small_machine_is_a_sixteenth) {
  machine.write("proc/meminfo", "MemTotal: 163840 kB\nMemAvailable: 81920 kB\n");
  EXPECT_EQ(available(), (81920 - 10240) * kib);
}

TEST_F(Admission, S4_a_cgroup_of_the_second_generation_limits) {
  mount("40 30 0:35 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  group("0::/robot.slice/camera.service\n");
  second_generation("sys/fs/cgroup/robot.slice/camera.service", std::to_string(512 * mib), std::to_string(100 * mib));
  EXPECT_EQ(available(), (512 - 100 - 32) * mib);
}

TEST_F(Admission, S4_the_tightest_group_up_the_tree_counts) {
  mount("40 30 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/robot.slice/camera.service\n");
  second_generation("sys/fs/cgroup/robot.slice/camera.service", "max", std::to_string(100 * mib));
  second_generation("sys/fs/cgroup/robot.slice", std::to_string(1024 * mib), std::to_string(900 * mib));
  EXPECT_EQ(available(), (1024 - 900 - 64) * mib);
}

TEST_F(Admission, S4_what_a_group_is_slowed_down_beyond_limits_like_what_it_is_ended_beyond) {
  mount("40 30 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/a\n");
  second_generation("sys/fs/cgroup/a", "max", std::to_string(100 * mib));
  machine.write("sys/fs/cgroup/a/memory.high", std::to_string(512 * mib) + "\n");
  EXPECT_EQ(available(), (512 - 100 - 32) * mib);
  second_generation("sys/fs/cgroup/a", std::to_string(1024 * mib), std::to_string(100 * mib));
  EXPECT_EQ(available(), (512 - 100 - 32) * mib);
  machine.write("sys/fs/cgroup/a/memory.high", "max\n");
  EXPECT_EQ(available(), (1024 - 100 - 64) * mib);
}

TEST_F(Admission, S4_file_cache_that_can_be_dropped_is_not_in_the_way) {
  mount("40 30 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/a\n");
  second_generation("sys/fs/cgroup/a", std::to_string(512 * mib), std::to_string(500 * mib));
  machine.write("sys/fs/cgroup/a/memory.stat", "anon 1\ninactive_file " + in_bytes(300 * mib) + "active_file 7\n");
  EXPECT_EQ(available(), (512 - 200 - 32) * mib);
}

TEST_F(Admission, S4_a_full_group_leaves_nothing_and_never_less) {
  mount("40 30 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/a\n");
  second_generation("sys/fs/cgroup/a", std::to_string(512 * mib), std::to_string(500 * mib));
  EXPECT_EQ(available(), 0u);
  second_generation("sys/fs/cgroup/a", std::to_string(512 * mib), std::to_string(600 * mib));
  EXPECT_EQ(available(), 0u);
}

TEST_F(Admission, S4_a_cgroup_of_the_first_generation_limits_beside_an_empty_unified_tree) {
  mount(
      "35 31 0:32 / /sys/fs/cgroup/cpu,memory rw - cgroup cgroup rw,cpu,memory\n"
      "36 31 0:33 / /sys/fs/cgroup/devices rw - cgroup cgroup rw,devices\n"
      "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  group("5:cpu,memory:/docker/abc\n4:devices:/\n0::/docker/abc\n");
  first_generation("sys/fs/cgroup/cpu,memory", 9223372036854771712ULL, 3 * mib);
  first_generation("sys/fs/cgroup/cpu,memory/docker/abc", 256 * mib, 56 * mib);
  machine.write("sys/fs/cgroup/cpu,memory/docker/abc/memory.stat", "inactive_file 0\ntotal_inactive_file " + in_bytes(6 * mib));
  EXPECT_EQ(available(), (256 - 50 - 16) * mib);
}

TEST_F(Admission, S4_in_a_container_the_mount_point_itself_is_the_group) {
  first_generation("sys/fs/cgroup/memory", 256 * mib, 56 * mib);
  // Without a cgroup namespace both files name the group from the host's point of view; with one, both say "/".
  for (const std::string name : {"/docker/abc", "/"}) {
    mount("35 31 0:32 " + name + " /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    group("5:memory:" + name + "\n");
    EXPECT_EQ(available(), (256 - 56 - 16) * mib) << name;
  }
}

TEST_F(Admission, S4_in_a_container_groups_below_the_mount_point_count) {
  mount("35 31 0:32 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/docker/abc/inner\n");
  second_generation("sys/fs/cgroup", std::to_string(1024 * mib), "0");
  second_generation("sys/fs/cgroup/inner", std::to_string(256 * mib), "0");
  second_generation("sys/fs/cgroup/def", std::to_string(16 * mib), "0");
  EXPECT_EQ(available(), (256 - 16) * mib);
  group("0::/docker/abcdef\n");  // another group, whose name only begins alike
  EXPECT_EQ(available(), (1024 - 64) * mib);
}

TEST_F(Admission, S4_a_group_outside_of_the_namespace_falls_back_to_what_can_be_seen) {
  mount("40 30 0:35 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  group("0::/../sibling\n");
  second_generation("sys/fs/cgroup", std::to_string(512 * mib), std::to_string(100 * mib));
  EXPECT_EQ(available(), (512 - 100 - 32) * mib);
}

TEST_F(Admission, S4_files_that_say_nothing_do_not_limit) {
  machine.write("proc/meminfo", "");
  mount("nonsense\n- - -\n");
  group("nonsense\n::\n");
  EXPECT_EQ(available(), std::numeric_limits<std::uint64_t>::max());
}

TEST(AdmissionHere, this_machine_has_some_memory_and_not_more_than_it_has) {
  const auto here = available_memory();
  EXPECT_GT(here, 0u);
  EXPECT_LT(here, static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page_size());
}

}  // namespace
}  // namespace sinew::os
