#include "sinew/timer.hpp"

#include <chrono>
#include <memory>

#include "bindings/c/node.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"

using namespace sinew;

struct sinew_timer {
  std::shared_ptr<Timer> timer;
};

sinew_status sinew_timer_create(sinew_node* node, int64_t period_ns, const sinew_timer_options* options, sinew_timer** timer) {
  return c::guarded([&] {
    const sinew_timer_options asked = c::read(options, "sinew_timer_options");
    const std::shared_ptr<void> context = c::kept(asked.context, asked.release);
    sinew_timer*& into = c::given(timer, "timer");
    if (!asked.on_time) throw Error(ErrorKind::invalid_argument, "sinew_timer_options.on_time is NULL");
    auto made = std::make_unique<sinew_timer>();
    made->timer = c::given(node, "node")
                      .node->create_timer(std::chrono::nanoseconds(period_ns), [call = asked.on_time, context] { call(context.get()); },
                                          {.execution_thread = asked.execution_thread});
    into = made.release();
    return SINEW_OK;
  });
}

void sinew_timer_destroy(sinew_timer* timer) {
  delete timer;
}

void sinew_timer_cancel(sinew_timer* timer) {
  if (timer) timer->timer->cancel();
}

void sinew_timer_reset(sinew_timer* timer) {
  if (timer) timer->timer->reset();
}

uint64_t sinew_timer_missed(const sinew_timer* timer) {
  return timer ? timer->timer->missed() : 0;
}
