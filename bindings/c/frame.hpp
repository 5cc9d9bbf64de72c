// What a sinew_frame is: a detail::RawFrame, which keeps itself where it is the caller's to release.
#pragma once

#include <memory>

#include "api/raw_subscriber.hpp"
#include "bindings/c/sinew.h"

namespace sinew::c {

/// From now on sinew_frame_release() lets go of it.
sinew_frame* given_away(std::shared_ptr<detail::RawFrame> frame) noexcept;
/// As long as somebody else keeps it.
const sinew_frame* shown(const detail::RawFrame& frame) noexcept;

}  // namespace sinew::c
