// The topics on which sinew-bench and sinew-bench-idle exchange one message.
#pragma once

namespace sinew::bench {

inline constexpr const char* idle_in = "idle/in";
inline constexpr const char* idle_out = "idle/out";

}  // namespace sinew::bench
