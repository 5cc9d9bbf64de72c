// A type of which there is no more than its signature: messages are CDR streams (spec/cdr.md).
#pragma once

#include <string>

#include "wire/messages.hpp"

namespace sinew::detail {

/// As the manager knows a type with this signature ("robot/Image{width:uint32;...}", spec/types.md), without a layout: nobody reads its messages in place as objects.
/// Throws Error(invalid_argument), which says what is wrong with it.
wire::TypeDescription description_of(const std::string& topic, const std::string& signature);

}  // namespace sinew::detail
