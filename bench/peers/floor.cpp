// The floor: plain shared memory, filled and read where it lies, and one eventfd write for each subscriber, which sleeps in read.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

constexpr std::size_t line = 64, page = 4096, slots = 8, most_readers = 8;

struct alignas(line) Cursor {
  std::atomic<std::uint64_t> taken;
};

// At the beginning of the memory, zeroed by the kernel. Slots follow, each a header in a cache line of its own and the payload.
struct alignas(page) Books {
  alignas(line) std::atomic<std::uint64_t> published;
  std::array<std::uint8_t, slots> slot_of;  // of message number n at n % slots: no more than so many are under way
  std::atomic<std::uint32_t> readers;
  std::array<Cursor, most_readers> cursors;
};

class Memory {
 public:
  explicit Memory(const Run& run) : run_(run), stride_((line + run.size + page - 1) / page * page), size_(sizeof(Books) + slots * stride_) {
    const int descriptor = run.descriptors.at(0);
    if (ftruncate(descriptor, static_cast<off_t>(size_)) != 0) throw std::system_error(errno, std::generic_category(), "ftruncate");
    void* const data = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (data == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    data_ = static_cast<std::byte*>(data);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() { munmap(data_, size_); }

  Books& books() const { return *reinterpret_cast<Books*>(data_); }
  Header& header(std::size_t slot) const { return *reinterpret_cast<Header*>(at(slot)); }
  std::span<std::uint8_t> payload(std::size_t slot) const { return {reinterpret_cast<std::uint8_t*>(at(slot) + line), run_.size}; }

 private:
  std::byte* at(std::size_t slot) const { return data_ + sizeof(Books) + slot * stride_; }

  const Run& run_;
  const std::size_t stride_, size_;
  std::byte* data_ = nullptr;
};

void publish(const Run& run) {
  const Memory memory(run);
  Books& books = memory.books();
  connect([&] { return books.readers.load() == run.subscribers; });
  std::array<std::uint64_t, slots> needed{};  // of each slot: it is free when so many messages were taken
  publish_all(run, [&](Header header) {
    // The first that is free, which was used last when readers keep up, and is in the cache.
    const auto is_free = [&](std::uint64_t count) {
      return std::all_of(books.cursors.begin(), books.cursors.begin() + run.subscribers,
                         [&](const Cursor& cursor) { return cursor.taken.load(std::memory_order_acquire) >= count; });
    };
    auto found = std::ranges::find_if(needed, is_free);
    for (; found == needed.end(); found = std::ranges::find_if(needed, is_free)) sched_yield();
    const auto slot = static_cast<std::size_t>(found - needed.begin());
    const std::span<std::uint8_t> payload = memory.payload(slot);
    std::memset(payload.data(), header.value(), payload.size());
    *found = header.number + 1;
    books.slot_of[header.number % slots] = static_cast<std::uint8_t>(slot);
    header.sent = now_ns();
    memory.header(slot) = header;
    books.published.store(header.number + 1, std::memory_order_release);
    const std::uint64_t one = 1;
    for (unsigned reader = 0; reader < run.subscribers; ++reader) {
      if (write(run.descriptors.at(1 + reader), &one, sizeof one) != sizeof one) {
        throw std::system_error(errno, std::generic_category(), "write to an eventfd");
      }
    }
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const Memory memory(run);
  Books& books = memory.books();
  std::atomic<std::uint64_t>& taken = books.cursors.at(books.readers.fetch_add(1)).taken;
  connect([&] { return books.readers.load() == run.subscribers; });
  const int bell = run.descriptors.at(1);
  for (std::uint64_t next = 0; !arrivals.complete();) {
    std::uint64_t rung;
    if (read(bell, &rung, sizeof rung) < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "read of an eventfd");
    while (next < books.published.load(std::memory_order_acquire)) {
      const std::size_t slot = books.slot_of[next % slots];
      arrivals.add(memory.header(slot), memory.payload(slot));
      taken.store(++next, std::memory_order_release);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, publish, subscribe);
}
