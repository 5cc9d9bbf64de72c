#include "sinew/rclcpp/context.hpp"

#include <atomic>
#include <mutex>
#include <utility>

#include "os/clock.hpp"
#include "os/event.hpp"
#include "os/interrupts.hpp"
#include "rclcpp/context.hpp"
#include "sinew/rclcpp/time.hpp"

namespace sinew::rclcpp {
namespace {

// relaxed: who looks for it sees it soon; who waits is woken by the eventfd
std::atomic<bool> runs{false};
// relaxed: written before the signals lead to who reads it
std::atomic<int> end_bell{-1};

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
  if (!runs.exchange(false, std::memory_order_relaxed)) return false;
  os::ring(end_bell.load(std::memory_order_relaxed));
  return true;
}

void interrupted() noexcept {
  end_now();
}

std::vector<std::string> take_arguments(int argc, const char* const* argv) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) arguments.emplace_back(argv[i]);
  return arguments;
}

[[noreturn]] void refuse() {
  throw Error(ErrorKind::invalid_argument,
              "rclcpp::init(argc, argv) was not called, or shutdown() was since: call it before anything else of rclcpp");
}

std::vector<std::string> begin(int argc, const char* const* argv, SignalHandlerOptions signals) {
  std::vector<std::string> arguments = take_arguments(argc, argv);
  detail::Rules rules = detail::take_rules(arguments);
  Context& all = context();
  const std::lock_guard lock(all.mutex);
  if (all.begun) throw Error(ErrorKind::invalid_argument, "rclcpp::init() was called before: call rclcpp::shutdown() first");
  if (all.over) {
    os::drain(all.over.get());
  } else {
    all.over = os::create_eventfd();
    end_bell.store(all.over.get(), std::memory_order_relaxed);
  }
  all.rules = std::move(rules);
  all.begun = true;
  runs.store(true, std::memory_order_relaxed);
  const bool both = signals == SignalHandlerOptions::All;
  all.interrupts.emplace(both || signals == SignalHandlerOptions::SigInt, both || signals == SignalHandlerOptions::SigTerm, &interrupted);
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

std::optional<std::int64_t> deadline_of(std::int64_t nanoseconds) noexcept {
  if (nanoseconds < 0) return std::nullopt;
  const std::int64_t when = os::later(os::now_ns(), nanoseconds);
  return when == os::never ? std::nullopt : std::optional(when);
}

}  // namespace detail

void init(int argc, const char* const* argv, SignalHandlerOptions signals) {
  begin(argc, argv, signals);
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
  return ended;
}

bool ok() noexcept {
  return runs.load(std::memory_order_relaxed);
}

bool sleep_for(std::chrono::nanoseconds time) {
  if (time.count() > 0) os::wait_until_rung(detail::over(), detail::deadline_of(time.count()));
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

Rate::Rate(const Duration& period) : period_(period.to_chrono()) {}

bool Rate::sleep() {
  const auto now = std::chrono::steady_clock::now();
  const auto end = begin_ + period_;
  if (now >= end) {
    begin_ = now;
    return false;
  }
  begin_ = end;
  return sleep_for(end - now);
}

void Rate::reset() {
  begin_ = std::chrono::steady_clock::now();
}

}  // namespace sinew::rclcpp
