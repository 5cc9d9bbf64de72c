// Who runs the callbacks of a node: one at a time.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "sinew/executor.hpp"

namespace sinew::rclcpp {

class Node;

namespace detail {

/// The callbacks of a node. Lives as long as it, or who has claimed it.
class Spun {
 public:
  Spun(std::string node, std::shared_ptr<Executor> callbacks) : node_(std::move(node)), callbacks_(std::move(callbacks)) {}

  /// The node is not to be looked at any more.
  void node_goes() {
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
  }

 private:
  friend class Claim;
  const std::string node_;
  const std::shared_ptr<Executor> callbacks_;
  std::mutex mutex_;
  bool is_claimed_ = false;  // guarded by mutex_
  bool is_gone_ = false;     // likewise
  int fd_ = -1;              // of who has claimed it; once made it stays, as it is not to be had inside of a callback
};

/// As long as it lives, nobody else spins that node. Not thread-safe.
class Claim {
 public:
  /// Throws Error(invalid_argument) when somebody spins it already.
  explicit Claim(std::shared_ptr<Spun> spun);
  ~Claim();
  Claim(Claim&&) noexcept = default;
  Claim& operator=(Claim&& other) noexcept {
    std::swap(spun_, other.spun_);
    return *this;
  }

  Executor& callbacks() const noexcept { return *spun_->callbacks_; }
  /// The same, kept alive.
  const std::shared_ptr<Executor>& shared_callbacks() const noexcept { return spun_->callbacks_; }
  bool is_of(const std::shared_ptr<Spun>& spun) const noexcept { return spun_ == spun; }
  /// Who owns the node, which is `node`, now; nothing: it is gone.
  std::optional<std::weak_ptr<Node>> owner_of(Node& node) const;
  /// Readable when there is something to run. As long as `callbacks` lives. Throws Error(exhausted).
  int fd() const;

 private:
  std::shared_ptr<Spun> spun_;  // null: it was moved
};

/// Of a node; for executors.
const std::shared_ptr<Spun>& spun(const Node& node) noexcept;

}  // namespace detail
}  // namespace sinew::rclcpp
