#include "session/trust.hpp"

#include "os/process.hpp"
#include "session/channel.hpp"

namespace sinew::session {

void require_user(const std::optional<os::Credentials>& credentials, bool same) {
  constexpr uid_t overflow_uid = 65534;
  if (!credentials) throw Violation("the first message of the pair carries no credentials");
  const bool is_same = credentials->uid == os::this_user() && credentials->uid != overflow_uid;
  if (is_same != same) {
    throw Violation("the peer is uid " + std::to_string(credentials->uid) + ", this process uid " + std::to_string(os::this_user()) +
                    ", and the manager said that they are " + (same ? "the same" : "different"));
  }
}

}  // namespace sinew::session
