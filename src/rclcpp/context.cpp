#include "sinew/rclcpp/context.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/interrupts.hpp"
#include "rclcpp/context.hpp"
#include "session/fork.hpp"
#include "sinew/rclcpp/time.hpp"

namespace sinew::rclcpp {
namespace {

// pair RUNS / SPINNING: who ends says so and then looks who spins; who spins is listed and then looks whether it is over. relaxed: where one only asks
std::atomic<bool> runs{false};
// pair SPINNING / RUNS, ENDING: who sees an executor there may stop it, until ENDING is 0 again.
std::array<std::atomic<Executor*>, 64> spinning{};
// pair ENDING / SPINNING: who ends counts himself and then looks who spins; who spins no more takes himself out and then waits until nobody looks.
std::atomic<unsigned> ending{0};
// relaxed: written before the signals lead to who reads it
std::atomic<int> end_bell{-1};
// How often init() was called. relaxed: a thread that sees it late takes the end of the time before for that of this one, and sleeps on
std::atomic<unsigned> times{0};
thread_local unsigned knows_end_of = 0;  // this thread was told that it was over

struct Context {
  std::mutex mutex;  // guards all of it
  os::Fd over;       // made by the first init(), and kept: others wait for it
  bool begun = false;
  detail::Rules rules;
  std::optional<os::Interrupts> interrupts;
};
Context& context() {
  static auto* const made = new Context;  // leaked: threads may look at it until the very end
  return *made;
}

// In a handler of signals, too.
bool end_now() noexcept {
  if (!runs.exchange(false, std::memory_order_seq_cst)) return false;  // sync: RUNS (with goes_on)
  if (session::forked()) return true;                                  // what waits is the parent's
  os::ring(end_bell.load(std::memory_order_relaxed));
  ending.fetch_add(1, std::memory_order_seq_cst);  // sync: ENDING (with ~Spinning)
  for (auto& place : spinning) {
    if (Executor* const executor = place.load(std::memory_order_seq_cst)) executor->stop();  // sync: SPINNING (with Spinning, ~Spinning)
  }
  ending.fetch_sub(1, std::memory_order_seq_cst);  // sync: ENDING (with ~Spinning)
  return true;
}

void interrupted() noexcept {
  end_now();
}

std::vector<std::string> take_arguments(int argc, const char* const* argv) {
  return {argv, argv + argc};
}

[[noreturn]] void refuse() {
  throw Error(ErrorKind::invalid_argument,
              "rclcpp::init(argc, argv) was not called, or shutdown() was since: call it before anything else of rclcpp");
}

std::vector<std::string> begin(int argc, const char* const* argv, SignalHandlerOptions handlers) {
  std::vector<std::string> arguments = take_arguments(argc, argv);
  detail::Rules rules = detail::take_rules(arguments);
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  if (all.begun) throw Error(ErrorKind::invalid_argument, "rclcpp::init() was called before: call rclcpp::shutdown() first");
  if (all.over) {
    os::drain(all.over.get());
  } else {
    all.over = os::create_eventfd();
    session::close_in_child(all.over.get());
    end_bell.store(all.over.get(), std::memory_order_relaxed);
  }
  for (const auto& [logger, level] : rules.levels) Logger(logger).set_level(level);
  all.rules = std::move(rules);
  all.begun = true;
  times.fetch_add(1, std::memory_order_relaxed);
  runs.store(true, std::memory_order_seq_cst);  // sync: RUNS (with goes_on)
  const bool both = handlers == SignalHandlerOptions::All;
  all.interrupts.emplace(both || handlers == SignalHandlerOptions::SigInt, both || handlers == SignalHandlerOptions::SigTerm, &interrupted);
  return arguments;
}

}  // namespace

namespace detail {

Rules rules() {
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  if (!all.begun) refuse();
  return all.rules;
}

int over() {
  const int bell = end_bell.load(std::memory_order_relaxed);
  if (bell < 0) refuse();
  return bell;
}

namespace {
thread_local const std::function<bool()>* ends_now = nullptr;  // of the innermost that runs callbacks
}  // namespace

bool is_on() noexcept {
  return runs.load(std::memory_order_relaxed);
}

bool ends_here() {
  return !is_on() || session::forked() || (ends_now && (*ends_now)());
}

Ends::Ends(const std::function<bool()>& ends) noexcept : before_(std::exchange(ends_now, &ends)) {}

Ends::~Ends() {
  ends_now = before_;
}

Spinning::Spinning(Executor& executor) noexcept {
  for (std::size_t i = 0; i < spinning.size() && place_ < 0; ++i) {
    Executor* nobody = nullptr;
    // sync: SPINNING (with end_now)
    if (spinning[i].compare_exchange_strong(nobody, &executor, std::memory_order_seq_cst)) place_ = static_cast<int>(i);
  }
}

Spinning::~Spinning() {
  if (place_ < 0) return;
  spinning[static_cast<std::size_t>(place_)].store(nullptr, std::memory_order_seq_cst);  // sync: SPINNING (with end_now)
  while (ending.load(std::memory_order_seq_cst) != 0) os::spin_hint();                   // sync: ENDING (with end_now)
  (void)ok();                                                                            // where that is why it ends, its thread knows it
}

bool Spinning::goes_on() const noexcept {
  return runs.load(std::memory_order_seq_cst) && !session::forked();  // sync: RUNS (with end_now, begin)
}

std::optional<std::int64_t> deadline_of(std::int64_t nanoseconds) noexcept {
  if (nanoseconds < 0) return std::nullopt;
  const std::int64_t when = os::later(os::now_ns(), nanoseconds);
  return when == os::never ? std::nullopt : std::optional(when);
}

}  // namespace detail

void init(int argc, const char* const* argv, SignalHandlerOptions handlers) {
  begin(argc, argv, handlers);
}

std::vector<std::string> init_and_remove_ros_arguments(int argc, const char* const* argv) {
  return begin(argc, argv, SignalHandlerOptions::All);
}

std::vector<std::string> remove_ros_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments = take_arguments(argc, argv);
  detail::take_rules(arguments);
  return arguments;
}

