// expects: messages of 2 to 9 topics are synchronized
#include <sinew/message_filters.hpp>
sinew::message_filters::sync_policies::ApproximateTime<int> policy(10);
