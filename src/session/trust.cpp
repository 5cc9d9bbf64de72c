#include "session/trust.hpp"

#include "os/process.hpp"
#include "session/channel.hpp"

namespace sinew::session {

void require_same_user(const std::optional<os::Credentials>& credentials) {
  constexpr uid_t overflow_uid = 65534;
  if (!credentials) throw Violation("the first message of the pair carries no credentials");
  if (credentials->uid != os::this_user() || credentials->uid == overflow_uid) {
    throw Violation("the peer is uid " + std::to_string(credentials->uid) + ", this process uid " + std::to_string(os::this_user()) +
                    ": memory is shared only between processes of one user");
  }
}

}  // namespace sinew::session
