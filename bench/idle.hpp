// What a node costs that has nothing to do.
#pragma once

#include "cell.hpp"

namespace sinew::bench {

/// Starts sinew-bench-idle, a program with one node, publisher and subscriber, both connected and used once, and watches it from outside for `count` seconds.
/// Fills Samples::extra: idle_cpu_us and idle_cpu_ticks (processor time used), idle_switches (times that a thread of it ran), private_kib
/// (Private_Clean and Private_Dirty at the end). The program is another than this one, so that its own pages are not shared with it.
Samples measure_idle(const Cell& cell, const std::string& domain);

}  // namespace sinew::bench
