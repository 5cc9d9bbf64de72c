// Log lines on standard error: `[INFO] [SECONDS.NANOSECONDS] [NAME]: TEXT`, coloured where that is a terminal.
//
//   RCLCPP_INFO(get_logger(), "%d of %d", done, all);
//   RCLCPP_WARN_STREAM(get_logger(), "only " << done);
//   RCLCPP_ERROR_ONCE(...), RCLCPP_INFO_THROTTLE(get_logger(), *get_clock(), 1000, ...), the same with _STREAM: RCLCPP_INFO_STREAM_THROTTLE(...)
//
// Each line is one write(), so that lines of several processes do not mix. Nothing of a line that is not logged is evaluated.
#pragma once

#include <atomic>
#include <cstdint>
#include <sstream>
#include <string>

#include "sinew/error.hpp"
#include "sinew/rclcpp/time.hpp"

namespace sinew::rclcpp {

/// A name that lines are logged under. A value; thread-safe.
class SINEW_API Logger {
 public:
  // NOLINTNEXTLINE(readability-identifier-naming): rclcpp's names
  enum class Level : std::uint8_t { Unset = 0, Debug = 10, Info = 20, Warn = 30, Error = 40, Fatal = 50 };

  explicit Logger(std::string name) : name_(std::move(name)) {}
  const char* get_name() const noexcept { return name_.c_str(); }
  /// "NAME.SUFFIX".
  Logger get_child(const std::string& suffix) const { return Logger(name_ + "." + suffix); }
  /// What is below is not logged, of all loggers of this name, and of those of its children that have no level of their own. Unset: what the parent's is; without any it is that of
  /// the logger without a name (`--ros-args --log-level LEVEL`), or Info.
  void set_level(Level level) const;
  Level get_effective_level() const;

 private:
  std::string name_;
};

inline Logger get_logger(const std::string& name) {
  return Logger(name);
}

namespace detail {
SINEW_API bool is_logged(const Logger& logger, Logger::Level level);
/// Never throws: where there is no memory for a line it says so instead.
SINEW_API void log(const Logger& logger, Logger::Level level, const char* format, ...) noexcept __attribute__((format(printf, 3, 4)));

/// The first time only.
class Once {
 public:
  bool passes() noexcept { return !passed_.exchange(true, std::memory_order_relaxed); }

 private:
  std::atomic<bool> passed_{false};  // relaxed: told, and nothing else with it
};
/// Not sooner than so many milliseconds after the last time.
class SINEW_API Throttle {
 public:
  bool passes(const Clock& clock, std::int64_t milliseconds) noexcept;

 private:
  std::atomic<std::int64_t> last_{0};  // relaxed: told, and nothing else with it; 0: there was none
};
}  // namespace detail

}  // namespace sinew::rclcpp

#define SINEW_RCLCPP_LOGGER(name, logger)                                                     \
  const auto& name = logger; /* NOLINT(bugprone-macro-parentheses): a declaration */          \
  static_assert(std::is_same_v<std::remove_cvref_t<decltype(name)>, ::sinew::rclcpp::Logger>, \
                "sinew: the first argument of RCLCPP_... is a logger: get_logger(), or rclcpp::get_logger(\"name\")")
#define SINEW_RCLCPP_LOG(level, logger, ...)                                                          \
  do {                                                                                                \
    SINEW_RCLCPP_LOGGER(sinew_logger, logger);                                                        \
    if (::sinew::rclcpp::detail::is_logged(sinew_logger, ::sinew::rclcpp::Logger::Level::level))      \
      ::sinew::rclcpp::detail::log(sinew_logger, ::sinew::rclcpp::Logger::Level::level, __VA_ARGS__); \
  } while (false)
#define SINEW_RCLCPP_STREAM(level, logger, text)                                                                                  \
  do {                                                                                                                            \
    SINEW_RCLCPP_LOGGER(sinew_stream_logger, logger);                                                                             \
    if (::sinew::rclcpp::detail::is_logged(sinew_stream_logger, ::sinew::rclcpp::Logger::Level::level)) {                         \
      std::ostringstream sinew_stream;                                                                                            \
      sinew_stream << text; /* NOLINT(bugprone-macro-parentheses): a row of << */                                                 \
      ::sinew::rclcpp::detail::log(sinew_stream_logger, ::sinew::rclcpp::Logger::Level::level, "%s", sinew_stream.str().c_str()); \
    }                                                                                                                             \
  } while (false)
