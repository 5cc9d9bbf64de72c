// Runs the processes of one cell.
#pragma once

#include "cell.hpp"
#include "transport.hpp"

namespace sinew::bench {

/// Forks a process for each publisher and each subscriber, lets them go when all are connected, and gathers what they took down.
/// Throws std::runtime_error when one of them fails, dies, or reads a damaged payload, and when nothing happens for too long; no process is left behind.
Samples run_processes(const Cell& cell, Transport& transport);

}  // namespace sinew::bench
