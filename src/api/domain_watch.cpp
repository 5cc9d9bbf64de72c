#include "sinew/domain_watch.hpp"

#include <new>
#include <utility>

#include "base/cancel.hpp"
#include "session/fork.hpp"
#include "session/node/domain_watch.hpp"
#include "session/node/node_session.hpp"
#include "shm/scope.hpp"

namespace sinew {

DomainWatch::DomainWatch(std::shared_ptr<session::NodeSession> session, std::shared_ptr<session::DomainWatch> watch) noexcept
    : session_(std::move(session)), watch_(std::move(watch)) {}

DomainWatch::~DomainWatch() {
  if (session::forked()) {
    // Leaked: their threads do not exist in the child.
    new (std::nothrow) std::shared_ptr<session::NodeSession>(std::move(session_));
    new (std::nothrow) std::shared_ptr<session::DomainWatch>(std::move(watch_));
    return;
  }
  const base::Uncancellable whole;
  const shm::HeapScope heap;
  session_->remove(watch_);
}

}  // namespace sinew
