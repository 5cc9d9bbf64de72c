// expects: deleted
#include <sinew/sinew.hpp>
void discard(sinew::Publisher<int>& publisher, sinew::ServiceClient<int, int>& client) {
  publisher.loan().build([](int& number) { number = 1; });  // refused
  client.loan().build([](int& number) { number = 1; });     // refused
}
