// Keeping idle processor cores from deep sleep.
#pragma once

namespace sinew::bench {

/// Asks the kernel, while it lives, for a wake-up latency of 0 (/dev/cpu_dma_latency, which needs root). An idle core of a virtual machine takes up to a
/// millisecond to wake, which would drown what is measured.
class Awake {
 public:
  Awake();
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;
  ~Awake();

  /// Whether the kernel granted it.
  bool granted() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace sinew::bench
