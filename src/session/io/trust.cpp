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

std::string too_many_strangers(const std::string& peer, const char* goes_on, const std::string& topic) {
  return "node '" + peer + "' of another user is not " + goes_on + " on topic '" + topic + "': " + std::to_string(most_strangers) +
         " connections with other users are the most, and it is met again when one of them ends";
}

}  // namespace sinew::session
