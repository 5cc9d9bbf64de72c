#include "bindings/c/status.hpp"

#include <array>

namespace sinew::c {
namespace {

constexpr std::array names = {"ok",        "invalid_argument", "name_taken", "type_mismatch", "incompatible", "unavailable",     "denied",
                              "exhausted", "disconnected",     "system",     "no_memory",     "would_block",  "invalid_message", "closed",
                              "nothing",   "failed",           "timeout",    "cancelled",     "lost"};
static_assert(names.size() == SINEW_LOST + 1);
static_assert(static_cast<int>(ErrorKind::system) + 1 == SINEW_SYSTEM);

// What runs later as the thread ends, as a destructor of the user's or a function of atexit(), may fail as well. It outlives last_error, as it has no destructor.
thread_local bool is_gone = false;

struct LastError {
  ~LastError() { is_gone = true; }
  std::string text;
  const char* short_text = nullptr;  // where there is no memory for the other
};
thread_local LastError last_error;

}  // namespace

sinew_status fail(sinew_status status, const char* text) noexcept {
  if (is_gone) return status;
  try {
    last_error.text = text;
    last_error.short_text = nullptr;
  } catch (const std::bad_alloc&) {
    last_error.short_text = "there is no memory to say what failed";
  }
  return status;
}

sinew_status fail(const Error& error) noexcept {
  return fail(static_cast<sinew_status>(error.kind()) + 1, error.what());
}

sinew_status status_of(PublishResult result) noexcept {
  switch (result) {
    case PublishResult::published:
      return SINEW_OK;
    case PublishResult::would_block:
      return fail(SINEW_WOULD_BLOCK, "not published: a reliable keep-all subscriber is a whole ring behind, and did not catch up in time");
    case PublishResult::no_memory:
      return fail(SINEW_NO_MEMORY, "not published: the publisher's memory_budget or the machine's memory is used up");
    case PublishResult::invalid:
      return fail(SINEW_INVALID_MESSAGE, "not published: it is no stream of CDR, which begins with the bytes 00 01 00 00 or 00 00 00 00");
    case PublishResult::closed:
      break;
  }
  return fail(
      SINEW_CLOSED,
      "not published: the node has been destroyed, or the publisher is a ghost whose topic is gone, or this process was forked from "
      "the publisher's");
}

sinew_status status_of(ServiceError::Kind kind) noexcept {
  switch (kind) {
    case ServiceError::Kind::failed:
      return SINEW_FAILED;
    case ServiceError::Kind::timeout:
      return SINEW_TIMEOUT;
    case ServiceError::Kind::cancelled:
      return SINEW_CANCELLED;
    case ServiceError::Kind::lost:
      return SINEW_LOST;
    case ServiceError::Kind::no_memory:
      return SINEW_NO_MEMORY;
    case ServiceError::Kind::invalid:
      return SINEW_INVALID_MESSAGE;
    case ServiceError::Kind::disconnected:
      break;
  }
  return SINEW_CLOSED;
}

}  // namespace sinew::c

uint32_t sinew_abi_version() {
  return SINEW_ABI_VERSION;
}

const char* sinew_status_name(sinew_status status) {
  const auto index = static_cast<std::size_t>(status);
  return index < sinew::c::names.size() ? sinew::c::names[index] : "unknown";
}

const char* sinew_last_error() {
  if (sinew::c::is_gone) return "it failed as its thread ended, when there is no place any more to say what";
  return sinew::c::last_error.short_text ? sinew::c::last_error.short_text : sinew::c::last_error.text.c_str();
}
