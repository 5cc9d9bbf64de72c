#include "board.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <new>
#include <system_error>

namespace sinew::bench::graphs {

namespace {

// A publisher that was held up at the start sends what was due before then as messages that count.
constexpr std::int64_t spare_samples = 64;

constexpr std::size_t head_size = 64;

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Board::Board(const Topology& topology, unsigned seconds, int descriptor)
    : length_ns_(std::int64_t{seconds} * 1'000'000'000),
      publications_(topology.publications.size()),
      subscriptions_(topology.subscriptions.size()),
      first_sample_{0},
      descriptor_(descriptor) {
  for (const Subscription& each : topology.subscriptions) {
    const std::int64_t messages = length_ns_ / topology.publications[each.publication].period_ns + spare_samples;
    first_sample_.push_back(first_sample_.back() + static_cast<std::size_t>(messages));
  }
  size_ = head_size + publications_ * sizeof(PublicationRecord) + subscriptions_ * sizeof(SubscriptionRecord) +
          first_sample_.back() * sizeof(Sample);
  if (descriptor_ >= 0) map();
}

Board::Board(const Topology& topology, unsigned seconds) : Board(topology, seconds, -1) {
  descriptor_ = memfd_create(board_name, MFD_CLOEXEC);
  if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) fail("making the memory that the processes share");
  map();
}

void Board::map() {
  memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor_, 0);
  if (memory_ == MAP_FAILED) {
    memory_ = nullptr;
    fail("mapping the memory that the processes share");
  }
}

Board::~Board() {
  if (memory_ != nullptr) munmap(memory_, size_);
  if (descriptor_ >= 0) close(descriptor_);
}

// A new memfd is zero, which is where all of them begin.
std::atomic<std::int64_t>& Board::start() const {
  return *static_cast<std::atomic<std::int64_t>*>(memory_);
}

Board::PublicationRecord& Board::publication(unsigned index) const {
  return reinterpret_cast<PublicationRecord*>(static_cast<std::byte*>(memory_) + head_size)[index];
}

Board::SubscriptionRecord& Board::subscription(unsigned index) const {
  return reinterpret_cast<SubscriptionRecord*>(&publication(static_cast<unsigned>(publications_)))[index];
}

std::span<Board::Sample> Board::samples(unsigned index) const {
  auto* const all = reinterpret_cast<Sample*>(&subscription(static_cast<unsigned>(subscriptions_)));
  return {all + first_sample_[index], first_sample_[index + 1] - first_sample_[index]};
}

}  // namespace sinew::bench::graphs
