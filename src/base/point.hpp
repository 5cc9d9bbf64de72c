// Labelled points of the protocols, at which a test can make a process vanish or stop.
//
// SINEW_POINT("ring.retired") does nothing in a release build. In a build with tests it counts passes, and when the environment
// variable SINEW_AT is "ring.retired:3:kill" (label, pass, action) the third pass raises SIGKILL; the action "stop" raises SIGSTOP. With "hold" only the
// thread that passes waits there, until another one has let it go on.
#pragma once

#if defined(SINEW_TEST_POINTS)
namespace sinew::base {
void pass_point(const char* label) noexcept;
/// A thread waits at the point of SINEW_AT.
bool is_held() noexcept;
/// It goes on, or will not wait there at all.
void let_go() noexcept;
}  // namespace sinew::base
#define SINEW_POINT(label) ::sinew::base::pass_point(label)
#else
#define SINEW_POINT(label) static_cast<void>(0)
#endif
