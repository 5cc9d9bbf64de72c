// What calls users back for a node.
#pragma once

#include <memory>
#include <vector>

namespace sinew::session {

class PeriodicTimer;
class Runnable;

/// Also what was destroyed by its own last callback, which may still be running: who destroys the node waits for that one, too.
class Callbacks {
 public:
  // Throw std::bad_alloc.
  void add(const std::shared_ptr<PeriodicTimer>& timer);
  void add(const std::shared_ptr<Runnable>& runnable);
  /// Closes all. No callback runs any more when this returns, except the one that this is called from.
  void close();

 private:
  std::vector<std::weak_ptr<PeriodicTimer>> timers_;
  std::vector<std::weak_ptr<Runnable>> runnables_;
};

}  // namespace sinew::session
