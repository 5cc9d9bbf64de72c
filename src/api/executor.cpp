#include "sinew/executor.hpp"

#include <new>
#include <utility>

#include "api/executor_access.hpp"
#include "base/cancel.hpp"
#include "session/callbacks/executor.hpp"
#include "session/fork.hpp"
#include "shm/scope.hpp"

namespace sinew {

Executor::Executor(std::shared_ptr<session::Executor> shared) noexcept : shared_(std::move(shared)) {}

Executor::~Executor() {
  if (session::forked())
    new (std::nothrow) std::shared_ptr<session::Executor>(std::move(shared_));  // leaked: the threads do not exist in the child
}

std::shared_ptr<Executor> Executor::create(const ExecutorOptions& options) {
  const shm::HeapScope heap;
  return std::shared_ptr<Executor>(
      new Executor(std::make_shared<session::Executor>(session::Executor::Options{options.threads, options.by_caller})));
}

void Executor::spin() {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  if (!session::forked()) shared_->for_caller()->spin();
}

void Executor::dispatch() {
  detail::ExecutorAccess::dispatch(*this, {});
}

void detail::ExecutorAccess::dispatch(Executor& executor, const std::function<bool()>& is_over, std::optional<std::int64_t> only_of) {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  if (!session::forked()) executor.shared_->for_caller()->dispatch(is_over, only_of);
}

int Executor::fd() {
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  if (session::forked()) throw Error(ErrorKind::invalid_argument, "this process was forked from the one that the executor belongs to");
  return shared_->for_caller()->descriptor();
}

void Executor::stop() noexcept {
  if (!session::forked()) shared_->leave();
}

}  // namespace sinew
