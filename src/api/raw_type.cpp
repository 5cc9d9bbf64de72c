#include "api/raw_type.hpp"

#include <optional>

#include "base/cut.hpp"
#include "base/printable.hpp"
#include "msg/signature.hpp"
#include "sinew/error.hpp"
#include "sinew/msg/fingerprint.hpp"

namespace sinew::detail {

wire::TypeDescription description_of(const std::string& topic, const std::string& signature) {
  const auto refuse = [&](const std::string& why) {
    constexpr std::size_t most = 200;
    return Error(ErrorKind::invalid_argument, "topic '" + topic + "': no message has the type '" +
                                                  base::printable(base::cut(signature, most)) + (signature.size() > most ? "..." : "") +
                                                  "': " + why);
  };
  if (signature.size() > msg::max_signature) throw refuse("it has more than " + std::to_string(msg::max_signature) + " characters");
  const std::optional<msg::SignatureType> type = msg::read_signature(signature);
  if (!type) throw refuse("it is not of the form 'robot/Image{width:uint32;data:uint8[];}'");
  if (const std::string complaint = msg::complaint_about(*type); !complaint.empty()) throw refuse(complaint);
  return {type->name(), signature, msg::hash_of(*type), 0};
}

}  // namespace sinew::detail
