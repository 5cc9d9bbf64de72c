// Allocation scopes, with the replaced operator new and delete linked in as in every program that uses sinew.
#include "shm/scope.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <latch>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.hpp"
#include "shm/tests/notes.hpp"

namespace sinew::shm {
namespace {

class Scope : public testing::Test {
 protected:
  Scope() { add_window_range(base_, other_base_ + Window::granule); }
  bool in_window(const void* address) const { return window_->contains(address, 1); }

  const std::uintptr_t base_ = new_base();
  const std::uintptr_t other_base_ = new_base();
  std::shared_ptr<Window> window_ = new_window({}, nullptr, base_);
};

TEST_F(Scope, what_containers_allocate_inside_lies_in_the_window_and_outside_on_the_heap) {
  std::vector<int> inside;
  std::string text;
  std::vector<int> outside;
  outside.resize(100);
  {
    const AllocationScope scope(window_.get());
    inside.resize(100'000);
    text.assign(1000, 'x');
  }
  std::vector<int> after(100);
  EXPECT_TRUE(in_window(inside.data()));
  EXPECT_TRUE(in_window(text.data()));
  EXPECT_FALSE(in_window(outside.data()));
  EXPECT_FALSE(in_window(after.data()));
}

TEST_F(Scope, S10_every_form_of_new_takes_the_scope_and_every_form_of_delete_gives_back) {
  struct alignas(256) Aligned {
    char bytes[256];
  };
  struct Form {
    std::function<void*()> allocate;
    std::function<void(void*)> free;
    std::size_t alignment = 16;
  };
  const std::align_val_t wide{256};
  const std::vector<Form> forms = {
      {[] { return ::operator new(40); }, [](void* p) { ::operator delete(p); }},
      {[] { return ::operator new[](40); }, [](void* p) { ::operator delete[](p); }},
      {[] { return ::operator new(40, std::nothrow); }, [](void* p) { ::operator delete(p, std::nothrow); }},
      {[] { return ::operator new[](40, std::nothrow); }, [](void* p) { ::operator delete[](p, std::nothrow); }},
      {[&] { return ::operator new(256, wide); }, [&](void* p) { ::operator delete(p, wide); }, 256},
      {[&] { return ::operator new[](256, wide); }, [&](void* p) { ::operator delete[](p, wide); }, 256},
      {[&] { return ::operator new(256, wide, std::nothrow); }, [&](void* p) { ::operator delete(p, wide, std::nothrow); }, 256},
      {[&] { return ::operator new[](256, wide, std::nothrow); }, [&](void* p) { ::operator delete[](p, wide, std::nothrow); }, 256},
      {[] { return static_cast<void*>(new Aligned); }, [](void* p) { delete static_cast<Aligned*>(p); }, 256},
#if defined(__cpp_sized_deallocation)  // not by default before Clang 19
      {[] { return ::operator new(40); }, [](void* p) { ::operator delete(p, 40); }},
      {[] { return ::operator new[](40); }, [](void* p) { ::operator delete[](p, 40); }},
      {[&] { return ::operator new(256, wide); }, [&](void* p) { ::operator delete(p, 256, wide); }, 256},
      {[&] { return ::operator new[](256, wide); }, [&](void* p) { ::operator delete[](p, 256, wide); }, 256},
#endif
  };
  for (std::size_t i = 0; i < forms.size(); ++i) {
    void* block = nullptr;
    {
      const AllocationScope scope(window_.get());
      block = forms[i].allocate();
    }
    EXPECT_TRUE(in_window(block)) << "form " << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % forms[i].alignment, 0u) << "form " << i;
    forms[i].free(block);
    EXPECT_EQ(window_->usage().blocks, 0u) << "form " << i;

    void* ordinary = forms[i].allocate();
    EXPECT_FALSE(in_window_range(ordinary)) << "form " << i;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(ordinary) % forms[i].alignment, 0u) << "form " << i;
    forms[i].free(ordinary);
  }
}

TEST_F(Scope, code_compiled_into_the_cxx_library_takes_the_scope_too) {
  const AllocationScope scope(window_.get());
  std::stringstream stream;
  stream << std::string(5000, 'y');
  EXPECT_GT(window_->usage().in_use, 5000u);
}

TEST_F(Scope, storage_that_grows_outside_leaves_the_window_and_is_freed_into_it) {
  std::vector<int> values;
  {
    const AllocationScope scope(window_.get());
    values.resize(1000);
  }
  values.resize(100'000);
  EXPECT_FALSE(in_window(values.data()));
  EXPECT_EQ(window_->usage().blocks, 0u);
}

TEST_F(Scope, F5_storage_moved_out_of_a_message_is_readable_and_deletable_after_its_publisher_is_gone) {
  std::vector<int> image;
  std::string name;
  {
    const AllocationScope scope(window_.get());
    image.resize(500'000);
    name.assign(3000, 'n');
  }
  window_->close({});
  window_.reset();
  std::iota(image.begin(), image.end(), 0);
  EXPECT_EQ(image[499'999], 499'999);
  std::vector<int>().swap(image);
  EXPECT_EQ(name[2999], 'n');
  EXPECT_NE(Window::owner_of(name.data()), nullptr);
  std::string().swap(name);
  EXPECT_EQ(Window::owner_of(reinterpret_cast<const void*>(base_)), nullptr);
}

TEST_F(Scope, S13_scopes_nest_and_restore_what_was_before) {
  const auto other = new_window({}, nullptr, other_base_);
  const AllocationScope outer(window_.get());
  const auto in_outer = std::make_unique<int>(1);
  {
    const AllocationScope inner(other.get());
    const auto in_inner = std::make_unique<int>(2);
    EXPECT_EQ(Window::owner_of(in_inner.get()), other.get());
    const HeapScope heap;
    const auto on_heap = std::make_unique<int>(3);
    EXPECT_EQ(Window::owner_of(on_heap.get()), nullptr);
  }
  const auto again = std::make_unique<int>(4);
  EXPECT_EQ(Window::owner_of(in_outer.get()), window_.get());
  EXPECT_EQ(Window::owner_of(again.get()), window_.get());
}

TEST_F(Scope, S13_a_scope_that_ends_on_another_thread_leaves_that_thread_alone) {
  const auto other = new_window({}, nullptr, other_base_);
  std::unique_ptr<AllocationScope> stray;
  std::latch begun(1);
  std::latch ended(1);
  // As a coroutine does that is suspended on one thread and resumed on another.
  std::thread first([&] {
    stray.reset(new AllocationScope(window_.get()));
    begun.count_down();
    ended.wait();
  });
  std::thread second([&] {
    begun.wait();
    const AllocationScope own(other.get());
    stray.reset();
    const auto value = std::make_unique<int>(1);
    EXPECT_EQ(Window::owner_of(value.get()), other.get());
    ended.count_down();
  });
  second.join();
  first.join();
}

TEST_F(Scope, a_refused_window_falls_back_to_the_heap) {
  const auto poor = new_window({.budget = mib}, nullptr, other_base_);
  std::vector<char> values;
  {
    const AllocationScope scope(poor.get());
    values.resize(4 * mib);
  }
  EXPECT_EQ(Window::owner_of(values.data()), nullptr);
}

TEST_F(Scope, F4_a_window_that_refuses_was_asked_all_the_same_and_only_inside) {
  window_->close({});
  std::uint64_t asked = times_asked();
  ::operator delete(::operator new(64));
  EXPECT_EQ(times_asked(), asked);
  const AllocationScope scope(window_.get());
  ::operator delete(::operator new(64));
  EXPECT_EQ(times_asked(), ++asked);
}

TEST_F(Scope, bookkeeping_of_the_window_and_of_its_observer_stays_on_the_heap) {
  struct Busy : Notes {
    std::map<std::uint64_t, std::string> names;
    void chunk_added(const Chunk& chunk) override { names[chunk.id] = std::string(200, 'a'); }
    void chunk_dropped(std::uint64_t id) override { names[id] = std::string(400, 'b'); }
  } busy;
  const auto window = new_window({}, &busy, other_base_);
  {
    const AllocationScope scope(window.get());
    std::vector<std::unique_ptr<std::vector<char>>> all;
    all.reserve(200);
    for (int i = 0; i < 200; ++i) all.push_back(std::make_unique<std::vector<char>>(100'000));
  }
  EXPECT_EQ(window->usage().blocks, 0u);
  EXPECT_FALSE(busy.names.empty());
  for (const auto& [id, name] : busy.names) EXPECT_FALSE(in_window_range(name.data()));
}

TEST_F(Scope, F4_an_address_of_the_range_that_nobody_here_owns_never_reaches_free) {
  auto* stranger = reinterpret_cast<char*>(other_base_ + 64);
  EXPECT_TRUE(scope_free(stranger));
  window_->close({});
  EXPECT_TRUE(scope_free(reinterpret_cast<char*>(base_ + 64)));
  EXPECT_FALSE(scope_free(nullptr));
}

TEST_F(Scope, the_range_of_windows_is_only_ever_widened) {
  add_window_range(base_ + 5 * mib, base_ + 6 * mib);
  EXPECT_TRUE(in_window_range(reinterpret_cast<void*>(base_)));
  int on_stack = 0;
  EXPECT_FALSE(in_window_range(&on_stack));
}

// A sanitizer's malloc ends the process instead of giving null.
constexpr bool malloc_gives_null = !SINEW_SANITIZED;

TEST(New, throws_when_there_is_no_memory_after_asking_the_handler) {
  if (!malloc_gives_null) GTEST_SKIP() << "this sanitizer's malloc ends the process when memory is refused";
  static int asked = 0;
  asked = 0;
  std::set_new_handler([] {
    if (++asked == 3) std::set_new_handler(nullptr);
  });
  volatile std::size_t too_much = std::size_t{1} << 46;
  EXPECT_THROW(static_cast<void>(::operator new(too_much)), std::bad_alloc);
  EXPECT_EQ(asked, 3);
  EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
}

}  // namespace
}  // namespace sinew::shm
