// How what C++ throws is told in C.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "bindings/c/sinew.h"
#include "sinew/error.hpp"
#include "sinew/publish_result.hpp"
#include "sinew/service_error.hpp"

namespace sinew::c {

/// Keeps the text for sinew_last_error() of this thread. Returns `status`.
sinew_status fail(sinew_status status, const char* text) noexcept;
sinew_status fail(const Error& error) noexcept;
sinew_status status_of(PublishResult result) noexcept;
sinew_status status_of(ServiceError::Kind kind) noexcept;

/// Calls what may throw.
template <class Call>
sinew_status guarded(Call call) noexcept {
  try {
    return call();
  } catch (const Error& error) {
    return fail(error);
  } catch (const ServiceError& error) {
    return fail(status_of(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    return fail(SINEW_EXHAUSTED, "there is no memory for it");
  } catch (const std::exception& error) {
    return fail(SINEW_SYSTEM, error.what());
  }
}

/// Throws Error(invalid_argument) for a null pointer, which names the argument.
template <class T>
T& given(T* argument, const char* name) {
  if (argument == nullptr) throw Error(ErrorKind::invalid_argument, std::string("the argument '") + name + "' is NULL");
  return *argument;
}

}  // namespace sinew::c
