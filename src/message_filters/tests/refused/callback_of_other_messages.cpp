// expects: the callback of a synchronizer takes std::shared_ptr<const M> of each of its messages
#include <sinew/message_filters.hpp>
struct Scan {
  struct {
    unsigned long stamp_ns = 0;
  } header;
};
void listen(sinew::message_filters::TimeSynchronizer<Scan, Scan>& sync) {
  sync.registerCallback([](const std::shared_ptr<const Scan>&) {});
}
