#include "os/thread.hpp"

#include <pthread.h>

namespace sinew::os {

Uncancellable::Uncancellable() noexcept {
  ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_);
}

Uncancellable::~Uncancellable() {
  ::pthread_setcancelstate(before_, nullptr);
}

}  // namespace sinew::os
