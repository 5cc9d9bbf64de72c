#include "base/point.hpp"

#if defined(SINEW_TEST_POINTS)

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace sinew::base {
namespace {

struct Wish {
  std::string_view label;
  int pass = 0;
  int signal = 0;  // or else the thread is held
};

// pair HELD: who sees a thread held sees what it did before.
// pair GONE_ON: a thread that goes on sees what was done while it was held.
std::atomic<bool> held{false}, gone_on{false};

// A misspelt wish must not turn a test about death into a test about nothing.
[[noreturn]] void refuse(const char* text) noexcept {
  std::fprintf(stderr, "SINEW_AT must be label:pass:kill, label:pass:stop or label:pass:hold with a pass from 1, not '%s'.\n", text);
  std::abort();
}

Wish wish_from_environment() noexcept {
  const char* text = std::getenv("SINEW_AT");
  if (text == nullptr || *text == '\0') return {};
  const std::string_view all = text;
  const auto first = all.find(':');
  const auto second = first == all.npos ? all.npos : all.find(':', first + 1);
  if (second == all.npos) refuse(text);
  Wish wish{.label = all.substr(0, first)};
  const char* end = all.data() + second;
  const auto [stopped, error] = std::from_chars(all.data() + first + 1, end, wish.pass);
  if (error != std::errc{} || stopped != end || wish.pass < 1) refuse(text);
  const auto action = all.substr(second + 1);
  if (action != "kill" && action != "stop" && action != "hold") refuse(text);
  wish.signal = action == "kill" ? SIGKILL : action == "stop" ? SIGSTOP : 0;
  return wish;
}

}  // namespace

void pass_point(const char* label) noexcept {
  static const Wish wish = wish_from_environment();
  static std::atomic<int> passes{0};  // relaxed: counted, and nothing else with it
  if (wish.label != label) return;
  if (passes.fetch_add(1, std::memory_order_relaxed) + 1 != wish.pass) return;
  if (wish.signal != 0) {
    std::raise(wish.signal);
    return;
  }
  held.store(true, std::memory_order_release);     // sync: HELD (with is_held)
  gone_on.wait(false, std::memory_order_acquire);  // sync: GONE_ON (with let_go)
  held.store(false, std::memory_order_release);    // sync: HELD (with is_held)
}

bool is_held() noexcept {
  return held.load(std::memory_order_acquire);  // sync: HELD (with pass_point)
}

void let_go() noexcept {
  gone_on.store(true, std::memory_order_release);  // sync: GONE_ON (with pass_point)
  gone_on.notify_all();                            // sync: GONE_ON (with pass_point)
}

}  // namespace sinew::base

#endif
