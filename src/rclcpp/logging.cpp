#include "sinew/rclcpp/logging.hpp"

#include <array>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "os/interrupts.hpp"
#include "sinew/detail/publisher_core.hpp"

namespace sinew::rclcpp {
namespace {

struct Levels {
  std::mutex mutex;
  std::map<std::string, Logger::Level, std::less<>> by_name;  // guarded by mutex
};
Levels& levels() {
  static auto* const made = new Levels;  // leaked: destructors of others log, too
  return *made;
}

struct Look {
  const char* word;
  const char* colour;
};
Look look_of(Logger::Level level) noexcept {
  switch (level) {
    case Logger::Level::Debug:
      return {"DEBUG", "\033[32m"};
    case Logger::Level::Warn:
      return {"WARN", "\033[33m"};
    case Logger::Level::Error:
      return {"ERROR", "\033[31m"};
    case Logger::Level::Fatal:
      return {"FATAL", "\033[31m"};
    default:
      return {"INFO", ""};
  }
}

std::string text_of(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return format;  // it is none, or asks for what cannot be written
  std::string text(static_cast<std::size_t>(size), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, arguments);
  return text;
}

std::string line_of(const Logger& logger, Logger::Level level, const std::string& text) {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%lld.%09lld", static_cast<long long>(now / detail::second),
                static_cast<long long>(now % detail::second));
  const Look look = look_of(level);
  const std::string_view colour = os::is_stderr_a_terminal() ? look.colour : "";
  std::string line(colour);
  line.append("[").append(look.word).append("] [").append(time.data()).append("] [").append(logger.get_name()).append("]: ").append(text);
  if (!colour.empty()) line.append("\033[0m");
  return line.append("\n");
}

}  // namespace

void Logger::set_level(Level level) const {
  Levels& all = levels();
  const std::lock_guard lock(all.mutex);
  all.by_name[name_] = level;
}

Logger::Level Logger::get_effective_level() const {
  Levels& all = levels();
  const std::lock_guard lock(all.mutex);
  for (std::string_view name = name_; !all.by_name.empty();) {
    if (const auto found = all.by_name.find(name); found != all.by_name.end() && found->second != Level::Unset) return found->second;
    if (name.empty()) break;
    const std::size_t end = name.rfind('.');
    name = name.substr(0, end == std::string_view::npos ? 0 : end);  // the empty one is the parent of all
  }
  return Level::Info;
}

namespace detail {

bool is_logged(const Logger& logger, Logger::Level level) {
  return level >= logger.get_effective_level();
}

void log(const Logger& logger, Logger::Level level, const char* format, ...) noexcept {
  const sinew::detail::AllocateOnHeap heap;  // also where a message is being built
  std::va_list arguments;
  va_start(arguments, format);
  try {
    const std::string line = line_of(logger, level, text_of(format, arguments));
    os::write_to_stderr(line.data(), line.size());
  } catch (const std::bad_alloc&) {
    constexpr std::string_view sentence = "a line was not logged: there was no memory for it\n";
    os::write_to_stderr(sentence.data(), sentence.size());
  }
  va_end(arguments);
}

bool Throttle::passes(const Clock& clock, std::int64_t milliseconds) noexcept {
  const std::int64_t now = clock.now().nanoseconds();
  std::int64_t last = last_.load(std::memory_order_relaxed);
  // A clock that was set back begins again.
  if (last != 0 && now >= last && (now - last) / 1'000'000 < milliseconds) return false;
  return last_.compare_exchange_strong(last, now, std::memory_order_relaxed);
}

}  // namespace detail
}  // namespace sinew::rclcpp