// The level first: what is not logged is no first time, and no last one.
#define SINEW_RCLCPP_ONCE(what, level, logger, ...)                                                                          \
  do {                                                                                                                       \
    static ::sinew::rclcpp::detail::Once sinew_once;                                                                         \
    SINEW_RCLCPP_LOGGER(sinew_once_logger, logger);                                                                          \
    if (::sinew::rclcpp::detail::is_logged(sinew_once_logger, ::sinew::rclcpp::Logger::Level::level) && sinew_once.passes()) \
      what(level, sinew_once_logger, __VA_ARGS__);                                                                           \
  } while (false)
#define SINEW_RCLCPP_THROTTLE(what, level, logger, clock, milliseconds, ...)                                \
  do {                                                                                                      \
    static ::sinew::rclcpp::detail::Throttle sinew_throttle;                                                \
    SINEW_RCLCPP_LOGGER(sinew_throttle_logger, logger);                                                     \
    if (::sinew::rclcpp::detail::is_logged(sinew_throttle_logger, ::sinew::rclcpp::Logger::Level::level) && \
        sinew_throttle.passes(clock, milliseconds))                                                         \
      what(level, sinew_throttle_logger, __VA_ARGS__);                                                      \
  } while (false)

#define RCLCPP_DEBUG(logger, ...) SINEW_RCLCPP_LOG(Debug, logger, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM(logger, text) SINEW_RCLCPP_STREAM(Debug, logger, text)
#define RCLCPP_DEBUG_ONCE(logger, ...) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_LOG, Debug, logger, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_ONCE(logger, text) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_STREAM, Debug, logger, text)
#define RCLCPP_DEBUG_THROTTLE(logger, clock, milliseconds, ...) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_LOG, Debug, logger, clock, milliseconds, __VA_ARGS__)
#define RCLCPP_DEBUG_STREAM_THROTTLE(logger, clock, milliseconds, text) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_STREAM, Debug, logger, clock, milliseconds, text)
#define RCLCPP_INFO(logger, ...) SINEW_RCLCPP_LOG(Info, logger, __VA_ARGS__)
#define RCLCPP_INFO_STREAM(logger, text) SINEW_RCLCPP_STREAM(Info, logger, text)
#define RCLCPP_INFO_ONCE(logger, ...) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_LOG, Info, logger, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_ONCE(logger, text) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_STREAM, Info, logger, text)
#define RCLCPP_INFO_THROTTLE(logger, clock, milliseconds, ...) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_LOG, Info, logger, clock, milliseconds, __VA_ARGS__)
#define RCLCPP_INFO_STREAM_THROTTLE(logger, clock, milliseconds, text) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_STREAM, Info, logger, clock, milliseconds, text)
#define RCLCPP_WARN(logger, ...) SINEW_RCLCPP_LOG(Warn, logger, __VA_ARGS__)
#define RCLCPP_WARN_STREAM(logger, text) SINEW_RCLCPP_STREAM(Warn, logger, text)
#define RCLCPP_WARN_ONCE(logger, ...) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_LOG, Warn, logger, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_ONCE(logger, text) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_STREAM, Warn, logger, text)
#define RCLCPP_WARN_THROTTLE(logger, clock, milliseconds, ...) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_LOG, Warn, logger, clock, milliseconds, __VA_ARGS__)
#define RCLCPP_WARN_STREAM_THROTTLE(logger, clock, milliseconds, text) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_STREAM, Warn, logger, clock, milliseconds, text)
#define RCLCPP_ERROR(logger, ...) SINEW_RCLCPP_LOG(Error, logger, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM(logger, text) SINEW_RCLCPP_STREAM(Error, logger, text)
#define RCLCPP_ERROR_ONCE(logger, ...) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_LOG, Error, logger, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_ONCE(logger, text) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_STREAM, Error, logger, text)
#define RCLCPP_ERROR_THROTTLE(logger, clock, milliseconds, ...) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_LOG, Error, logger, clock, milliseconds, __VA_ARGS__)
#define RCLCPP_ERROR_STREAM_THROTTLE(logger, clock, milliseconds, text) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_STREAM, Error, logger, clock, milliseconds, text)
#define RCLCPP_FATAL(logger, ...) SINEW_RCLCPP_LOG(Fatal, logger, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM(logger, text) SINEW_RCLCPP_STREAM(Fatal, logger, text)
#define RCLCPP_FATAL_ONCE(logger, ...) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_LOG, Fatal, logger, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_ONCE(logger, text) SINEW_RCLCPP_ONCE(SINEW_RCLCPP_STREAM, Fatal, logger, text)
#define RCLCPP_FATAL_THROTTLE(logger, clock, milliseconds, ...) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_LOG, Fatal, logger, clock, milliseconds, __VA_ARGS__)
#define RCLCPP_FATAL_STREAM_THROTTLE(logger, clock, milliseconds, text) \
  SINEW_RCLCPP_THROTTLE(SINEW_RCLCPP_STREAM, Fatal, logger, clock, milliseconds, text)
