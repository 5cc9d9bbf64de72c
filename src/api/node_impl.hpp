// What a Node is made of.
#pragma once

#include <memory>
#include <string>

#include "session/node/node_session.hpp"
#include "sinew/executor.hpp"
#include "sinew/node.hpp"

namespace sinew {

struct Node::Impl {
  std::shared_ptr<Executor> executor;
  std::shared_ptr<session::NodeSession> session;
};

namespace detail {

/// For what stands beside the node's own functions.
struct NodeAccess {
  static const std::shared_ptr<session::NodeSession>& session(const Node& node) noexcept { return node.impl_->session; }
};

/// Throws Error in a child of fork(): the locks of the parent's node may be held by threads that do not exist there.
void refuse_in_child(const std::string& node);

}  // namespace detail
}  // namespace sinew
