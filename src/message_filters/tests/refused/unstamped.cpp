// expects: a message that is to be synchronized has header.stamp.sec
#include <sinew/message_filters.hpp>
struct Text {
  int data = 0;
};
void add(sinew::message_filters::TimeSynchronizer<Text, Text>& sync) {
  sync.add<0>(std::make_shared<const Text>());
}
