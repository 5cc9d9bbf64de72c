#include "os/fd.hpp"

#include <fcntl.h>

#include <cerrno>

#include "os/event.hpp"
#include "os/fault.hpp"
#include "os/memory.hpp"
#include "support.hpp"

namespace sinew::os {
namespace {

TEST(Fd, closes_its_descriptor_exactly_once) {
  const auto before = test::open_descriptors();
  {
    Fd first = create_eventfd();
    Fd second = std::move(first);
    EXPECT_FALSE(first);
    Fd third = create_eventfd();
    third = std::move(second);
    EXPECT_EQ(test::open_descriptors(), before + 1);
    third.reset();
    third.reset();
    EXPECT_EQ(test::open_descriptors(), before);
  }
  EXPECT_EQ(test::open_descriptors(), before);
}

TEST(Fd, release_hands_the_descriptor_to_the_caller) {
  Fd owner = create_eventfd();
  const int number = owner.release();
  EXPECT_FALSE(owner);
  EXPECT_EQ(::close(number), 0);
}

TEST(Fd, a_duplicate_is_the_same_open_file_and_closed_on_exec) {
  const Fd original = create_memfd("duplicate", page_size());
  const Fd copy = original.duplicate();
  EXPECT_NE(copy.get(), original.get());
  EXPECT_EQ(identity_of(copy), identity_of(original));
  EXPECT_EQ(::fcntl(copy.get(), F_GETFD), FD_CLOEXEC);
  EXPECT_NE(identity_of(create_memfd("another", page_size())), identity_of(original));
}

TEST(Fd, a_shortage_of_descriptors_is_called_exhausted_and_names_the_limit_to_raise) {
  const Fd original = create_eventfd();
  fault::arm(fault::Call::dup, 1, EMFILE);
  std::string text;
  SINEW_EXPECT_ERROR(original.duplicate(), ErrorKind::exhausted, text);
  fault::disarm();
  EXPECT_NE(text.find("ulimit -n"), text.npos) << text;
}

}  // namespace
}  // namespace sinew::os
