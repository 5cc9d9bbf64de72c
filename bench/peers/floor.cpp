// The floor: plain shared memory, filled and read where it lies. Of each subscriber an eventfd is written, in which it sleeps; or a futex is woken; or it spins, and nobody tells it.
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <system_error>

#include "clock.hpp"
#include "driver.hpp"

namespace {

using namespace sinew::bench;
using namespace sinew::bench::peers;

constexpr std::size_t line = 64, page = 4096, slots = 8, most_readers = 8;

struct alignas(line) Reader {
  std::atomic<std::uint64_t> taken;
  std::atomic<std::uint32_t> rung;  // a futex; only that in the memory of the first publisher is used
  std::atomic<bool> there;
};

// At the beginning of the memory of a publisher, zeroed by the kernel. Slots follow, each a header in a cache line of its own and the payload.
struct alignas(page) Books {
  alignas(line) std::atomic<std::uint64_t> published;
  std::array<std::uint8_t, slots> slot_of;  // of message number n at n % slots: no more than so many are under way
  std::array<Reader, most_readers> readers;
};

class Memory {
 public:
  /// That of one publisher.
  Memory(const Run& run, unsigned publisher)
      : run_(run), stride_((line + run.largest() + page - 1) / page * page), size_(sizeof(Books) + slots * stride_) {
    const int descriptor = run.descriptors.at(publisher);
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
  std::span<std::uint8_t> payload(std::size_t slot, std::size_t size) const {
    return {reinterpret_cast<std::uint8_t*>(at(slot) + line), size};
  }
  bool all_there() const {
    return std::all_of(books().readers.begin(), books().readers.begin() + run_.subscribers,
                       [](const Reader& reader) { return reader.there.load(); });
  }

 private:
  std::byte* at(std::size_t slot) const { return data_ + sizeof(Books) + slot * stride_; }

  const Run& run_;
  const std::size_t stride_, size_;
  std::byte* data_ = nullptr;
};

/// By which one subscriber is woken.
class Bell {
 public:
  Bell(const Run& run, unsigned subscriber, const Memory& first)
      : spins_(run.spins),
        futex_(run.way == "futex"),
        eventfd_(run.descriptors.at(run.publishers + subscriber)),
        rung_(first.books().readers.at(subscriber).rung) {}

  void ring() const {
    const std::uint64_t one = 1;
    if (spins_) return;
    if (futex_) {
      rung_.fetch_add(1);
      syscall(SYS_futex, &rung_, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    } else if (write(eventfd_, &one, sizeof one) != sizeof one) {
      throw std::system_error(errno, std::generic_category(), "write to an eventfd");
    }
  }
  /// To be taken before one looks for messages.
  std::uint32_t look() const { return rung_.load(); }
  /// Sleeps until it is rung, or was since `looked`.
  void await(std::uint32_t looked) const {
    std::uint64_t rung;
    if (spins_) {
      spin_hint();
    } else if (futex_) {
      syscall(SYS_futex, &rung_, FUTEX_WAIT, looked, nullptr, nullptr, 0);
    } else if (read(eventfd_, &rung, sizeof rung) < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "read of an eventfd");
    }
  }

 private:
  const bool spins_, futex_;
  const int eventfd_;
  std::atomic<std::uint32_t>& rung_;
};

std::vector<std::unique_ptr<Memory>> memories_of(const Run& run) {
  std::vector<std::unique_ptr<Memory>> all;
  all.reserve(run.publishers);
  for (unsigned publisher = 0; publisher < run.publishers; ++publisher) all.push_back(std::make_unique<Memory>(run, publisher));
  return all;
}

void publish(const Run& run) {
  const auto memories = memories_of(run);
  const Memory& memory = *memories.at(run.index);
  Books& books = memory.books();
  std::vector<Bell> bells;
  bells.reserve(run.subscribers);
  for (unsigned reader = 0; reader < run.subscribers; ++reader) bells.emplace_back(run, reader, *memories.front());
  connect([&] { return memory.all_there(); });
  std::array<std::uint64_t, slots> needed{};  // of each slot: it is free when so many messages were taken
  publish_all(run, [&](Header& header, Work& work) {
    // The first that is free, which was used last when readers keep up, and is in the cache.
    const auto is_free = [&](std::uint64_t count) {
      return std::all_of(books.readers.begin(), books.readers.begin() + run.subscribers,
                         [&](const Reader& reader) { return reader.taken.load(std::memory_order_acquire) >= count; });
    };
    auto found = std::ranges::find_if(needed, is_free);
    for (; found == needed.end(); found = std::ranges::find_if(needed, is_free)) sched_yield();
    const auto slot = static_cast<std::size_t>(found - needed.begin());
    work.fill(header, memory.payload(slot, header.size));
    *found = header.number + 1;
    books.slot_of[header.number % slots] = static_cast<std::uint8_t>(slot);
    header.sent = now_ns();
    memory.header(slot) = header;
    books.published.store(header.number + 1, std::memory_order_release);
    for (const Bell& bell : bells) bell.ring();
  });
}

void subscribe(const Run& run, Arrivals& arrivals) {
  const auto memories = memories_of(run);
  const Bell bell(run, run.index, *memories.front());
  for (const auto& memory : memories) memory->books().readers.at(run.index).there = true;
  connect([] { return true; });  // the publisher waits for all
  while (arrivals.more()) {
    const std::uint32_t looked = bell.look();
    bool found = false;
    for (const auto& memory : memories) {
      std::atomic<std::uint64_t>& taken = memory->books().readers.at(run.index).taken;
      for (std::uint64_t next = taken.load(); next < memory->books().published.load(std::memory_order_acquire); found = true) {
        const std::size_t slot = memory->books().slot_of[next % slots];
        arrivals.add(memory->header(slot), memory->payload(slot, memory->header(slot).size));
        taken.store(++next, std::memory_order_release);
      }
    }
    if (!found) bell.await(looked);
  }
}

/// One copy of the payload for each subscriber, and nothing else: what the machine's memory does.
void both(const Run& run, std::vector<std::unique_ptr<Arrivals>>& arrivals) {
  std::vector<std::uint8_t> payload(run.largest()), copies(slots * run.largest());
  connect([] { return true; });
  publish_all(run, [&](Header& header, Work& work) {
    work.fill(header, {payload.data(), header.size});
    header.sent = now_ns();
    for (const auto& each : arrivals) {
      std::uint8_t* const copy = copies.data() + header.number % slots * run.largest();
      std::memcpy(copy, payload.data(), header.size);
      each->add(header, {copy, header.size});
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  return drive(argc, argv, {publish, subscribe, both});
}
