#include "base/cancel.hpp"

#include <pthread.h>

namespace sinew::base {

Uncancellable::Uncancellable() noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
}

Uncancellable::~Uncancellable() {
  ::pthread_setcancelstate(before_, nullptr);
}

}  // namespace sinew::base
