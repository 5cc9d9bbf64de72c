// Which sanitizers this is compiled with, however the compiler says so. Both bring a malloc of their own.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SINEW_ADDRESS_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SINEW_ADDRESS_SANITIZED 1
#endif
#endif
#if !defined(SINEW_ADDRESS_SANITIZED)
#define SINEW_ADDRESS_SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__)
#define SINEW_THREAD_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SINEW_THREAD_SANITIZED 1
#endif
#endif
#if !defined(SINEW_THREAD_SANITIZED)
#define SINEW_THREAD_SANITIZED 0
#endif

#define SINEW_SANITIZED (SINEW_ADDRESS_SANITIZED || SINEW_THREAD_SANITIZED)
