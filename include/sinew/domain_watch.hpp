// Being told of what there is in a domain, and of what changes.
#pragma once

#include <memory>

#include "sinew/domain.hpp"
#include "sinew/error.hpp"
#include "sinew/executor.hpp"

namespace sinew {

class Node;
namespace session {
class DomainWatch;
class NodeSession;
}  // namespace session

struct DomainWatchOptions {
  /// Which execution thread calls back, see Executor.
  ThreadId execution_thread = 0;
};

/// Made by Node::watch_domain. When the manager dies it waits for the next one, and begins anew (DomainUpdate::anew); then nodes come back within moments. Destroying it waits for a running callback, unless called from it; then it runs no more.
class SINEW_API DomainWatch {
 public:
  ~DomainWatch();
  DomainWatch(const DomainWatch&) = delete;
  DomainWatch& operator=(const DomainWatch&) = delete;

 private:
  friend class Node;
  DomainWatch(std::shared_ptr<session::NodeSession> session, std::shared_ptr<session::DomainWatch> watch) noexcept;
  std::shared_ptr<session::NodeSession> session_;
  std::shared_ptr<session::DomainWatch> watch_;
};

}  // namespace sinew
