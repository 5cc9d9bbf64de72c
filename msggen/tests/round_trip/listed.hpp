// The messages that a round trip can be asked for: each generated source has a Listed of its package's.
#pragma once

#include <map>
#include <string>

#include "sinew/msg/reflect.hpp"

namespace sinew::round_trip {

/// By name, "std_srvs/srv/SetBool_Request".
inline std::map<std::string, const msg::Message*>& messages() {
  static std::map<std::string, const msg::Message*> all;
  return all;
}

template <class... T>
struct Listed {
  Listed() { (messages().emplace(msg::message_of<T>().name, &msg::message_of<T>()), ...); }
};

}  // namespace sinew::round_trip
