#include "reactor.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "clock.hpp"

namespace sinew::bench::graphs {

namespace {

int checked(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

}  // namespace

Reactor::Reactor(std::function<void()> after_all)
    : after_all_(std::move(after_all)),
      epoll_(checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wake_(checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      thread_() {
  watch(wake_, [this] {
    std::uint64_t rung = 0;
    if (read(wake_, &rung, sizeof rung) < 0 && errno != EAGAIN) std::abort();
  });
  thread_ = std::thread([this] { run(); });
}

Reactor::~Reactor() {
  stopping_ = true;
  wake();
  thread_.join();
  close(wake_);
  close(epoll_);
}

void Reactor::wake() {
  const std::uint64_t one = 1;
  if (write(wake_, &one, sizeof one) != sizeof one) std::abort();
}

void Reactor::watch(int descriptor, std::function<void()> handler) {
  const std::lock_guard lock(mutex_);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = &handlers_.emplace_back(std::move(handler));
  checked(epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
}

void Reactor::every(std::int64_t first, std::int64_t period, std::function<void()> tick) {
  {
    const std::lock_guard lock(mutex_);
    new_ticks_.push_back({first, period, std::move(tick)});
  }
  wake();
}

void Reactor::run() {
  std::vector<Tick> ticks;
  std::array<epoll_event, 64> events;
  while (!stopping_) {
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (const Tick& tick : ticks) next = std::min(next, tick.due);
    const std::int64_t left = std::max<std::int64_t>(0, next - now_ns());
    const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
    const int count = epoll_pwait2(epoll_, events.data(), events.size(), ticks.empty() ? nullptr : &timeout, nullptr);
    if (count < 0 && errno != EINTR) std::abort();
    for (int i = 0; i < count; ++i) (*static_cast<std::function<void()>*>(events[static_cast<std::size_t>(i)].data.ptr))();
    if (count > 0) {
      const std::lock_guard lock(mutex_);
      std::ranges::move(new_ticks_, std::back_inserter(ticks));
      new_ticks_.clear();
    }
    const std::int64_t now = now_ns();
    for (Tick& tick : ticks) {
      if (tick.due > now) continue;
      tick.call();
      tick.due += tick.period;
    }
    if (after_all_) after_all_();
  }
}

}  // namespace sinew::bench::graphs
