#include "session/callbacks/callbacks.hpp"

#include <algorithm>
#include <cstddef>

#include "session/callbacks/execution_thread.hpp"
#include "session/callbacks/periodic_timer.hpp"
#include "session/callbacks/runnable.hpp"

namespace sinew::session {
namespace {

constexpr std::size_t fewest = 16;

// Those that are gone are looked for only where there are twice as many as were left the last time: so adding one costs the same however many there are.
template <class T>
void note(std::vector<std::weak_ptr<T>>& all, const std::shared_ptr<T>& one) {
  if (all.size() == all.capacity()) {
    std::erase_if(all, [](const auto& weak) { return weak.expired(); });
    all.reserve(std::max(fewest, 2 * all.size()));
  }
  all.push_back(one);
}

}  // namespace

void Callbacks::add(const std::shared_ptr<PeriodicTimer>& timer) {
  note(timers_, timer);
}

void Callbacks::add(const std::shared_ptr<Runnable>& runnable) {
  note(runnables_, runnable);
}

void Callbacks::close() {
  for (const auto& weak : timers_) {
    const auto timer = weak.lock();
    if (!timer) continue;
    timer->close();
    timer->thread()->remove(timer);
  }
  for (const auto& weak : runnables_) {
    if (const auto runnable = weak.lock()) runnable->close();
  }
}

}  // namespace sinew::session
