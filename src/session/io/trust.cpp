#include "session/io/trust.hpp"

#include "os/process.hpp"
#include "session/io/channel.hpp"
#include "wire/users.hpp"

namespace sinew::session {

bool is_own_user(uid_t user) noexcept {
  return wire::is_same_user(user, os::this_user());
}

void require_user(const std::optional<os::Credentials>& credentials, bool same) {
  if (!credentials) throw Violation("the first message of the pair carries no credentials");
  if (is_own_user(credentials->uid) != same) {
    throw Violation("the peer is uid " + std::to_string(credentials->uid) + ", this process uid " + std::to_string(os::this_user()) +
                    ", and the manager said that they are " + (same ? "the same" : "different"));
  }
}

}  // namespace sinew::session
