// expects: a synchronizer takes as many subscribers as its policy has messages
#include <sinew/message_filters.hpp>
struct Scan {
  struct {
    unsigned long stamp_ns = 0;
  } header;
};
void connect(sinew::message_filters::Synchronizer<sinew::message_filters::sync_policies::ExactTime<Scan, Scan>>& sync,
             sinew::message_filters::Subscriber<Scan>& one) {
  sync.connectInput(one);
}
