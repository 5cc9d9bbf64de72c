// Labelled points of the protocols, at which a test can make a process vanish or stop.
//
// SINEW_POINT("ring.retired") does nothing in a release build. In a build with tests it counts passes, and when the environment
// variable SINEW_AT is "ring.retired:3:kill" (label, pass, action) the third pass raises SIGKILL; the action "stop" raises SIGSTOP.
#pragma once

#if defined(SINEW_TEST_POINTS)
namespace sinew::base {
void pass_point(const char* label) noexcept;
}
#define SINEW_POINT(label) ::sinew::base::pass_point(label)
#else
#define SINEW_POINT(label) static_cast<void>(0)
#endif