bool shutdown() {
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  const bool ended = end_now();
  all.interrupts.reset();
  all.begun = false;
  knows_end_of = times.load(std::memory_order_relaxed);
  return ended;
}

bool ok() noexcept {
  const bool is = detail::is_on();
  if (!is) knows_end_of = times.load(std::memory_order_relaxed);
  return is;
}

// Who knows that it is over wants to sleep all the same, as a program that slows its motors down before it ends. Who does not is told by that, lest it sleep on when the signal came just before.
bool sleep_for(std::chrono::nanoseconds time) {
  if (time.count() <= 0) return ok();
  const bool knows_end = !detail::is_on() && knows_end_of == times.load(std::memory_order_relaxed);
  if (knows_end || session::forked()) {
    os::sleep_for(time);  // what would be rung was rung, or is closed here
  } else {
    os::wait_until_rung(detail::over(), detail::deadline_of(time.count()));
  }
  return ok();
}

// --- clocks ----------------------------------------------------------------------------------------------------------------------------

void Time::refuse() {
  throw Error(ErrorKind::invalid_argument,
              "two times of different clocks were compared, one of the steady clock and one of the system's: take both from one clock");
}

Time Clock::now() const noexcept {
  const auto since = [](auto time) { return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count(); };
  return Time(type_ == ClockType::steady ? since(std::chrono::steady_clock::now()) : since(std::chrono::system_clock::now()), type_);
}

namespace {
std::chrono::nanoseconds period_of(double rate) {
  if (!(rate > 0)) throw Error(ErrorKind::invalid_argument, "a rate of " + std::to_string(rate) + " Hz: give one above 0");
  return Duration::from_seconds(1 / rate).to_chrono();
}
}  // namespace

Rate::Rate(double rate) : period_(period_of(rate)) {}

Rate::Rate(const Duration& period) : period_(period.to_chrono()) {
  if (period_.count() <= 0)
    throw Error(ErrorKind::invalid_argument, "a rate with a period of " + std::to_string(period_.count()) + " ns: give one above 0");
}

bool Rate::sleep() {
  const auto now = std::chrono::steady_clock::now();
  const auto after_a_period = [this](std::chrono::steady_clock::time_point from) {
    return decltype(from)(std::chrono::nanoseconds(detail::sum_of(from.time_since_epoch().count(), period_.count())));
  };
  const auto end = after_a_period(begin_);
  begin_ = now >= after_a_period(end) ? now : end;  // as ROS has it, being late does not shift the next one until a whole period was missed
  return now < end && sleep_for(end - now);
}

void Rate::reset() {
  begin_ = std::chrono::steady_clock::now();
}

}  // namespace sinew::rclcpp
